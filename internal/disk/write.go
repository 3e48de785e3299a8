// Package disk writes files so that a crash leaves the old or the new one, and
// takes the advisory locks that order the program's own processes.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// tempMark is in the name of every temporary file made here.
const tempMark = ".entire-tmp-"

// WriteDurable replaces the file path by data with mode perm. The content is
// in a temporary file beside it, synced, before the rename, and the directory
// is synced after it: a crash leaves the whole old file or the whole new one.
// The directory must exist.
func WriteDurable(path string, data []byte, perm fs.FileMode) error {
	return replace(path, data, perm, func(f *os.File) error { return f.Sync() }, syncDir)
}

// WriteCache is WriteDurable without the syncs, for what can be made again: it
// survives the end of the process but not of the machine.
func WriteCache(path string, data []byte, perm fs.FileMode) error {
	none := func(*os.File) error { return nil }
	return replace(path, data, perm, none, func(string) error { return nil })
}

func replace(path string, data []byte, perm fs.FileMode, sync func(*os.File) error, syncDir func(string) error) error {
	if err := Step("write", path); err != nil {
		return err
	}
	temp, err := writeTemp(path, data, perm, sync)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := Step("rename", path); err != nil {
		return errors.Join(err, os.Remove(temp))
	}
	if err := os.Rename(temp, path); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(temp))
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("sync directory of %s: %w", path, err)
	}
	return nil
}

func writeTemp(path string, data []byte, perm fs.FileMode, sync func(*os.File) error) (name string, err error) {
	dir, base := filepath.Split(path)
	f, err := os.CreateTemp(dir, base+tempMark+"*")
	if err != nil {
		return "", err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if _, err := f.Write(data); err != nil {
		return "", err
	}
	if err := f.Chmod(perm); err != nil {
		return "", err
	}
	return f.Name(), sync(f)
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// SweepTemp removes from dir the temporary files that a killed process left
// there before the time given.
func SweepTemp(dir string, before time.Time) error {
	paths, err := TempFiles(dir, before)
	failed := make([]error, 0, len(paths)+1)
	failed = append(failed, err)
	for _, path := range paths {
		failed = append(failed, os.Remove(path))
	}
	return errors.Join(failed...)
}

// TempFiles are the paths of what SweepTemp removes. A folder that isn't there
// has none.
func TempFiles(dir string, before time.Time) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		if !strings.Contains(e.Name(), tempMark) {
			continue
		}
		if info, err := e.Info(); err == nil && info.ModTime().Before(before) {
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, nil
}
