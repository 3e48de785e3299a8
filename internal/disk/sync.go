package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
)

// SyncDir waits until the names in a directory are on the disk. It does nothing if the file system
// can't sync directories.
func SyncDir(dir string) error {
	if err := Step("sync", dir); err != nil {
		return err
	}
	return syncDir(dir)
}

func syncDir(dir string) error {
	err := syncPath(dir)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) || errors.Is(err, syscall.EINVAL) {
		return nil
	}
	return err
}

func syncPath(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// syncers is the number of files synced at once: a file system commits them together.
const syncers = 8

// SyncFiles waits until files, and the names in directories, are on the disk. Missing ones are
// skipped.
func SyncFiles(files, dirs []string) error {
	for _, path := range append(slices.Clone(files), dirs...) {
		if err := Step("sync", path); err != nil {
			return err
		}
	}
	return errors.Join(syncAll(files, syncPath), syncAll(dirs, syncDir))
}

func syncAll(paths []string, do func(string) error) error {
	var wait sync.WaitGroup
	failed := make([]error, len(paths))
	slots := make(chan struct{}, syncers)
	for i, path := range paths {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			if err := do(path); !errors.Is(err, fs.ErrNotExist) {
				failed[i] = err
			}
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}

// MkdirAll is like os.MkdirAll, and syncs the new directories' names before it returns.
func MkdirAll(dir string, perm fs.FileMode) error {
	if info, err := os.Stat(dir); err == nil && info.IsDir() {
		return nil
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := MkdirAll(parent, perm); err != nil {
			return err
		}
	}
	if err := Step("mkdir", dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncDir(parent)
}

// Remove removes a file or an empty directory; a missing one is not an error.
func Remove(path string) error {
	if err := Step("remove", path); err != nil {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// RemoveAll removes a path and everything below it; a missing path is not an error.
func RemoveAll(path string) error {
	if err := Step("remove", path); err != nil {
		return err
	}
	return os.RemoveAll(path)
}

// Rename renames a file or a directory. It doesn't sync.
func Rename(from, to string) error {
	if err := Step("rename", to); err != nil {
		return err
	}
	return os.Rename(from, to)
}
