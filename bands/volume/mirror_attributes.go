package volume

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// target receives attributes: an entry of a directory, or an open directory.
type target interface {
	Chown(uid, gid int) error
	Chmod(mode uint32) error
	SetTime(mtime time.Time) error
}

// self is an open directory itself.
type self struct{ dir *dirfd.Dir }

// Chmod sets the permissions of the directory.
func (s self) Chmod(mode uint32) error {
	return s.file(func(f *os.File) error { return f.Chmod(fileMode(mode)) })
}

// Chown sets the owner of the directory.
func (s self) Chown(uid, gid int) error {
	return s.file(func(f *os.File) error { return f.Chown(uid, gid) })
}

// SetTime sets the modification time of the directory.
func (s self) SetTime(mtime time.Time) error { return s.dir.SetOwnTime(mtime) }

func (s self) file(do func(*os.File) error) error {
	f, err := s.dir.Duplicate()
	if err != nil {
		return err
	}
	return errors.Join(do(f), f.Close())
}

// fileMode converts the permissions of a dirfd.Stat to those of package os.
func fileMode(mode uint32) fs.FileMode {
	m := fs.FileMode(mode) & fs.ModePerm
	for _, bit := range []struct {
		mode uint32
		is   fs.FileMode
	}{{0o4000, fs.ModeSetuid}, {0o2000, fs.ModeSetgid}, {0o1000, fs.ModeSticky}} {
		if mode&bit.mode != 0 {
			m |= bit.is
		}
	}
	return m
}

// sameAttributes reports whether kind, mode, owner and time are the same.
func sameAttributes(a, b *dirfd.Stat) bool {
	return (a.Mode == b.Mode || a.IsSymlink() && b.IsSymlink()) && a.UID == b.UID && a.GID == b.GID && a.ModTime().Equal(b.ModTime())
}

func sameXattrs(a, b []dirfd.Xattr) bool {
	return slices.EqualFunc(a, b, func(a, b dirfd.Xattr) bool { return a.Name == b.Name && bytes.Equal(a.Value, b.Value) })
}

// setAttributes sets owner, mode, extended attributes and time, in an order in which none resets
// another.
func (m *mirroring) setAttributes(to target, want *dirfd.Stat, list []dirfd.Xattr, xattrs dirfd.Xattrs) error {
	// Only root sets the owner that new files already have.
	if int(want.UID) != os.Geteuid() || int(want.GID) != os.Getegid() || os.Geteuid() == 0 {
		if err := to.Chown(int(want.UID), int(want.GID)); err != nil {
			return err
		}
	}
	if !want.IsSymlink() {
		if err := to.Chmod(want.Mode & dirfd.ModePerm); err != nil {
			return err
		}
	}
	present, err := xattrs.List()
	if err != nil {
		return err
	}
	for _, x := range present {
		if !slices.ContainsFunc(list, func(is dirfd.Xattr) bool { return is.Name == x.Name }) {
			if err := xattrs.Remove(x.Name); err != nil {
				return err
			}
		}
	}
	for _, x := range list {
		err := xattrs.Set(x.Name, x.Value)
		if m.loose && errors.Is(err, errors.ErrUnsupported) {
			continue
		}
		if err != nil {
			return err
		}
	}
	return to.SetTime(want.ModTime())
}
