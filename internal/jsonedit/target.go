package jsonedit

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// target is the state of a settings file when it was read.
type target struct {
	path      string // with symbolic links resolved
	dir       string // the directory of the original path
	data      []byte
	mode      fs.FileMode
	exists    bool
	dirExists bool
	// parentExists reports whether the parent of the directory exists.
	parentExists bool
}

func readTarget(path string) (target, error) {
	f := target{dir: filepath.Dir(path), mode: 0o644}
	_, err := os.Stat(f.dir)
	f.dirExists = err == nil
	_, err = os.Stat(filepath.Dir(f.dir))
	f.parentExists = err == nil
	if f.path, err = followLinks(path); err != nil {
		return f, err
	}
	info, err := os.Stat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f, nil
	}
	if err != nil {
		return f, err
	}
	if !info.Mode().IsRegular() {
		return f, fmt.Errorf("%s is not a regular file", f.path)
	}
	f.data, err = disk.ReadFile(f.path)
	f.mode, f.exists = info.Mode().Perm(), err == nil
	return f, err
}

// followLinks resolves the symbolic links of path, even if the file itself doesn't exist yet.
func followLinks(path string) (string, error) {
	const most = 40
	for range most {
		link, err := os.Readlink(path)
		if err != nil {
			return path, nil //nolint:nilerr // no link: path names the file itself, or where it will be
		}
		if !filepath.IsAbs(link) {
			link = filepath.Join(filepath.Dir(path), link)
		}
		path = link
	}
	return "", fmt.Errorf("follow %s: %w", path, syscall.ELOOP)
}

// replace replaces the content of the file atomically, unless another program has written it since
// it was read: then the error is errChanged.
func (f target) replace(data []byte) error {
	if !f.dirExists {
		if err := disk.MkdirAll(f.dir, 0o755); err != nil {
			return err
		}
	}
	return disk.WriteUnless(f.path, data, f.mode, f.unchanged)
}

// Sweep removes the temporary files that killed processes left before the given time.
func (e File) Sweep(before time.Time) error {
	path, err := followLinks(e.Path)
	if err != nil {
		return err
	}
	return disk.SweepTempOf(path, before)
}

// unchanged returns errChanged if the file differs from its state when it was read.
func (f target) unchanged() error {
	now, err := disk.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) && !f.exists {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err != nil || !f.exists || !bytes.Equal(now, f.data) {
		return errChanged
	}
	return nil
}

func (f target) remove() error {
	if err := f.unchanged(); err != nil {
		return err
	}
	return errors.Join(disk.Remove(f.path), disk.SyncDir(filepath.Dir(f.path)))
}

// removeDir removes a directory if it is empty.
func removeDir(dir string) error {
	err := disk.Remove(dir)
	if errors.Is(err, syscall.ENOTEMPTY) || errors.Is(err, syscall.EEXIST) {
		return nil
	}
	return err
}
