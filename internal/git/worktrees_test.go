package git_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// Git records paths relative to its own directory if worktree.useRelativePaths is set.
func TestWorktreesWithRelativePaths(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	s.Git(dir, "worktree", "add", "-q", "--detach", s.Path("there"))
	repo := s.Open(dir)
	want := []git.Worktree{{Root: dir}, {Root: s.Path("there"), ID: "there"}}
	if diff := cmp.Diff(want, git.Worktrees(repo)); diff != "" {
		t.Error(diff)
	}
	gitdir := filepath.Join(dir, ".git", "worktrees", "there", "gitdir")
	if err := os.WriteFile(gitdir, []byte("../../../../there/.git\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, git.Worktrees(repo)); diff != "" {
		t.Error(diff)
	}
}
