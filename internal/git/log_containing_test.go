package git_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// TestCommitsContaining searches for commits that are reachable in each of the ways in which git
// keeps commits, without reflogs.
func TestCommitsContaining(t *testing.T) {
	t.Parallel()
	gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
		s.Git(dir, "config", "core.logAllRefUpdates", "false")
		_ = os.RemoveAll(filepath.Join(dir, ".git", "logs"))
		first := s.Git(dir, "rev-parse", "HEAD")
		commit := func(in, text string) string {
			s.Git(in, "commit", "-q", "--allow-empty", "-m", "subject\n\nKey: "+text)
			return s.Git(in, "rev-parse", "HEAD")
		}
		s.Git(dir, "checkout", "-q", "-b", "other")
		commit(dir, "branch")
		s.Git(dir, "checkout", "-q", "main")
		linked := s.Path("linked")
		s.Git(dir, "worktree", "add", "-q", "--detach", linked)
		commit(linked, "detached")
		noted := commit(linked, "noted")
		s.Git(linked, "reset", "-q", "--hard", "HEAD~1")
		s.Git(linked, "reset", "-q", "--hard", "HEAD") // ORIG_HEAD no longer names the noted commit
		sequence := filepath.Join(dir, ".git", "worktrees", "linked", "rebase-merge")
		if err := os.MkdirAll(sequence, 0o755); err != nil {
			t.Fatal(err)
		}
		s.Write(sequence, "git-rebase-todo", "pick "+noted+" subject\nexec true\n")
		s.Git(dir, "branch", "entire/checkpoints/v1", first)
		commit(dir, "gone")
		s.Git(dir, "reset", "-q", "--hard", first)
		s.Git(dir, "update-ref", "ORIG_HEAD", first)

		r := s.Open(dir)
		search := func(since time.Time, texts ...string) []string {
			var found []string
			for _, c := range gittest.Must[[]git.Commit](t)(git.CommitsContaining(t.Context(), r, since, texts...)) {
				found = append(found, c.Message[len("subject\n\nKey: "):len(c.Message)-1])
			}
			slices.Sort(found)
			return found
		}
		texts := []string{"Key: branch", "Key: detached", "Key: noted", "Key: gone"}
		if diff := cmp.Diff([]string{"branch", "detached", "noted"}, search(time.Time{}, texts...)); diff != "" {
			t.Error(diff)
		}
		if got := search(time.Unix(1700000101, 0), texts...); len(got) != 0 {
			t.Errorf("since a later time: %q", got)
		}
		if got := search(time.Unix(1700000100, 0), "Key: branch"); len(got) != 1 {
			t.Errorf("since its time: %q", got)
		}
		if got := search(time.Time{}); got != nil {
			t.Errorf("no text: %q", got)
		}
	})
}

// TestCommitsContainingOrigHead finds a commit that only ORIG_HEAD or a reflog names.
func TestCommitsContainingOrigHead(t *testing.T) {
	t.Parallel()
	for _, reflogs := range []string{"true", "false"} {
		s := gittest.New(t)
		dir := s.Init("r")
		s.Git(dir, "config", "core.logAllRefUpdates", reflogs)
		s.Git(dir, "commit", "-q", "--allow-empty", "-m", "subject\n\nKey: x")
		s.Git(dir, "reset", "-q", "--hard", "HEAD~1")
		if reflogs == "true" {
			s.Git(dir, "update-ref", "-d", "ORIG_HEAD")
		} else if err := os.RemoveAll(filepath.Join(dir, ".git", "logs")); err != nil {
			t.Fatal(err)
		}
		if got := gittest.Must[[]git.Commit](t)(git.CommitsContaining(t.Context(), s.Open(dir), time.Time{}, "Key: x")); len(got) != 1 {
			t.Errorf("reflogs %s: %d commits", reflogs, len(got))
		}
	}
}

// TestCommitsContainingOfNothing searches a repository without commits.
func TestCommitsContainingOfNothing(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Mkdir("empty")
	s.Git(dir, "init", "-q")
	if got := gittest.Must[[]git.Commit](t)(git.CommitsContaining(t.Context(), s.Open(dir), time.Time{}, "Key: x")); len(got) != 0 {
		t.Errorf("found %v", got)
	}
}
