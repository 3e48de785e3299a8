package workspace

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
)

// RelativePaths returns those of the absolute paths that are in this worktree, relative to its
// root.
func (w *Workspace) RelativePaths(paths []string) map[string]bool {
	in := make(map[string]bool, len(paths))
	for _, p := range paths {
		if rel, ok := RelativePath(w.Repo, p); ok {
			in[rel] = true
		}
	}
	return in
}

// RelativePath returns an absolute path relative to the worktree's root; false if it is
// outside or belongs to this program.
func RelativePath(repo *git.Repo, path string) (string, bool) {
	rel, ok := repo.Rel(path)
	return rel, ok && !strings.HasPrefix(rel, ".entire/")
}

// ContainsPath reports whether a sorted list has the path. The search is binary, as a turn may
// change ten thousand files.
func ContainsPath(sorted []string, path string) bool {
	_, found := slices.BinarySearch(sorted, path)
	return found
}

// HasFile reports whether the worktree has the path.
func (w *Workspace) HasFile(path string) bool {
	_, err := os.Lstat(filepath.Join(w.Repo.Root, filepath.FromSlash(path)))
	return git.ValidPath(path) && err == nil
}

// ClockSlack bounds the difference between the clocks of a transcript and of the file system.
const ClockSlack = 50 * time.Millisecond

// RemovalTime returns the change time of the nearest existing directory above a removed path.
func RemovalTime(root, p string) time.Time {
	for p != "." {
		p = path.Dir(p)
		if info, err := os.Lstat(filepath.Join(root, filepath.FromSlash(p))); err == nil {
			return disk.Changed(info)
		}
	}
	return time.Time{}
}

// IsDir reports whether an entry of a snapshot, which may be nil, is a directory.
func IsDir(e *band.Entry) bool { return e != nil && e.Kind == band.Dir }
