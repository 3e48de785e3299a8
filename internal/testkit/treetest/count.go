package treetest

import (
	"errors"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// CountTree counts the entries below the directory root, and calls stat for each: the minimum cost
// of finding changes in a tree. It counts directories of other file systems but not their contents,
// and skips entries that are removed meanwhile or can't be read.
func CountTree(root string, workers int) (entries int64, err error) {
	top, err := dirfd.OpenRoot(root)
	if err != nil {
		return 0, err
	}
	var st dirfd.Stat
	if err := top.Self(&st); err != nil {
		return 0, errors.Join(err, top.Close())
	}
	c := &counter{dev: st.Dev, open: 1}
	c.ready.L = &c.mu
	c.stack = append(c.stack, countDir{dir: top})
	var group sync.WaitGroup
	for range max(workers, 1) {
		group.Go(c.work)
	}
	group.Wait()
	return c.entries.Load(), c.err
}

// counter is a stack of directories that several workers process.
type counter struct {
	dev     uint64
	entries atomic.Int64

	mu    sync.Mutex
	ready sync.Cond
	stack []countDir
	open  int // directories on the stack or in progress
	err   error
}

// countDir is a directory to count: a name in parent, or an open directory. The parent is closed
// when its last subdirectory has been opened, so that the number of open directories is bounded by
// depth and workers.
type countDir struct {
	parent *countParent
	name   string
	dir    *dirfd.Dir
}

type countParent struct {
	*dirfd.Dir

	users atomic.Int32
}

func (p *countParent) done() {
	if p != nil && p.users.Add(-1) == 0 {
		_ = p.Close()
	}
}

func (c *counter) work() {
	buf := make([]byte, 32<<10)
	for {
		next, ok := c.pop()
		if !ok {
			return
		}
		below, err := c.count(next, buf)
		c.push(below, err)
	}
}

func (c *counter) pop() (countDir, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.stack) == 0 && c.open > 0 {
		c.ready.Wait()
	}
	if len(c.stack) == 0 {
		return countDir{}, false
	}
	next := c.stack[len(c.stack)-1]
	c.stack = c.stack[:len(c.stack)-1]
	return next, true
}

// push completes one directory and adds its subdirectories.
func (c *counter) push(below []countDir, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stack = append(c.stack, below...)
	c.open += len(below) - 1
	if c.err == nil {
		c.err = err
	}
	if len(below) > 0 || c.open == 0 {
		c.ready.Broadcast()
	}
}

// count counts the entries of one directory, and returns its subdirectories.
func (c *counter) count(at countDir, buf []byte) ([]countDir, error) {
	dir := at.dir
	if dir == nil {
		var err error
		dir, err = at.parent.Open(at.name)
		at.parent.done()
		if err != nil {
			return nil, unless(err)
		}
	}
	parent := &countParent{Dir: dir}
	parent.users.Add(1)
	defer parent.done()
	var below []countDir
	var st dirfd.Stat
	var n int64
	err := dir.Names(buf, func(name []byte, _ byte) error {
		if err := dir.Stat(string(name), &st); err != nil {
			return unless(err)
		}
		n++
		if st.IsDir() && st.Dev == c.dev && !st.Mounted {
			below = append(below, countDir{parent: parent, name: string(name)})
		}
		return nil
	})
	c.entries.Add(n)
	parent.users.Add(int32(len(below)))
	return below, unless(err)
}

// unless returns nil for errors of removed or unreadable entries.
func unless(err error) error {
	for _, harmless := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ENOTDIR, syscall.ELOOP} {
		if errors.Is(err, harmless) {
			return nil
		}
	}
	return err
}
