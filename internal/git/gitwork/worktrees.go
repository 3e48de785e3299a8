package gitwork

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/internal/git"
)

// Worktree is a working tree of a repository. ID is the name of its directory in
// worktrees/, empty for the main one.
type Worktree struct{ Root, ID string }

// Roots returns the roots of Worktrees.
func Roots(r *git.Repo) []string {
	worktrees := Worktrees(r)
	roots := make([]string, len(worktrees))
	for i, w := range worktrees {
		roots[i] = w.Root
	}
	return roots
}

// Worktrees returns the working trees that the repository's files name, this one
// first and then the main one, whether or not they are there.
func Worktrees(r *git.Repo) []Worktree {
	var list []Worktree
	add := func(w Worktree) {
		if w.Root != "" {
			list = append(list, w)
		}
	}
	add(Worktree{r.Root, r.WorktreeID})
	if r.WorktreeID != "" {
		add(Worktree{Root: r.MainRoot()})
	}
	dir := filepath.Join(r.CommonDir, "worktrees")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return list
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name(), "gitdir"))
		if err == nil && e.Name() != r.WorktreeID {
			add(Worktree{filepath.Dir(strings.TrimSpace(string(data))), e.Name()})
		}
	}
	return list
}
