package bands

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// file carries out the step of a file or symlink.
func (a *applier) file(dir *disk.DirFD, s *Step, buf *scratch) error {
	name := baseOf(s.Path)
	if s.Was == nil || s.Was.Kind == tree.Dir {
		return a.write(dir, name, s.Entry, buf) // there is nothing of that name
	}
	if s.Kind == StepAttributes {
		if err := unchanged(dir, name, s.Was); err != nil {
			return err
		}
		return a.attributes(dir, name, s.Entry)
	}
	temp := a.tempName()
	if err := a.write(dir, temp, s.Entry, buf); err != nil {
		return err
	}
	return replaceBy(dir, temp, name, s.Was)
}

// replaceBy puts temp in the place of name if that is what was captured, or gone.
func replaceBy(dir *disk.DirFD, temp, name string, was *tree.Entry) error {
	err := unchanged(dir, name, was)
	switch {
	case err == nil && was.Kind == tree.File:
		err = exchange(dir, temp, name)
	case err == nil, errors.Is(err, fs.ErrNotExist):
		err = dir.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, dir.Unlink(temp))
	}
	return nil
}

// exchange lets the two names change places and removes what was in the place.
// A rename onto a file that is there would make ext4 write the new one to the
// disk at once, each by itself; here one sync at the end does for all.
func exchange(dir *disk.DirFD, temp, name string) error {
	err := dir.Exchange(temp, name)
	if errors.Is(err, errors.ErrUnsupported) {
		return dir.Rename(temp, name)
	}
	if err != nil {
		return err
	}
	return dir.Unlink(temp)
}

// write makes name, which must not be there, what the entry says.
func (a *applier) write(dir *disk.DirFD, name string, e *tree.Entry, buf *scratch) error {
	if e.Kind == tree.Symlink {
		return a.writeLink(dir, name, e)
	}
	f, err := dir.Create(name, e.Attr.Mode&0o777)
	if err != nil {
		return err
	}
	err = a.content.fill(f, e, buf)
	if err == nil {
		err = settleFile(dir, name, f, e)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, dir.Unlink(name))
	}
	if err := dir.SetTimes(name, e.Attr.Mtime.Unix(), int64(e.Attr.Mtime.Nanosecond())); err != nil {
		return errors.Join(err, dir.Unlink(name))
	}
	a.verified.Add(1)
	return nil
}

// settleFile sets what differs of a new file's owner, mode and extended attributes.
func settleFile(dir *disk.DirFD, name string, f *os.File, e *tree.Entry) error {
	var st disk.Stat
	if err := disk.StatFile(f, &st); err != nil {
		return err
	}
	if st.Size != e.Size {
		return fmt.Errorf("it has %d bytes, not %d: %w", st.Size, e.Size, errReadBack)
	}
	if err := settleOwner(dir, name, &st, &e.Attr); err != nil || len(e.Attr.Xattrs) == 0 {
		return err
	}
	return fileXattrs(f, e.Attr.Xattrs)
}

func fileXattrs(f *os.File, want []tree.Xattr) error {
	return setXattrs(want,
		func() ([]disk.Xattr, error) { return disk.ListXattrs(f) },
		func(name string, value []byte) error { return disk.SetXattr(f, name, value) },
		func(name string) error { return disk.RemoveXattr(f, name) })
}

// settleOwner sets owner and mode where they differ. An owner that this user
// may not set stays.
func settleOwner(dir *disk.DirFD, name string, st *disk.Stat, want *tree.Attr) error {
	chowned := false
	if st.UID != want.UID || st.GID != want.GID {
		err := dir.Lchown(name, int(want.UID), int(want.GID))
		if err != nil && !refused(err) {
			return err
		}
		chowned = err == nil
	}
	// A change of owner clears setuid and setgid.
	if !st.IsSymlink() && (chowned || st.Mode&disk.ModePerm != want.Mode&disk.ModePerm) {
		return dir.Chmod(name, want.Mode)
	}
	return nil
}

func (a *applier) writeLink(dir *disk.DirFD, name string, e *tree.Entry) error {
	if err := dir.Symlink(e.Target, name); err != nil {
		return err
	}
	if err := a.attributes(dir, name, e); err != nil {
		return errors.Join(err, dir.Unlink(name))
	}
	if got, err := dir.Readlink(name); err != nil || got != e.Target {
		return errors.Join(errReadBack, err, dir.Unlink(name))
	}
	a.verified.Add(1)
	return nil
}

// attributes makes a file's or symlink's attributes those of the entry.
func (a *applier) attributes(dir *disk.DirFD, name string, e *tree.Entry) error {
	var st disk.Stat
	if err := dir.Stat(name, &st); err != nil {
		return err
	}
	if err := settleOwner(dir, name, &st, &e.Attr); err != nil {
		return err
	}
	set := linkXattrs
	if e.Kind == tree.File {
		set = openXattrs
	}
	if err := set(dir, name, e); err != nil {
		return err
	}
	if st.Mtime == unixNano(e.Attr.Mtime) {
		return nil
	}
	return dir.SetTimes(name, e.Attr.Mtime.Unix(), int64(e.Attr.Mtime.Nanosecond()))
}

// linkXattrs makes the extended attributes of a symlink those of the entry.
func linkXattrs(dir *disk.DirFD, name string, e *tree.Entry) error {
	return setXattrs(e.Attr.Xattrs,
		func() ([]disk.Xattr, error) { return dir.EntryXattrs(name) },
		func(attr string, value []byte) error { return dir.SetEntryXattr(name, attr, value) },
		func(attr string) error { return dir.RemoveEntryXattr(name, attr) })
}

// openXattrs makes the extended attributes of a file those of the entry.
func openXattrs(dir *disk.DirFD, name string, e *tree.Entry) error {
	f, err := dir.OpenFile(name)
	if errors.Is(err, fs.ErrPermission) && len(e.Attr.Xattrs) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(fileXattrs(f, e.Attr.Xattrs), f.Close())
}
