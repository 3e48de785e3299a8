package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Folder is where hooks write logs and other small files of a worktree: .entire in the worktree or,
// if only the user's settings for the machine enable recording, a folder in the git directory, so
// that nothing new is in the tree.
type Folder struct {
	base  string   // the worktree or the git directory, which must exist
	names []string // from there
	// isInTree reports that the folder is in the worktree.
	isInTree bool
}

// WorktreeFolder returns the folder in the worktree root.
func WorktreeFolder(root string) Folder {
	return Folder{base: root, names: []string{".entire"}, isInTree: true}
}

// GitFolder returns the folder in the git directory of a repository for the worktree with this hash.
func GitFolder(commonDir, worktree string) Folder {
	return Folder{base: commonDir, names: []string{"entire", "worktree", worktree}}
}

// FolderOf returns the folder of a worktree at a level: of a worktree that nothing enables, the one
// in the worktree if it exists, else the one in the git directory.
func FolderOf(level Level, root, commonDir, worktree string) Folder {
	switch level {
	case Repository, Marker:
		return WorktreeFolder(root)
	case Machine:
	case NoLevel:
		if _, err := os.Lstat(filepath.Join(root, ".entire")); err == nil {
			return WorktreeFolder(root)
		}
	}
	return GitFolder(commonDir, worktree)
}

// IsInTree reports whether the folder is in the worktree.
func (f Folder) IsInTree() bool { return f.isInTree }

// Path returns the path of a file or directory in the folder.
func (f Folder) Path(names ...string) string {
	return filepath.Join(append(append([]string{f.base}, f.names...), names...)...)
}

// Make creates the directory name in the folder, with mode perm, and returns its path. If it creates
// .entire itself, in a worktree that was never enabled, it makes git ignore all of it. The worktree
// and the git directory are not created, and a symbolic link on the way is an error, as it would lead
// elsewhere.
func (f Folder) Make(name string, perm fs.FileMode) (string, error) {
	dir := f.base
	for _, n := range f.names {
		dir = filepath.Join(dir, n)
		mode := fs.FileMode(0o700)
		if f.isInTree {
			mode = 0o755
		}
		isNew, err := makeOne(dir, mode)
		if err == nil && isNew && f.isInTree {
			err = disk.WriteCache(filepath.Join(dir, ".gitignore"), []byte("*\n"), 0o644)
		}
		if err != nil {
			return "", fmt.Errorf("make %s: %w", dir, err)
		}
	}
	dir = filepath.Join(dir, name)
	if _, err := makeOne(dir, perm); err != nil {
		return "", fmt.Errorf("make %s: %w", dir, err)
	}
	return dir, nil
}

// makeOne creates a directory unless it exists.
func makeOne(dir string, perm fs.FileMode) (isNew bool, err error) {
	err = os.Mkdir(dir, perm)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	isNew = err == nil
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() {
		return false, errors.Join(err, fmt.Errorf("%s is not a folder", dir))
	}
	return isNew, nil
}
