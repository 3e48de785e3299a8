package volume

import (
	"bytes"
	"errors"
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
