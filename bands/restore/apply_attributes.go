package restore

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// attributes sets owners, modes, times and extended attributes of files and
// symlinks.
type attributes struct{ *outcome }

const (
	setuid = 0o4000
	setgid = 0o2000
)

// settleFile sets the owner, mode and extended attributes of a new file if they differ.
func (at attributes) settleFile(dir place, name, path string, f *os.File, e *band.Entry) error {
	var st dirfd.Stat
	if err := dirfd.StatFile(f, &st); err != nil {
		return err
	}
	if st.Size != e.Size {
		return fmt.Errorf("%d bytes instead of %d: %w", st.Size, e.Size, bands.ErrNotWritten)
	}
	if err := at.settleFileOwner(dir.Dir, name, path, &st, &e.Attr); err != nil {
		return err
	}
	if dir.bare && len(e.Attr.Xattrs) == 0 {
		return nil
	}
	return at.setXattrs(path, e.Attr.Xattrs, dirfd.FileXattrs(f))
}

// settleFileOwner sets owner and mode if they differ. An owner that this user may not set is left
// unchanged, and recorded.
func (at attributes) settleFileOwner(dir *dirfd.Dir, name, path string, st *dirfd.Stat, want *band.Attr) error {
	mode, chowned, err := at.chown(path, st, want, func(uid, gid int) error { return dir.Entry(name).Chown(uid, gid) })
	if err != nil {
		return err
	}
	// A change of owner clears setuid and setgid.
	if !st.IsSymlink() && (chowned || st.Mode&dirfd.ModePerm != mode) {
		return dir.Entry(name).Chmod(mode)
	}
	return nil
}

// chown sets owner and group if they differ, and returns the mode to set with them: setuid with
// another owner, or setgid with another group, would grant rights that the target doesn't.
func (at attributes) chown(path string, st *dirfd.Stat, want *band.Attr, set func(uid, gid int) error) (mode uint32, changed bool, err error) {
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
	at.noteUnset(path, fmt.Errorf("owner %d:%d: %w", want.UID, want.GID, err))
	return mode, changed, nil
}

// attributesOf sets the attributes of the entry name; path is for messages.
func (at attributes) attributesOf(dir *dirfd.Dir, name, path string, e *band.Entry) error {
	var st dirfd.Stat
	if err := dir.Stat(name, &st); err != nil {
		return err
	}
	if err := at.settleFileOwner(dir, name, path, &st, &e.Attr); err != nil {
		return err
	}
	var err error
	if e.Kind != band.File {
		err = at.setXattrs(path, e.Attr.Xattrs, dirfd.EntryXattrs(dir, name))
	} else if f, unopened := dir.OpenFile(name); unopened == nil {
		err = errors.Join(at.setXattrs(path, e.Attr.Xattrs, dirfd.FileXattrs(f)), f.Close())
	} else if len(e.Attr.Xattrs) > 0 || !errors.Is(unopened, fs.ErrPermission) {
		err = unopened
	}
	if err != nil {
		return err
	}
	if st.ModTime().Equal(e.Attr.Mtime) {
		return nil
	}
	return at.setTime(dir, name, path, e.Attr.Mtime)
}

// setTime sets the modification time of a file or symlink.
func (at attributes) setTime(dir *dirfd.Dir, name, path string, mtime time.Time) error {
	if err := dir.Entry(name).SetTime(mtime); err != nil {
		return err
	}
	return at.noteTime(path, mtime, func(st *dirfd.Stat) error { return dir.Stat(name, st) })
}

// noteTime records a modification time that the file system could not store: many end in 2038,
// 2446 or 2486, and begin in 1901.
func (at attributes) noteTime(path string, mtime time.Time, stat func(*dirfd.Stat) error) error {
	if sec := mtime.Unix(); sec >= 0 && sec <= math.MaxInt32 {
		return nil
	}
	var st dirfd.Stat
	if err := stat(&st); err != nil {
		return err
	}
	if got := st.ModTime(); got.Unix() != mtime.Unix() {
		at.noteUnset(path, fmt.Errorf("modification time %s: the file system stored %s: %w",
			mtime.UTC().Format(time.RFC3339), got.Format(time.RFC3339), errors.ErrUnsupported))
	}
	return nil
}

// setXattrs sets the extended attributes of the file at path to want, by means of to. Those that
// the system doesn't permit or support are left unchanged, and recorded.
func (at attributes) setXattrs(path string, want []band.Xattr, to dirfd.Xattrs) error {
	have, err := to.List()
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
		if err := to.Set(x.Name, x.Value); refused(err) {
			at.noteUnset(path, err)
		} else if err != nil {
			return err
		}
	}
	for name := range values {
		if err := to.Remove(name); refused(err) {
			at.noteUnset(path, err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

func refused(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, errors.ErrUnsupported)
}
