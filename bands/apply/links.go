package apply

import (
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/bands/contents"
	"github.com/seed-3aff656d/entire/bands/plan"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/swap"
)

// EnterLink creates the hard links of a directory.
func (a *Applier) EnterLink(n *DirNode, buf *contents.Scratch) {
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
			err = UnlinkIfThere(n.fd, tree.BasePath(s.Path)+"-shm")
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
func (a *Applier) LeaveLink(n *DirNode, buf *contents.Scratch) {
	n.Late = false
	a.LeaveChange(n, buf)
}

func (a *Applier) link(n *DirNode, s *plan.Action, buf *contents.Scratch) (err error) {
	if a.hasFailed(s.Link) {
		return fmt.Errorf("%s, another name of the same file, could not be restored", s.Link)
	}
	from, err := contents.OpenBelow(a.root, tree.ParentPath(s.Link))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	var st dirfd.Stat
	if err := from.Stat(tree.BasePath(s.Link), &st); err != nil {
		return err
	}
	if !st.IsRegular() || st.Size != s.Entry.Size {
		return swap.ErrChanged
	}
	name := tree.BasePath(s.Path)
	if s.Was == nil || s.Kind == plan.StepReplace && s.Was.Kind != s.Entry.Kind && tree.IsDir(s.Was) {
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
	return UnlinkIfThere(n.fd, temp)
}
