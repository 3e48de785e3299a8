package disk

import (
	"errors"
	"io/fs"
	"os"
)

// RemoveTree is like os.RemoveAll for a directory, but also removes entries of directories without
// write permission for their owner, which package managers create. It calls removed, unless that is
// nil, after each removed entry below dir.
func RemoveTree(dir string, removed func()) error {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if removed == nil {
		removed = func() {}
	}
	err = removeEntries(root, removed)
	return errors.Join(err, root.Close(), os.Remove(dir))
}

// removeEntries removes the entries of a directory.
func removeEntries(dir *os.Root, removed func()) error {
	_ = dir.Chmod(".", 0o700) // a failure shows in the errors of the entries
	entries, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			below, err := dir.OpenRoot(e.Name())
			if err != nil {
				return err
			}
			if err := errors.Join(removeEntries(below, removed), below.Close()); err != nil {
				return err
			}
		}
		if err := dir.Remove(e.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		removed()
	}
	return nil
}
