package health

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
)

// maxForgottenPath limits the length of the path of a file to forget.
const maxForgottenPath = 4096

// fileToForget returns the slash path of a file relative to the root of the worktree. The file need
// not exist: symbolic links are resolved in the part of its directory that does.
func fileToForget(a *app.App, repo *git.Repo, path string) (string, error) {
	if strings.HasSuffix(path, "/") {
		return "", app.Usagef("--file: %q names a directory, not a file", path)
	}
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(a.Dir, full)
	}
	full, err := filepath.Abs(full)
	if err != nil {
		return "", fmt.Errorf("find the working directory: %w", err)
	}
	if info, err := os.Lstat(full); err == nil && info.IsDir() {
		return "", app.Usagef("--file: %q is a directory, not a file", path)
	}
	full = filepath.Join(disk.Physical(filepath.Dir(full)), filepath.Base(full)) // a symlink is a file of its own
	rel, err := filepath.Rel(disk.Physical(repo.Root), full)
	if err != nil || rel == "." || !filepath.IsLocal(rel) {
		return "", app.Usagef("--file: %q is outside the worktree", path)
	}
	if len(rel) > maxForgottenPath {
		return "", app.Usagef("--file: the path is longer than %d bytes", maxForgottenPath)
	}
	return filepath.ToSlash(rel), nil
}
