package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// MakeFolder creates the directory name below .entire in the worktree root, with mode perm, and returns
// its path. If it creates .entire itself, in a worktree that was never enabled, it makes git ignore
// all of it. The root is not created, and a symbolic link on the way is an error, as it would lead
// out of the worktree.
func MakeFolder(root, name string, perm fs.FileMode) (string, error) {
	top := filepath.Join(root, ".entire")
	switch err := os.Mkdir(top, 0o755); {
	case err == nil:
		if err := disk.WriteCache(filepath.Join(top, ".gitignore"), []byte("*\n"), 0o644); err != nil {
			return "", fmt.Errorf("make %s: %w", top, err)
		}
	case !errors.Is(err, fs.ErrExist):
		return "", fmt.Errorf("make %s: %w", top, err)
	}
	if err := checkFolder(top); err != nil {
		return "", err
	}
	dir := filepath.Join(top, name)
	if err := os.Mkdir(dir, perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make %s: %w", dir, err)
	}
	return dir, checkFolder(dir)
}

func checkFolder(path string) error {
	if info, err := os.Lstat(path); err != nil || !info.IsDir() {
		return errors.Join(err, fmt.Errorf("%s is not a folder", path))
	}
	return nil
}
