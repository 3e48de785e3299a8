package apply

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/seed-3aff656d/entire/bands/contents"
	"github.com/seed-3aff656d/entire/bands/plan"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// enterDeletion removes the files of a directory that go.
func (a *Applier) enterDeletion(n *Spot, _ *contents.Scratch) {
	a.open(n)
	for _, s := range n.Steps {
		if n.Err != nil {
			a.Fail(s.Path, n.Err)
			continue
		}
		if err := a.unlink(n, s); err != nil {
			a.Fail(s.Path, err)
		}
	}
	if n.Err == nil {
		a.advance(countDeletes(n.Steps))
	}
}

func countDeletes(steps []*plan.Action) int {
	count := 0
	for _, s := range steps {
		if s.Kind == plan.StepDelete {
			count++
		}
	}
	return count
}

func (a *Applier) unlink(n *Spot, s *plan.Action) error {
	name := tree.BasePath(s.Path)
	if s.Unit != 0 && n.Units[s.Unit-1].Main == s.Path {
		if err := UnlinkIfThere(n.fd, name+"-shm"); err != nil {
			return err
		}
	}
	if err := a.remove(n.fd, name, s.Was); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func UnlinkIfThere(dir *dirfd.Dir, name string) error {
	var st dirfd.Stat
	if err := dir.Stat(name, &st); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENAMETOOLONG) {
		return nil
	}
	if err := dir.Unlink(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// unchanged fails if name isn't what was captured: only that may be replaced.
func (a *Applier) unchanged(dir *dirfd.Dir, name string, was *tree.Entry) (st dirfd.Stat, err error) {
	if err := dir.Stat(name, &st); err != nil {
		return st, err
	}
	same := st.Mtime == unixNano(was.Attr.Mtime)
	switch was.Kind {
	case tree.File:
		same = same && st.IsRegular() && st.Size == was.Size
	case tree.Symlink:
		same = same && st.IsSymlink()
	default:
		same = false
	}
	// Who changes a file can give it its former time, but not its former ctime.
	if same && was.Kind == tree.File && st.Ctime >= a.Captured {
		same = a.holds(dir, name, was)
	}
	if !same {
		return st, plan.ErrChanged
	}
	return st, nil
}

// holds reports whether the file has the content that the rescue has of it.
func (a *Applier) holds(dir *dirfd.Dir, name string, was *tree.Entry) bool {
	f, err := dir.OpenFile(name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return a.was.CopyTo(&sameContent{f: f}, was) == nil
}

// sameContent is a writer that fails unless a file has what is written to it.
type sameContent struct {
	f   *os.File
	buf []byte
}

// Write compares.
func (c *sameContent) Write(data []byte) (int, error) {
	if cap(c.buf) < len(data) {
		c.buf = make([]byte, len(data))
	}
	if _, err := io.ReadFull(c.f, c.buf[:len(data)]); err != nil {
		return 0, err
	}
	if !bytes.Equal(c.buf[:len(data)], data) {
		return 0, plan.ErrChanged
	}
	return len(data), nil
}

// leaveDeletion removes the directory itself, if it goes.
func (a *Applier) leaveDeletion(n *Spot, _ *contents.Scratch) {
	if n.fd != nil && n.remove == 0 && n.opened&ownerMay != ownerMay && n.Err == nil {
		_ = n.chmod(a.root, n.opened) // what comes next opens it again
	}
	if n.fd != nil && n.remove == 0 {
		a.Flush.addDir(n.fd)
	}
	n.close()
	if n.remove == 0 {
		return
	}
	if n.Err == nil {
		n.Err = n.Parent.fd.Rmdir(n.Name)
	}
	if n.Err != nil && !errors.Is(n.Err, fs.ErrNotExist) {
		a.Fail(n.Path, n.Err)
		return
	}
	if n.remove == plan.StepDelete {
		a.advance(1)
	}
}
