package git_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
)

// TestCommitsCarrying makes commits reachable in each of the ways in which git
// keeps commits, reflogs switched off, and searches for them.
func TestCommitsCarrying(t *testing.T) {
	t.Parallel()
	formats(t, func(t *testing.T, s *sandbox, dir string) {
		s.git(dir, "config", "core.logAllRefUpdates", "false")
		_ = os.RemoveAll(filepath.Join(dir, ".git", "logs"))
		first := s.git(dir, "rev-parse", "HEAD")
		commit := func(in, text string) string {
			s.git(in, "commit", "-q", "--allow-empty", "-m", "subject\n\nKey: "+text)
			return s.git(in, "rev-parse", "HEAD")
		}
		s.git(dir, "checkout", "-q", "-b", "other")
		commit(dir, "branch")
		s.git(dir, "checkout", "-q", "main")
		linked := s.path("linked")
		s.git(dir, "worktree", "add", "-q", "--detach", linked)
		commit(linked, "detached")
		noted := commit(linked, "noted")
		s.git(linked, "reset", "-q", "--hard", "HEAD~1")
		s.git(linked, "reset", "-q", "--hard", "HEAD") // ORIG_HEAD leads elsewhere
		sequence := filepath.Join(dir, ".git", "worktrees", "linked", "rebase-merge")
		if err := os.MkdirAll(sequence, 0o755); err != nil {
			t.Fatal(err)
		}
		s.write(sequence, "git-rebase-todo", "pick "+noted+" subject\nexec true\n")
		s.git(dir, "branch", "entire/checkpoints/v1", first)
		commit(dir, "gone")
		s.git(dir, "reset", "-q", "--hard", first)
		s.git(dir, "update-ref", "ORIG_HEAD", first)

		r := s.open(dir)
		search := func(since time.Time, texts ...string) []string {
			var found []string
			for _, c := range must[[]git.Commit](t)(r.CommitsCarrying(t.Context(), since, texts...)) {
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

// TestCommitsCarryingORIGHEAD finds a commit that only ORIG_HEAD or a reflog
// still names.
func TestCommitsCarryingORIGHEAD(t *testing.T) {
	t.Parallel()
	for _, reflogs := range []string{"true", "false"} {
		s := newSandbox(t)
		dir := s.init("r")
		s.git(dir, "config", "core.logAllRefUpdates", reflogs)
		s.git(dir, "commit", "-q", "--allow-empty", "-m", "subject\n\nKey: x")
		s.git(dir, "reset", "-q", "--hard", "HEAD~1")
		if reflogs == "true" {
			s.git(dir, "update-ref", "-d", "ORIG_HEAD")
		} else if err := os.RemoveAll(filepath.Join(dir, ".git", "logs")); err != nil {
			t.Fatal(err)
		}
		if got := must[[]git.Commit](t)(s.open(dir).CommitsCarrying(t.Context(), time.Time{}, "Key: x")); len(got) != 1 {
			t.Errorf("reflogs %s: %d commits", reflogs, len(got))
		}
	}
}

// TestCommitsCarryingOfNothing searches a repository without commits.
func TestCommitsCarryingOfNothing(t *testing.T) {
	t.Parallel()
	s := newSandbox(t)
	dir := s.mkdir("empty")
	s.git(dir, "init", "-q")
	if got := must[[]git.Commit](t)(s.open(dir).CommitsCarrying(t.Context(), time.Time{}, "Key: x")); len(got) != 0 {
		t.Errorf("found %v", got)
	}
}
