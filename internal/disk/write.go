// Package disk writes files so that a crash leaves either the old or the new one, resolves paths,
// and provides file system features that differ between systems: clones, holes, free space, change
// times. A Lock is one of the advisory locks that order the program's own processes: on a file, on
// one of many names, on a range of an open file.
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

// streamBuffer is the buffer size of WriteStream in bytes.
const streamBuffer = 256 << 10

// tempMark is part of the name of every temporary file of this package.
const tempMark = ".entire-tmp-"

// WriteDurable replaces the file path with data and mode perm. The content is written to a
// temporary file beside it and synced before the rename, and the directory is synced after it: a
// crash leaves the complete old or new file. The directory must exist.
func WriteDurable(path string, data []byte, perm fs.FileMode) error {
	return replace(path, perm, durably(allOf(data)), nil, syncDir)
}

// WriteJSON is WriteDurable of a value as indented JSON, in a file that only this user can read.
func WriteJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return WriteDurable(path, append(data, '\n'), 0o600)
}

// WriteStream is WriteDurable for a content written piece by piece by fill. On an error the old
// file stays.
func WriteStream(path string, perm fs.FileMode, fill func(w io.Writer) error) error {
	return replace(path, perm, durably(func(f *os.File) error {
		w := bufio.NewWriterSize(f, streamBuffer)
		if err := fill(w); err != nil {
			return err
		}
		return w.Flush()
	}), nil, syncDir)
}

// WriteCache is WriteDurable without the syncs, for data that can be rebuilt: it survives the end
// of the process but not a crash of the machine.
func WriteCache(path string, data []byte, perm fs.FileMode) error {
	return replace(path, perm, allOf(data), nil, func(string) error { return nil })
}

// allOf returns a function that writes data.
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

// WriteUnless is WriteDurable that calls check immediately before the file is replaced, and leaves
// the file unchanged if check returns an error: another process may have written the file
// meanwhile.
func WriteUnless(path string, data []byte, perm fs.FileMode, check func() error) error {
	return replace(path, perm, durably(allOf(data)), check, syncDir)
}

// replace replaces a file with the output of fill, unless check, which may be nil, fails.
func replace(path string, perm fs.FileMode, fill func(*os.File) error, check func() error, syncDir func(string) error) error {
	if err := Step("write", path); err != nil {
		return err
	}
	temp, err := writeTemp(path, perm, fill)
	if err != nil {
		return writeError(path, err)
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
		return errors.Join(writeError(path, err), os.Remove(temp))
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("sync directory of %s: %w", path, err)
	}
	return nil
}

// writeError returns err as the error of a write to path: the name of the temporary file, which no
// longer exists, and the operation on it are left out.
func writeError(path string, err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		err = at.Err
	} else if at, ok := errors.AsType[*os.LinkError](err); ok {
		err = at.Err
	}
	return &fs.PathError{Op: "write", Path: path, Err: err}
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

// SweepTemp removes from dir the temporary files that were left by killed processes before the
// given time.
func SweepTemp(dir string, before time.Time) error {
	paths, err := TempFiles(dir, before)
	failed := make([]error, 0, len(paths)+1)
	failed = append(failed, err)
	for _, path := range paths {
		failed = append(failed, os.Remove(path))
	}
	return errors.Join(failed...)
}

// SweepTempOf is SweepTemp for the temporary files of one file, in a directory of another program.
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

// TempFiles returns the paths of the files that SweepTemp removes. A missing directory has none.
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
