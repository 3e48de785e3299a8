package restore

import (
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// EnterLink creates the hard links of a directory.
func (a *applier) EnterLink(n *dirNode, buf *bands.CopyBuffer) {
	a.open(n)
	for _, s := range n.Steps {
		if a.stopped() {
			return
		}
		err := n.Err
		if err == nil {
			err = a.link(n, s, buf)
		}
		if err == nil && s.Unit != 0 && n.Units[s.Unit-1].Main == s.Path {
			err = unlinkIfThere(n.fd, band.BasePath(s.Path)+"-shm")
		}
		if err != nil {
			a.Fail(s.Path, err)
			continue
		}
		a.wrote(s.Entry.Size)
	}
	a.advance(len(n.Steps))
}

// LeaveLink sets the directory's attributes, which LeaveChange did not set.
func (a *applier) LeaveLink(n *dirNode, buf *bands.CopyBuffer) {
	n.Late = false
	a.LeaveChange(n, buf)
}

func (a *applier) link(n *dirNode, s *action, buf *bands.CopyBuffer) (err error) {
	if a.hasFailed(s.Link) {
		return fmt.Errorf("%s, a hard link to the same file, could not be restored", s.Link)
	}
	from, err := bands.OpenBelow(a.root, band.ParentPath(s.Link))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	var st dirfd.Stat
	if err := from.Stat(band.BasePath(s.Link), &st); err != nil {
		return err
	}
	if !st.IsRegular() || st.Size != s.Entry.Size {
		return dirfd.ErrChanged
	}
	name := band.BasePath(s.Path)
	if s.Was == nil || s.Kind == StepReplace && s.Was.Kind != s.Entry.Kind && band.IsDir(s.Was) {
		return a.linkOrCopy(from, place{Dir: n.fd}, name, s, buf)
	}
	temp, err := a.tempIn(n.fd)
	if err != nil {
		return err
	}
	if err := a.linkOrCopy(from, place{Dir: n.fd}, temp, s, buf); err != nil {
		return err
	}
	if err := a.replaceBy(n.fd, temp, name, s.Was); err != nil {
		return err
	}
	// Renaming one name of a file to another of its names does nothing.
	return unlinkIfThere(n.fd, temp)
}
