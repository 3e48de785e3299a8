// Package disk writes files so that a crash leaves the old or the new one,
// resolves paths, and gives the properties of file systems that differ between
// systems: clones, holes, free space, times of changes.
package disk

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// streamBuffer is how much of a stream is written at once.
const streamBuffer = 256 << 10

// tempMark is in the name of every temporary file made here.
const tempMark = ".entire-tmp-"

// WriteDurable replaces the file path by data with mode perm. The content is
// in a temporary file beside it, synced, before the rename, and the directory
// is synced after it: a crash leaves the whole old file or the whole new one.
// The directory must exist.
func WriteDurable(path string, data []byte, perm fs.FileMode) error {
	return replace(path, perm, durably(allOf(data)), nil, syncDir)
}

// WriteJSON is WriteDurable of a value as indented JSON, in a file for this user alone.
func WriteJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return WriteDurable(path, append(data, '\n'), 0o600)
}

// WriteStream is WriteDurable for a content that fill writes, piece by piece.
// If it fails the old file stays.
func WriteStream(path string, perm fs.FileMode, fill func(w io.Writer) error) error {
	return replace(path, perm, durably(func(f *os.File) error {
		w := bufio.NewWriterSize(f, streamBuffer)
		if err := fill(w); err != nil {
			return err
		}
		return w.Flush()
	}), nil, syncDir)
}

// WriteCache is WriteDurable without the syncs, for what can be made again: it
// survives the end of the process but not of the machine.
func WriteCache(path string, data []byte, perm fs.FileMode) error {
	return replace(path, perm, allOf(data), nil, func(string) error { return nil })
}

// allOf writes data.
func allOf(data []byte) func(*os.File) error {
	return func(f *os.File) error {
		_, err := f.Write(data)
		return err
	}
}

// durably returns fill followed by a sync of the file.
func durably(fill func(*os.File) error) func(*os.File) error {
	return func(f *os.File) error {
		if err := fill(f); err != nil {
			return err
		}
		return f.Sync()
	}
}

// WriteUnless is WriteDurable that calls check just before the file is replaced,
// and leaves the file unchanged if that returns an error: another process may have
// written it meanwhile.
func WriteUnless(path string, data []byte, perm fs.FileMode, check func() error) error {
	return replace(path, perm, durably(allOf(data)), check, syncDir)
}

// replace replaces a file by what fill writes, unless check, which may be nil, fails.
func replace(path string, perm fs.FileMode, fill func(*os.File) error, check func() error, syncDir func(string) error) error {
	if err := Step("write", path); err != nil {
		return err
	}
	temp, err := writeTemp(path, perm, fill)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if check != nil {
		if err := check(); err != nil {
			return errors.Join(err, os.Remove(temp))
		}
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

func writeTemp(path string, perm fs.FileMode, fill func(*os.File) error) (name string, err error) {
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
	if err := f.Chmod(perm); err != nil {
		return "", err
	}
	return f.Name(), fill(f)
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

// SweepTempOf is SweepTemp for the temporary files of one file, in a directory
// that isn't ours.
func SweepTempOf(path string, before time.Time) error {
	paths, err := TempFiles(filepath.Dir(path), before)
	failed := []error{err}
	for _, temp := range paths {
		if strings.HasPrefix(filepath.Base(temp), filepath.Base(path)+tempMark) {
			failed = append(failed, Remove(temp))
		}
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
