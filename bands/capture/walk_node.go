package capture

import (
	"sync"
	"sync/atomic"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// node is a directory in a walk.
type node struct {
	parent *node // nil for the root
	name   string
	st     dirfd.Stat    // as its parent read it
	old    StatDirectory // in the cache
	stray  bool          // old, or that of a directory above, is from another path
	dir    *dirfd.Dir    // open while it or a subdirectory needs it
	// users counts the users of dir: the visit, and each subdirectory that isn't open yet. pending
	// counts what has to end before the directory is finished: the visit, and each subdirectory.
	users, pending atomic.Int32

	mu        sync.Mutex
	differing []*node  // subdirectories that aren't as in the cache; guarded by mu
	found     *listing // its contents; nil while it is as in the cache

	out outcome // set when it is finished
}

// outcome is the result of a directory.
type outcome struct {
	state  nodeState
	reason band.UnknownReason // if it is unknown
	record band.StoredDirectory
	stat   *statNode // nil if the cache's block is kept
}

type nodeState int

const (
	asBefore   nodeState = iota // record and stat data are as in the cache
	storedAnew                  // it has a new record and block
	gone                        // it was removed while the tree was read
	unknown                     // it can't be read
)

// item is one name in a listing that is not as in the cache.
type item struct {
	line  StatLine   // for the cache
	bytes int64      // to read
	again bool       // it is read only because it may have changed unseen
	entry band.Entry // Kind 0: the name is no entry of the tree
	bands []uint32   // of a list of parts
	kid   *node      // for a directory to visit
}

// path is the directory's path from the root.
func (n *node) path() string {
	if n.parent == nil {
		return ""
	}
	return band.JoinPath(n.parent.path(), n.name)
}

// closeOne removes one user of the directory, and closes it after the last one.
func (n *node) closeOne() {
	if n != nil && n.users.Add(-1) == 0 && n.dir != nil {
		_ = n.dir.Close() // nothing was written through it
		n.dir = nil
	}
}

// abandon releases the open directories of a node that won't be visited.
func (n *node) abandon() {
	if n.dir != nil {
		n.closeOne()
	} else {
		n.parent.closeOne()
	}
}

// adopt makes a node for a subdirectory.
func (n *node) adopt(name string, old StatDirectory, st *dirfd.Stat) *node {
	kid := &node{parent: n, name: name, st: *st, old: old, stray: n.stray}
	kid.users.Store(1)
	kid.pending.Store(1)
	return kid
}

// settled returns the record of a finished directory.
func (n *node) settled() band.StoredDirectory {
	if n.out.state == asBefore {
		return n.old.Record()
	}
	return n.out.record
}
