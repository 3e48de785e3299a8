package dirfd

import (
	"errors"
	"io/fs"
)

// ErrChanged means that an entry differs from the one the caller examined: it is not replaced.
var ErrChanged = errors.New("it changed meanwhile")

// ReplaceUnchanged renames temp, an entry of the same directory, to name, and removes the former
// entry of that name, whose attributes were was. It removes temp on most errors, too. A rename onto
// an existing file would make ext4 write each new file to the disk at once; an exchange does not.
func ReplaceUnchanged(dir *Dir, temp, name string, was *Stat) error {
	err := dir.Exchange(temp, name)
	if errors.Is(err, errors.ErrUnsupported) {
		var now Stat
		if err = dir.Stat(name, &now); err == nil && sameApartFromName(&now, was) {
			return dir.Rename(temp, dir, name)
		}
		return errors.Join(ErrChanged, err, dir.Unlink(temp))
	}
	if err != nil {
		return errors.Join(err, dir.Unlink(temp))
	}
	var old Stat
	if err := dir.Stat(temp, &old); err != nil {
		return err
	}
	if sameApartFromName(&old, was) {
		return dir.Unlink(temp)
	}
	if err := dir.Exchange(temp, name); err != nil { // temp is the other program's file
		return errors.Join(ErrChanged, err, dir.Rename(temp, dir, name))
	}
	return errors.Join(ErrChanged, dir.Unlink(temp))
}

// RemoveUnchanged removes an entry whose attributes were was. The entry is renamed to temp first,
// to detect changes that another program saves in between.
func RemoveUnchanged(dir *Dir, temp, name string, was *Stat) error {
	if err := dir.Rename(name, dir, temp); err != nil {
		return err
	}
	var old Stat
	if err := dir.Stat(temp, &old); err != nil {
		return err
	}
	if sameApartFromName(&old, was) {
		return dir.Unlink(temp)
	}
	return errors.Join(ErrChanged, RestoreUnlessReplaced(dir, temp, name))
}

// RestoreUnlessReplaced renames temp to name, unless name has a newer file: then temp is removed.
func RestoreUnlessReplaced(dir *Dir, temp, name string) error {
	switch err := dir.Link(temp, dir, name); {
	case err == nil, errors.Is(err, fs.ErrExist):
		return dir.Unlink(temp)
	default: // the file system has no hard links
		return dir.Rename(temp, dir, name)
	}
}

// sameApartFromName reports whether a file is unchanged but for a rename, which changes its ctime.
func sameApartFromName(a, b *Stat) bool {
	return a.Ino == b.Ino && a.Mode == b.Mode && a.Size == b.Size && a.Mtime == b.Mtime
}
