package git_test

import (
	"os"
	"testing"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// TestLinesRefusesOptions checks that git never treats a revision as an option.
func TestLinesRefusesOptions(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("repo")
	s.Write(dir, "a.txt", "one\n")
	s.Git(dir, "add", "a.txt")
	s.Git(dir, "commit", "-q", "-m", "one")
	r := s.Open(dir)
	for _, rev := range []string{"-s", "--porcelain", "--contents=/etc/passwd", "--output=" + s.Path("made")} {
		if lines, err := git.Blame(t.Context(), r, git.BlameRequest{Rev: rev, Path: "a.txt"}); err == nil {
			t.Errorf("%s: %v", rev, lines)
		}
	}
	if _, err := os.Lstat(s.Path("made")); err == nil {
		t.Error("git has written a file")
	}
	lines, err := git.Blame(t.Context(), r, git.BlameRequest{Rev: "HEAD", Path: "a.txt"})
	if err != nil || len(lines) != 1 {
		t.Errorf("HEAD: %v, %v", lines, err)
	}
}
