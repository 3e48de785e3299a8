package capture

import (
	"sync"
	"sync/atomic"

	"github.com/seed-3aff656d/entire/bands/statcache"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// node is a directory in a walk.
type node struct {
	parent *node // nil for the root
	name   string
	st     dirfd.Stat          // as the parent saw it
	old    statcache.Directory // in the cache
	stray  bool                // old was at another path, or that of a directory above
	dir    *dirfd.Dir          // while it or a subdirectory still needs it
	// users are those who need dir: the visit, and each subdirectory that isn't
	// open yet. pending is what the end waits for: the visit, and each
	// subdirectory that isn't finished.
	users, pending atomic.Int32

	mu        sync.Mutex
	differing []*node  // subdirectories that aren't as in the cache; guarded by mu
	found     *listing // what is in it; nil while it is as in the cache

	out outcome // once it is finished
}

// outcome is what became of a directory.
type outcome struct {
	state  nodeState
	reason tree.Reason // of one that is unknown
	record tree.Stored
	stat   *statcache.Node // nil if the cache's block stays
}

type nodeState int

const (
	asBefore   nodeState = iota // record and stat data are the cache's
	storedAnew                  // there are a record and a block
	gone                        // it went while the tree was read
	unknown                     // it can't be read
)

// item is one name in a listing that is not as the cache has it.
type item struct {
	line  statcache.Line // for the cache
	bytes int64          // what reading it takes
	again bool           // it is read only because it may have changed unseen
	entry tree.Entry     // Kind 0: the name is no entry of the tree
	bands []uint32       // those that a list of parts names
	kid   *node          // of a directory that is entered
}

// path is the directory's path from the root.
func (n *node) path() string {
	if n.parent == nil {
		return ""
	}
	return tree.JoinPath(n.parent.path(), n.name)
}

// closeOne reports that one user less needs the directory.
func (n *node) closeOne() {
	if n != nil && n.users.Add(-1) == 0 && n.dir != nil {
		_ = n.dir.Close() // nothing was written through it
		n.dir = nil
	}
}

// abandon gives back what a directory that nobody will visit holds open.
func (n *node) abandon() {
	if n.dir != nil {
		n.closeOne()
	} else {
		n.parent.closeOne()
	}
}

// adopt makes a node for a subdirectory.
func (n *node) adopt(name string, old statcache.Directory, st *dirfd.Stat) *node {
	kid := &node{parent: n, name: name, st: *st, old: old, stray: n.stray}
	kid.users.Store(1)
	kid.pending.Store(1)
	return kid
}

// settled is the record of a finished directory.
func (n *node) settled() tree.Stored {
	if n.out.state == asBefore {
		return n.old.Record()
	}
	return n.out.record
}
