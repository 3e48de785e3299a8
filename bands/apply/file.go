package apply

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-3aff656d/entire/bands/contents"
	"github.com/seed-3aff656d/entire/bands/plan"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// file carries out the step of a file or symlink.
func (a *Applier) file(dir *dirfd.Dir, s *plan.Action, buf *contents.Scratch) error {
	name := tree.BasePath(s.Path)
	if s.Was == nil || s.Was.Kind == tree.Dir {
		return a.write(dir, name, s.Path, s.Entry, buf) // there is nothing of that name
	}
	if s.Kind == plan.StepAttributes {
		if _, err := a.unchanged(dir, name, s.Was); err != nil {
			return err
		}
		return a.changeAttributes(dir, s)
	}
	temp, err := a.tempIn(dir)
	if err != nil {
		return err
	}
	if err := a.write(dir, temp, s.Path, s.Entry, buf); err != nil {
		return err
	}
	return a.replaceBy(dir, temp, name, s.Was)
}

// replaceBy puts temp in the place of name if that is what was captured, or gone.
func (a *Applier) replaceBy(dir *dirfd.Dir, temp, name string, was *tree.Entry) error {
	st, err := a.unchanged(dir, name, was)
	switch {
	case err == nil:
		err = exchange(dir, temp, name, &st)
	case errors.Is(err, fs.ErrNotExist):
		err = dir.Rename(temp, name)
	}
	if err != nil {
		return errors.Join(err, dir.Unlink(temp))
	}
	return nil
}

// beforeReplace is called between the check of what is replaced and the
// replacement; for tests.
var beforeReplace = func(_ *dirfd.Dir, _ string) {} //nolint:gochecknoglobals // tests of one moment set it

// exchange lets the two names change places and removes what was in the place,
// if that is what was. Otherwise somebody saved the file in between: it is put
// back. A rename onto a file that is there would make ext4 write the new one to
// the disk at once, each by itself.
func exchange(dir *dirfd.Dir, temp, name string, was *dirfd.Stat) error {
	beforeReplace(dir, name)
	err := dir.Exchange(temp, name)
	if errors.Is(err, errors.ErrUnsupported) {
		return dir.Rename(temp, name)
	}
	if err != nil {
		return err
	}
	var st dirfd.Stat
	if err := dir.Stat(temp, &st); err != nil {
		return err
	}
	if sameInode(&st, was) {
		return dir.Unlink(temp)
	}
	return errors.Join(plan.ErrChanged, dir.Exchange(temp, name)) // the caller removes temp
}

// sameInode reports whether nothing but the name of a file has changed, which
// changes its ctime.
func sameInode(a, b *dirfd.Stat) bool {
	return a.Ino == b.Ino && a.Mode&dirfd.ModeType == b.Mode&dirfd.ModeType && a.Size == b.Size && a.Mtime == b.Mtime
}

// remove removes a file or symlink if it is what was captured. It gets another
// name first, so that what somebody saves in between is seen, and put back.
func (a *Applier) remove(dir *dirfd.Dir, name string, was *tree.Entry) error {
	before, err := a.unchanged(dir, name, was)
	if err != nil {
		return err
	}
	beforeReplace(dir, name)
	temp := a.tempName()
	if err := dir.Rename(name, temp); err != nil {
		return err
	}
	var st dirfd.Stat
	if err := dir.Stat(temp, &st); err != nil {
		return err
	}
	if sameInode(&st, &before) {
		return dir.Unlink(temp)
	}
	switch err := dir.Link(temp, dir, name); {
	case err == nil:
	case errors.Is(err, fs.ErrExist): // it was saved once more: that one counts
	default:
		return errors.Join(plan.ErrChanged, dir.Rename(temp, name))
	}
	return errors.Join(plan.ErrChanged, dir.Unlink(temp))
}

// write makes name, which must not be there and is or becomes the path, what
// the entry says.
func (a *Applier) write(dir *dirfd.Dir, name, path string, e *tree.Entry, buf *contents.Scratch) error {
	if e.Kind == tree.Symlink {
		return a.writeLink(dir, name, path, e)
	}
	f, err := dir.Create(name, e.Attr.Mode&0o777)
	if err != nil {
		return err
	}
	err = a.Content.Fill(f, e, buf)
	if err == nil {
		err = a.settleFile(dir, name, path, f, e)
	}
	if err == nil {
		err = dir.SetTimes(name, e.Attr.Mtime.Unix(), int64(e.Attr.Mtime.Nanosecond()))
	}
	if err != nil {
		return errors.Join(err, f.Close(), dir.Unlink(name))
	}
	if err := a.Flush.add(f); err != nil {
		return errors.Join(err, dir.Unlink(name))
	}
	a.Verified.Add(1)
	return nil
}

// settleFile sets what differs of a new file's owner, mode and extended attributes.
func (a *Applier) settleFile(dir *dirfd.Dir, name, path string, f *os.File, e *tree.Entry) error {
	var st dirfd.Stat
	if err := dirfd.StatFile(f, &st); err != nil {
		return err
	}
	if st.Size != e.Size {
		return fmt.Errorf("it has %d bytes, not %d: %w", st.Size, e.Size, contents.ErrNotWritten)
	}
	if err := a.settleFileOwner(dir, name, path, &st, &e.Attr); err != nil {
		return err
	}
	// A new file may have the ACL that its directory gives.
	return a.fileXattrs(path, f, e.Attr.Xattrs)
}

func (a *Applier) fileXattrs(path string, f *os.File, want []tree.Xattr) error {
	return a.setXattrs(path, want,
		func() ([]dirfd.Xattr, error) { return dirfd.ListXattrs(f) },
		func(name string, value []byte) error { return dirfd.SetXattr(f, name, value) },
		func(name string) error { return dirfd.RemoveXattr(f, name) })
}

// settleFileOwner sets owner and mode where they differ. An owner that this user
// may not set stays, and is noted.
func (a *Applier) settleFileOwner(dir *dirfd.Dir, name, path string, st *dirfd.Stat, want *tree.Attr) error {
	mode, chowned, err := a.chown(path, st, want, func(uid, gid int) error { return dir.Lchown(name, uid, gid) })
	if err != nil {
		return err
	}
	// A change of owner clears setuid and setgid.
	if !st.IsSymlink() && (chowned || st.Mode&dirfd.ModePerm != mode) {
		return dir.Chmod(name, mode)
	}
	return nil
}

const (
	setuid = 0o4000
	setgid = 0o2000
)

// chown sets owner and group where they differ, and returns the mode that goes
// with them: setuid of another owner, or setgid of another group, would give
// away what it doesn't in the target.
func (a *Applier) chown(path string, st *dirfd.Stat, want *tree.Attr, set func(uid, gid int) error) (mode uint32, changed bool, err error) {
	mode = want.Mode & dirfd.ModePerm
	if st.UID == want.UID && st.GID == want.GID {
		return mode, false, nil
	}
	if err = set(int(want.UID), int(want.GID)); err == nil {
		return mode, true, nil
	}
	if !refused(err) {
		return mode, false, err
	}
	if st.GID != want.GID { // a group that the user is in may be set
		group := set(-1, int(want.GID))
		if changed = group == nil; !changed {
			mode &^= setgid
		}
	}
	if st.UID != want.UID {
		mode &^= setuid
	}
	a.noteUnset(path, fmt.Errorf("owner %d:%d: %w", want.UID, want.GID, err))
	return mode, changed, nil
}

func (a *Applier) writeLink(dir *dirfd.Dir, name, path string, e *tree.Entry) error {
	if err := dir.Symlink(e.Target, name); err != nil {
		return err
	}
	if err := a.attributesOf(dir, name, path, e); err != nil {
		return errors.Join(err, dir.Unlink(name))
	}
	if got, err := dir.Readlink(name); err != nil || got != e.Target {
		return errors.Join(contents.ErrNotWritten, err, dir.Unlink(name))
	}
	a.Verified.Add(1)
	return nil
}

// attributes makes a file's or symlink's attributes those of the entry.
func (a *Applier) attributes(dir *dirfd.Dir, path string, e *tree.Entry) error {
	return a.attributesOf(dir, tree.BasePath(path), path, e)
}

// changeAttributes is attributes for a path of which nothing else changes.
func (a *Applier) changeAttributes(dir *dirfd.Dir, s *plan.Action) error {
	if err := a.attributes(dir, s.Path, s.Entry); err != nil {
		return err
	}
	a.Flush.addName(dir, tree.BasePath(s.Path))
	return nil
}

// attributesOf is attributes for an entry that may have another name.
func (a *Applier) attributesOf(dir *dirfd.Dir, name, path string, e *tree.Entry) error {
	var st dirfd.Stat
	if err := dir.Stat(name, &st); err != nil {
		return err
	}
	if err := a.settleFileOwner(dir, name, path, &st, &e.Attr); err != nil {
		return err
	}
	set := a.linkXattrs
	if e.Kind == tree.File {
		set = a.openXattrs
	}
	if err := set(dir, name, path, e); err != nil {
		return err
	}
	if st.Mtime == unixNano(e.Attr.Mtime) {
		return nil
	}
	return dir.SetTimes(name, e.Attr.Mtime.Unix(), int64(e.Attr.Mtime.Nanosecond()))
}

// linkXattrs makes the extended attributes of a symlink those of the entry.
func (a *Applier) linkXattrs(dir *dirfd.Dir, name, path string, e *tree.Entry) error {
	return a.setXattrs(path, e.Attr.Xattrs,
		func() ([]dirfd.Xattr, error) { return dir.EntryXattrs(name) },
		func(attr string, value []byte) error { return dir.SetEntryXattr(name, attr, value) },
		func(attr string) error { return dir.RemoveEntryXattr(name, attr) })
}

// openXattrs makes the extended attributes of a file those of the entry.
func (a *Applier) openXattrs(dir *dirfd.Dir, name, path string, e *tree.Entry) error {
	f, err := dir.OpenFile(name)
	if errors.Is(err, fs.ErrPermission) && len(e.Attr.Xattrs) == 0 {
		return nil
	}
	if err != nil {
		return err
	}
	return errors.Join(a.fileXattrs(path, f, e.Attr.Xattrs), f.Close())
}
