package bands

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// enterLink gives files of a directory one more name.
func (a *applier) enterLink(n *spot, buf *scratch) {
	a.open(n)
	for _, s := range n.steps {
		if a.stopped() {
			return
		}
		err := n.err
		if err == nil {
			err = a.link(n, s, buf)
		}
		if err == nil && s.unit != 0 && n.units[s.unit-1].main == s.Path {
			err = unlinkIfThere(n.fd, baseOf(s.Path)+"-shm")
		}
		if err != nil {
			a.fail(s.Path, err)
		}
	}
	a.advance(len(n.steps))
}

// leaveLink gives the directory its attributes, as leaveChange has not.
func (a *applier) leaveLink(n *spot, buf *scratch) {
	n.late = false
	a.leaveChange(n, buf)
}

func (a *applier) hasFailed(path string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.failedPaths[path]
}

func (a *applier) link(n *spot, s *action, buf *scratch) (err error) {
	if a.hasFailed(s.link) {
		return fmt.Errorf("%s, of which it is one more name, could not be restored", s.link)
	}
	from, err := openBelow(a.root, parentOf(s.link))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	var st dirfd.Stat
	if err := from.Stat(baseOf(s.link), &st); err != nil {
		return err
	}
	if !st.IsRegular() || st.Size != s.Entry.Size {
		return errChanged
	}
	name := baseOf(s.Path)
	if s.Was == nil || s.Kind == StepReplace && s.Was.Kind != s.Entry.Kind && isDir(s.Was) {
		return a.linkOrCopy(from, n.fd, name, s, buf)
	}
	temp, err := a.tempIn(n.fd)
	if err != nil {
		return err
	}
	if err := a.linkOrCopy(from, n.fd, temp, s, buf); err != nil {
		return err
	}
	if err := a.replaceBy(n.fd, temp, name, s.Was); err != nil {
		return err
	}
	// Renaming one name of a file to another of its names does nothing.
	return unlinkIfThere(n.fd, temp)
}

// linkOrCopy makes name one more name of the step's file, or a copy of it where
// the file system has no more.
func (a *applier) linkOrCopy(from, to *dirfd.Dir, name string, s *action, buf *scratch) error {
	err := from.Link(baseOf(s.link), to, name)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EMLINK) || errors.Is(err, fs.ErrPermission) {
		return a.write(to, name, s.Path, s.Entry, buf)
	}
	return err
}
