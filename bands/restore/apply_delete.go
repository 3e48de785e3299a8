package restore

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// enterDeletion removes the files of a directory that the plan deletes.
func (a *applier) enterDeletion(n *dirNode, _ *bands.CopyBuffer) {
	a.open(n)
	deletes := 0
	for _, s := range n.Steps {
		if n.Err != nil {
			a.Fail(s.Path, n.Err)
			continue
		}
		name := band.BasePath(s.Path)
		var err error
		if s.Unit != 0 && n.Units[s.Unit-1].Main == s.Path {
			err = unlinkIfThere(n.fd, name+"-shm")
		}
		if err == nil {
			err = a.remove(n.fd, name, s.Was)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			a.Fail(s.Path, err)
		}
		if s.Kind == StepDelete {
			deletes++
		}
	}
	a.advance(deletes)
}

// unlinkIfThere removes the name from a directory; a missing file is not an error.
func unlinkIfThere(dir *dirfd.Dir, name string) error {
	var st dirfd.Stat
	if err := dir.Stat(name, &st); errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENAMETOOLONG) {
		return nil
	}
	if err := dir.Unlink(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// leaveDeletion removes the directory itself if the plan deletes it.
func (a *applier) leaveDeletion(n *dirNode, _ *bands.CopyBuffer) {
	if n.fd != nil && n.remove == 0 && n.opened&ownerMay != ownerMay && n.Err == nil {
		_ = n.fd.Chmod(n.opened) // the next walk opens it again
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
	if n.remove == StepDelete {
		a.advance(1)
	}
}
