package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// ownerMay are the permissions that an owner needs to change the entries of a directory.
const ownerMay = 0o700

// open opens the node's directory, which must exist.
func (a *applier) open(n *dirNode) {
	if n.Err != nil {
		return
	}
	if n.Parent == nil {
		n.fd, n.Err = dirfd.OpenRoot(a.root)
	} else if n.Err = n.Parent.Err; n.Err == nil {
		n.fd, n.Err = n.Parent.fd.Open(n.Name)
	}
	if n.Err != nil && errors.Is(n.Err, fs.ErrPermission) && n.Parent != nil && n.Parent.fd != nil {
		n.Err = a.admit(n)
	}
	if n.Err != nil {
		return
	}
	var st dirfd.Stat
	if n.Err = n.fd.Self(&st); n.Err == nil {
		n.opened = st.Mode & dirfd.ModePerm
	}
	if n.Err == nil && n.opened&ownerMay != ownerMay && os.Geteuid() == int(st.UID) && st.UID != 0 {
		n.Err = n.chmod(a.root, n.opened|ownerMay)
	}
}

// admit opens a directory whose permissions exclude its owner.
func (a *applier) admit(n *dirNode) error {
	var st dirfd.Stat
	if err := n.Parent.fd.Stat(n.Name, &st); err != nil {
		return err
	}
	if err := n.Parent.fd.Entry(n.Name).Chmod(st.Mode&dirfd.ModePerm | ownerMay); err != nil {
		return err
	}
	var err error
	if n.fd, err = n.Parent.fd.Open(n.Name); err == nil && n.Change == nil {
		n.Change = &dirChange{Want: band.Attr{Mode: st.Mode & dirfd.ModePerm, UID: st.UID, GID: st.GID, Mtime: st.ModTime()}}
	}
	return err
}

// chmod sets the directory's own permissions.
func (n *dirNode) chmod(root string, mode uint32) error {
	if n.Parent != nil {
		return n.Parent.fd.Entry(n.Name).Chmod(mode)
	}
	if err := disk.Step("chmod", root); err != nil {
		return err
	}
	m := os.FileMode(mode & 0o777)
	for bit, flag := range map[uint32]os.FileMode{setuid: os.ModeSetuid, setgid: os.ModeSetgid, 0o1000: os.ModeSticky} {
		if mode&bit != 0 {
			m |= flag
		}
	}
	return os.Chmod(root, m)
}

// makeDir creates the node's directory and opens it.
func (a *applier) makeDir(n *dirNode) {
	if n.Err != nil {
		return
	}
	if n.Err = n.Parent.Err; n.Err != nil {
		return
	}
	mode := n.Make.Attr.Mode&0o777 | ownerMay
	if n.Parent.Make == nil && n.many() {
		n.Err = a.mkdirApart(n, mode)
	} else {
		n.Err = n.Parent.fd.Mkdir(n.Name, mode)
	}
	if n.Err != nil {
		return
	}
	n.Change = &dirChange{Want: n.Make.Attr}
	n.fd, n.Err = n.Parent.fd.Open(n.Name)
}

// settle sets the directory's attributes to those wanted.
func (a *applier) settle(n *dirNode) error {
	var st dirfd.Stat
	if err := n.fd.Self(&st); err != nil {
		return err
	}
	if n.Change == nil {
		if n.opened&ownerMay == ownerMay || st.Mode&dirfd.ModePerm == n.opened {
			return nil
		}
		return n.chmod(a.root, n.opened)
	}
	want := &n.Change.Want
	mode, chowned, err := a.chown(band.ShownPath(n.Path), &st, want, func(uid, gid int) error {
		if n.Parent == nil {
			return os.Lchown(a.root, uid, gid)
		}
		return n.Parent.fd.Entry(n.Name).Chown(uid, gid)
	})
	if err != nil {
		return err
	}
	if chowned || st.Mode&dirfd.ModePerm != mode {
		if err := n.chmod(a.root, mode); err != nil {
			return err
		}
	}
	if len(want.Xattrs) > 0 || len(n.Change.Was.Xattrs) > 0 || n.Make != nil && !n.Parent.bare {
		if err := a.setXattrs(band.ShownPath(n.Path), want.Xattrs, dirfd.DirXattrs(n.fd)); err != nil {
			return err
		}
	}
	if st.ModTime().Equal(want.Mtime) {
		return nil
	}
	if err := n.fd.SetOwnTime(want.Mtime); err != nil {
		return err
	}
	return a.noteTime(band.ShownPath(n.Path), want.Mtime, n.fd.Self)
}

func (n *dirNode) close() {
	if n.fd != nil {
		_ = n.fd.Close()
		n.fd = nil
	}
}

// EnterChange creates the directory if it has to, and its files.
func (a *applier) EnterChange(n *dirNode, s *bands.CopyBuffer) {
	if n.Make != nil {
		if a.makeDir(n); n.Err != nil {
			a.Fail(n.Path, n.Err)
		} else {
			a.advance(1)
		}
	} else {
		a.open(n)
	}
	if n.Err != nil {
		for _, step := range n.Steps {
			a.Fail(step.Path, n.Err)
		}
		if len(n.Steps) == 0 && n.Change != nil && n.Make == nil {
			a.Fail(band.ShownPath(n.Path), n.Err)
		}
		return
	}
	// New entries have no extended attributes if the directory has none: inherited ones, a
	// default ACL or a property of Btrfs, are attributes of the directory. Checking once saves a
	// search for each new file on Btrfs.
	if n.bare = n.Make != nil && n.Parent.bare; !n.bare {
		list, err := dirfd.DirXattrs(n.fd).List()
		n.bare = err == nil && len(list) == 0
	}
	here := place{Dir: n.fd, bare: n.bare, same: n.Same}
	if c := a.Clones; c != nil && len(n.Same) > 0 && !c.off.Load() {
		if from, err := bands.OpenBelow(c.root, n.Path); err == nil {
			defer func() { _ = from.Close() }()
			here.from = from
		}
	}
	var unit []*action
	for _, step := range n.Steps {
		if step.Unit != 0 {
			unit = append(unit, step)
			continue
		}
		if a.stopped() {
			break
		}
		if err := a.file(here, step, s); err != nil {
			a.Fail(step.Path, err)
		}
	}
	a.unitSteps(n, unit, s)
	a.advance(len(n.Steps))
}

// LeaveChange sets the directory's attributes after everything in it is done.
func (a *applier) LeaveChange(n *dirNode, _ *bands.CopyBuffer) {
	if n.fd == nil {
		return
	}
	if !a.stopped() && (!n.Late || n.Change == nil) {
		if err := a.settle(n); err != nil {
			a.Fail(band.ShownPath(n.Path), fmt.Errorf("attributes: %w", err))
		}
	}
	makes := slices.ContainsFunc(n.Kids, func(kid *dirNode) bool { return kid.Make != nil })
	if makes || n.Count > 0 || n.Make != nil || n.Change != nil { // it or an entry changed
		a.Flush.addDir(n.fd)
	}
	n.close()
}
