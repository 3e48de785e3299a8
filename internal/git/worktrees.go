package git

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Worktree is a working tree of a repository. ID is the name of its directory in worktrees/, empty
// for the main one.
type Worktree struct{ Root, ID string }

// WorktreeRoots returns the roots of Worktrees.
func WorktreeRoots(r *Repo) []string {
	worktrees := Worktrees(r)
	roots := make([]string, len(worktrees))
	for i, w := range worktrees {
		roots[i] = w.Root
	}
	return roots
}

// Worktrees returns the working trees recorded in the repository, this one first and then the main
// one, whether or not they exist.
func Worktrees(r *Repo) []Worktree {
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
		if root, found := WorktreeRoot(r, e.Name()); found && e.Name() != r.WorktreeID {
			add(Worktree{root, e.Name()})
		}
	}
	return list
}

// WorktreeRoot returns the root of a linked working tree by its id; false if none is recorded. Git
// may record a path relative to its own directory.
func WorktreeRoot(r *Repo, id string) (root string, found bool) {
	dir := filepath.Join(r.CommonDir, "worktrees", filepath.Base(id))
	data, err := os.ReadFile(filepath.Join(dir, "gitdir"))
	return filepath.Dir(absolute(dir, strings.TrimSpace(string(data)))), err == nil
}

// AddWorktree creates a working tree in dir, which must be empty or not exist, on a new branch that
// starts at a commit. Unless checkout is set, the worktree has no files and no index, and no hooks
// run. It returns the id of the worktree.
func AddWorktree(ctx context.Context, r *Repo, dir, branch string, commit OID, checkout bool) (id string, err error) {
	if !ValidBranch(branch) || !filepath.IsAbs(dir) {
		return "", fmt.Errorf("add the worktree %q on %q: not a path and a branch", dir, branch)
	}
	if err := disk.Step("worktree-add", dir); err != nil {
		return "", err
	}
	q := Command{LazyFetch: true, Args: []string{"-c", SyncAll}}
	if !checkout {
		q.Args = append(q.Args, "-c", "core.hooksPath="+os.DevNull)
	}
	q.Args = append(q.Args, "worktree", "add", "--quiet")
	if !checkout {
		q.Args = append(q.Args, "--no-checkout")
	}
	q.Args = append(q.Args, "-b", branch, dir, string(commit))
	if _, err := r.Do(ctx, q); err != nil {
		return "", err
	}
	return WorktreeAt(r, dir), nil
}

// WorktreeAt returns the id of the worktree in dir, as recorded in its .git file. It returns "" if
// there is no worktree of this repository.
func WorktreeAt(r *Repo, dir string) string {
	data, err := os.ReadFile(filepath.Join(dir, ".git"))
	if err != nil {
		return ""
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	if !ok || filepath.Dir(target) != filepath.Join(r.CommonDir, "worktrees") {
		return ""
	}
	return filepath.Base(target)
}

// RemoveWorktree removes the working tree in dir with all its files, and its records in the
// repository. A worktree that the user locked is not removed.
func RemoveWorktree(ctx context.Context, r *Repo, dir string) error {
	if err := disk.Step("worktree-remove", dir); err != nil {
		return err
	}
	_, err := r.Run(ctx, "worktree", "remove", "--force", dir)
	return err
}

// ResetIndex resets the index to HEAD, and refreshes it from the working tree's files, as `git
// reset` does.
func ResetIndex(ctx context.Context, r *Repo) error {
	if err := disk.Step("reset-index", r.Root); err != nil {
		return err
	}
	_, err := r.Do(ctx, Command{LazyFetch: true, Args: []string{"-c", SyncAll, "reset", "--quiet", "--mixed"}})
	return err
}

// CheckoutTracked writes those files of the index at or below a path that the working tree doesn't
// have.
func CheckoutTracked(ctx context.Context, r *Repo, path string) error {
	if err := disk.Step("checkout", r.Root); err != nil {
		return err
	}
	names, err := r.Run(ctx, "--literal-pathspecs", "ls-files", "-z", "--", path)
	if err != nil || len(names) == 0 {
		return err
	}
	_, err = r.Do(ctx, Command{LazyFetch: true, Args: []string{"checkout-index", "--quiet", "-z", "--stdin"}, Stdin: bytes.NewReader(names)})
	return err
}

// RestoreFrom restores the tracked files of the working tree from a commit, except those below the
// paths in leftOut; the index and HEAD don't change.
func RestoreFrom(ctx context.Context, r *Repo, commit OID, leftOut ...string) error {
	if err := disk.Step("restore", r.Root); err != nil {
		return err
	}
	args := []string{"restore", "--quiet", "--source=" + string(commit), "--worktree", "--", ":/"}
	for _, path := range leftOut {
		args = append(args, ":(top,exclude,literal)"+path)
	}
	_, err := r.Do(ctx, Command{LazyFetch: true, Args: args})
	return err
}
