// Package swap replaces and removes files and symbolic links of open directories only
// while they are what the caller has examined. What another program saved in between
// is put back. Between two steps of a function a name is never without a file unless
// it is to be removed.
package swap

import (
	"errors"
	"io/fs"

	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// ErrChanged means that an entry is not what the caller has examined: it stays as it is.
var ErrChanged = errors.New("it changed meanwhile")

// Replace gives temp, an entry of the same directory, the name of an entry whose
// attributes were was, and removes that one. temp is gone when it returns, also with
// an error. A rename onto an existing file would make ext4 write the new one to the
// disk at once, each by itself; an exchange does not.
func Replace(dir *dirfd.Dir, temp, name string, was *dirfd.Stat) error {
	err := dir.Exchange(temp, name)
	if errors.Is(err, errors.ErrUnsupported) {
		var now dirfd.Stat
		if err = dir.Stat(name, &now); err == nil && sameApartFromName(&now, was) {
			return dir.Rename(temp, dir, name)
		}
		return errors.Join(ErrChanged, err, dir.Unlink(temp))
	}
	if err != nil {
		return errors.Join(err, dir.Unlink(temp))
	}
	var old dirfd.Stat
	if err := dir.Stat(temp, &old); err != nil {
		return err
	}
	if !sameApartFromName(&old, was) {
		err = errors.Join(ErrChanged, dir.Exchange(temp, name))
	}
	return errors.Join(err, dir.Unlink(temp))
}

// Remove removes an entry whose attributes were was. The entry gets the name temp
// first, so that what another program saves in between is found.
func Remove(dir *dirfd.Dir, temp, name string, was *dirfd.Stat) error {
	if err := dir.Rename(name, dir, temp); err != nil {
		return err
	}
	var old dirfd.Stat
	if err := dir.Stat(temp, &old); err != nil {
		return err
	}
	if sameApartFromName(&old, was) {
		return dir.Unlink(temp)
	}
	return errors.Join(ErrChanged, PutBack(dir, temp, name))
}

// PutBack renames temp to name, unless there is a newer file of that name: then temp
// is removed.
func PutBack(dir *dirfd.Dir, temp, name string) error {
	switch err := dir.Link(temp, dir, name); {
	case err == nil, errors.Is(err, fs.ErrExist):
		return dir.Unlink(temp)
	default: // the file system has no hard links
		return dir.Rename(temp, dir, name)
	}
}

// sameApartFromName reports whether nothing but the name of a file has changed, which
// changes its ctime.
func sameApartFromName(a, b *dirfd.Stat) bool {
	return a.Ino == b.Ino && a.Mode == b.Mode && a.Size == b.Size && a.Mtime == b.Mtime
}
