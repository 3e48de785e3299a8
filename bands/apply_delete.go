package bands

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// enterDeletion removes the files of a directory that go.
func (a *applier) enterDeletion(n *spot, _ *scratch) {
	a.open(n)
	for _, s := range n.steps {
		if n.err != nil {
			a.fail(s.Path, n.err)
			continue
		}
		if err := a.unlink(n, s); err != nil {
			a.fail(s.Path, err)
		}
	}
	if n.err == nil {
		a.advance(countDeletes(n.steps))
	}
}

func countDeletes(steps []*Step) int {
	count := 0
	for _, s := range steps {
		if s.Kind == StepDelete {
			count++
		}
	}
	return count
}

func (a *applier) unlink(n *spot, s *Step) error {
	name := baseOf(s.Path)
	if s.unit != 0 && n.units[s.unit-1].main == s.Path {
		if err := unlinkIfThere(n.fd, name+"-shm"); err != nil {
			return err
		}
	}
	if err := unchanged(n.fd, name, s.Was); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	return n.fd.Unlink(name)
}

func unlinkIfThere(dir *disk.DirFD, name string) error {
	var st disk.Stat
	if err := dir.Stat(name, &st); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENAMETOOLONG) {
		return nil
	}
	if err := dir.Unlink(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// unchanged says whether name is what was captured: only that may be replaced.
func unchanged(dir *disk.DirFD, name string, was *tree.Entry) error {
	var st disk.Stat
	if err := dir.Stat(name, &st); err != nil {
		return err
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
	if !same {
		return errChanged
	}
	return nil
}

// leaveDeletion removes the directory itself, if it goes.
func (a *applier) leaveDeletion(n *spot, _ *scratch) {
	if n.fd != nil && n.remove == nil && n.opened&ownerMay != ownerMay && n.err == nil {
		_ = n.chmod(a.root, n.opened) // what comes next opens it again
	}
	n.close()
	if n.remove == nil {
		return
	}
	if n.err == nil {
		n.err = n.parent.fd.Rmdir(n.name)
	}
	if n.err != nil && !errors.Is(n.err, fs.ErrNotExist) {
		a.fail(n.remove.Path, n.err)
		return
	}
	if n.remove.Kind == StepDelete {
		a.advance(1)
	}
}
