package bands

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// ownerMay are the permissions without which an owner can't change what is in
// a directory.
const ownerMay = 0o700

// open opens the node's directory, which must be there.
func (a *applier) open(n *spot) {
	if n.err != nil {
		return
	}
	if n.parent == nil {
		n.fd, n.err = dirfd.OpenRoot(a.root)
	} else if n.err = n.parent.err; n.err == nil {
		n.fd, n.err = n.parent.fd.Open(n.name)
	}
	if n.err != nil && errors.Is(n.err, fs.ErrPermission) && n.parent != nil && n.parent.fd != nil {
		n.err = a.admit(n)
	}
	if n.err != nil {
		return
	}
	var st dirfd.Stat
	if n.err = n.fd.Self(&st); n.err == nil {
		n.opened = st.Mode & dirfd.ModePerm
	}
	if n.err == nil && n.opened&ownerMay != ownerMay && os.Geteuid() == int(st.UID) && st.UID != 0 {
		n.err = n.chmod(a.root, n.opened|ownerMay)
	}
}

// admit opens a directory that its owner has closed to himself.
func (a *applier) admit(n *spot) error {
	var st dirfd.Stat
	if err := n.parent.fd.Stat(n.name, &st); err != nil {
		return err
	}
	if err := n.parent.fd.Chmod(n.name, st.Mode&dirfd.ModePerm|ownerMay); err != nil {
		return err
	}
	var err error
	if n.fd, err = n.parent.fd.Open(n.name); err == nil && n.change == nil {
		n.change = &dirChange{want: tree.Attr{Mode: st.Mode & dirfd.ModePerm, UID: st.UID, GID: st.GID, Mtime: time.Unix(0, st.Mtime)}}
	}
	return err
}

// chmod sets the directory's own permissions.
func (n *spot) chmod(root string, mode uint32) error {
	if n.parent != nil {
		return n.parent.fd.Chmod(n.name, mode)
	}
	if err := disk.Step("chmod", root); err != nil {
		return err
	}
	return os.Chmod(root, fileMode(mode))
}

// fileMode is 07777 as the os package writes it.
func fileMode(mode uint32) os.FileMode {
	m := os.FileMode(mode & 0o777)
	for bit, flag := range map[uint32]os.FileMode{0o4000: os.ModeSetuid, 0o2000: os.ModeSetgid, 0o1000: os.ModeSticky} {
		if mode&bit != 0 {
			m |= flag
		}
	}
	return m
}

// makeDir makes the node's directory and opens it.
func (a *applier) makeDir(n *spot) {
	if n.err != nil {
		return
	}
	if n.err = n.parent.err; n.err != nil {
		return
	}
	mode := n.make.Attr.Mode&0o777 | ownerMay
	if n.parent.make == nil && n.many() {
		n.err = a.mkdirApart(n, mode)
	} else {
		n.err = n.parent.fd.Mkdir(n.name, mode)
	}
	if n.err != nil {
		return
	}
	n.change = &dirChange{want: n.make.Attr}
	n.fd, n.err = n.parent.fd.Open(n.name)
}

// settle gives the directory the attributes that it is to have.
func (a *applier) settle(n *spot) error {
	var st dirfd.Stat
	if err := n.fd.Self(&st); err != nil {
		return err
	}
	if n.change == nil {
		if n.opened&ownerMay == ownerMay || st.Mode&dirfd.ModePerm == n.opened {
			return nil
		}
		return n.chmod(a.root, n.opened)
	}
	want := &n.change.want
	if err := a.settleOwner(n, &st, want); err != nil {
		return err
	}
	// A new directory may have the ACL that the one it is in gives.
	if len(want.Xattrs) > 0 || len(n.change.was.Xattrs) > 0 || n.make != nil {
		if err := a.setXattrs(shownPath(n.path), want.Xattrs, n.fd.Xattrs, n.fd.SetXattr, n.fd.RemoveXattr); err != nil {
			return err
		}
	}
	if st.Mtime == unixNano(want.Mtime) {
		return nil
	}
	return n.fd.SetOwnTimes(want.Mtime.Unix(), int64(want.Mtime.Nanosecond()))
}

func (a *applier) settleOwner(n *spot, st *dirfd.Stat, want *tree.Attr) error {
	mode, chowned, err := a.chown(shownPath(n.path), st, want, func(uid, gid int) error {
		if n.parent == nil {
			return os.Lchown(a.root, uid, gid)
		}
		return n.parent.fd.Lchown(n.name, uid, gid)
	})
	if err != nil {
		return err
	}
	if chowned || st.Mode&dirfd.ModePerm != mode {
		return n.chmod(a.root, mode)
	}
	return nil
}

// setXattrs makes the extended attributes those wanted. What the system doesn't
// allow, or doesn't have there, is left and noted.
func (a *applier) setXattrs(path string, want []tree.Xattr, list func() ([]dirfd.Xattr, error), set func(string, []byte) error, remove func(string) error) error {
	have, err := list()
	if err != nil {
		return err
	}
	values := map[string]string{}
	for _, x := range have {
		values[x.Name] = string(x.Value)
	}
	for _, x := range want {
		value, ok := values[x.Name]
		delete(values, x.Name)
		if ok && value == string(x.Value) {
			continue
		}
		if err := set(x.Name, x.Value); refused(err) {
			a.noteUnset(path, err)
		} else if err != nil {
			return err
		}
	}
	for name := range values {
		if err := remove(name); refused(err) {
			a.noteUnset(path, err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func refused(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported)
}

// unixNano is the time as dirfd.Stat tells it.
func unixNano(t time.Time) int64 {
	const second = int64(time.Second)
	switch sec := t.Unix(); {
	case sec >= math.MaxInt64/second:
		return math.MaxInt64
	case sec <= math.MinInt64/second:
		return math.MinInt64
	}
	return t.UnixNano()
}

// changed reports whether the directory or one of its names may have changed.
func (n *spot) changed() bool {
	return n.count > 0 || n.make != nil || n.change != nil ||
		slices.ContainsFunc(n.kids, func(kid *spot) bool { return kid.make != nil })
}

func (n *spot) close() {
	if n.fd != nil {
		_ = n.fd.Close()
		n.fd = nil
	}
}

// enterChange makes the directory if it has to be made, and its files.
func (a *applier) enterChange(n *spot, s *scratch) {
	if n.make != nil {
		if a.makeDir(n); n.err != nil {
			a.fail(n.path, n.err)
		} else {
			a.advance(1)
		}
	} else {
		a.open(n)
	}
	if n.err != nil {
		a.failAll(n)
		return
	}
	var unit []*action
	for _, step := range n.steps {
		if step.unit != 0 {
			unit = append(unit, step)
			continue
		}
		if a.stopped() {
			break
		}
		if err := a.file(n.fd, step, s); err != nil {
			a.fail(step.Path, err)
		}
	}
	a.unitSteps(n, unit, s)
	a.advance(len(n.steps))
}

func (a *applier) failAll(n *spot) {
	for _, step := range n.steps {
		a.fail(step.Path, n.err)
	}
	if len(n.steps) == 0 && n.change != nil && n.make == nil {
		a.fail(shownPath(n.path), n.err)
	}
}

// stopped says whether an error has ended everything.
func (a *applier) stopped() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.fatal != nil
}

// leaveChange gives the directory its attributes when all in it is done.
func (a *applier) leaveChange(n *spot, _ *scratch) {
	if n.fd == nil {
		return
	}
	if !a.stopped() && (!n.late || n.change == nil) {
		if err := a.settle(n); err != nil {
			a.fail(shownPath(n.path), fmt.Errorf("attributes: %w", err))
		}
	}
	if n.changed() {
		a.flush.addDir(n.fd)
	}
	n.close()
}
