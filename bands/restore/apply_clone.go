package restore

import (
	"errors"
	"os"
	"sync/atomic"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// cloneTree is a tree from which files are cloned instead of written from the store, if the
// file system shares blocks.
type cloneTree struct {
	root   string
	before int64 // the file system's time before the tree was read
	off    atomic.Bool
}

// newCloneTree returns the source at root. before is a time of its file system, in nanoseconds,
// before the tree was read.
func newCloneTree(root string, before int64) *cloneTree {
	return &cloneTree{root: root, before: before}
}

// clone makes the new file f a clone of the source's file with the name, and reports whether f
// has the entry's content. A file of the source that may have changed since the tree was read is
// not cloned.
func (c *cloneTree) clone(f *os.File, from *dirfd.Dir, name string, same *band.Entry) bool {
	src, err := from.OpenFile(name)
	if err != nil {
		return false
	}
	defer func() { _ = src.Close() }()
	var before, after dirfd.Stat
	if err := dirfd.StatFile(src, &before); err != nil || !c.holds(&before, same) {
		return false
	}
	if err := disk.Clone(f, src); err != nil {
		if errors.Is(err, errors.ErrUnsupported) {
			c.off.Store(true)
		}
		return false
	}
	if dirfd.StatFile(src, &after) == nil && after.Ctime == before.Ctime && c.holds(&after, same) {
		return true
	}
	_ = f.Truncate(0) // the caller writes the content from the store
	return false
}

// holds reports whether a file of the source is unchanged since the tree was read.
func (c *cloneTree) holds(st *dirfd.Stat, same *band.Entry) bool {
	return st.IsRegular() && st.Size == same.Size && st.ModTime().Equal(same.Attr.Mtime) && st.Ctime < c.before
}
