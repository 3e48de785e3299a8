package workspace

import (
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/git"
)

// HasFile says whether the worktree has the path.
func (r *Files) HasFile(path string) bool {
	_, err := os.Lstat(filepath.Join(r.Repo.Root, filepath.FromSlash(path)))
	return git.ValidPath(path) && err == nil
}
