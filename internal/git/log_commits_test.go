package git_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

func TestCommitsMatchLog(t *testing.T) {
	t.Parallel()
	gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
		s.Git(dir, "config", "log.showSignature", "true")
		s.Git(dir, "commit", "-q", "--allow-empty", "-m", "zwei: Grüße\n\n  indented\n\nKey: value")
		s.Git(dir, "commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
		r := s.Open(dir)
		got := gittest.Must[[]git.Commit](t)(git.Commits(t.Context(), r, "--max-count=3", "HEAD"))
		want := gittest.Must[[]git.Commit](t)(git.LastCommits(t.Context(), r, "HEAD", 3))
		for i := range want { // git's output ends with a newline
			got[i].Message = trimNewlines(got[i].Message)
			want[i].Message = trimNewlines(want[i].Message)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if _, err := git.Commits(t.Context(), r, "nope"); err == nil {
			t.Error("no such revision, no error")
		}
	})
}

func trimNewlines(s string) string {
	for s != "" && s[len(s)-1] == '\n' {
		s = s[:len(s)-1]
	}
	return s
}

func TestCommitsOfAShallowClone(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("origin")
	for range 3 {
		s.Git(dir, "commit", "-q", "--allow-empty", "-m", "more")
	}
	s.Git(s.Dir, "clone", "-q", "--depth", "2", "file://"+dir, "clone")
	if got := gittest.Must[[]git.Commit](t)(git.Commits(t.Context(), s.Open(s.Path("clone")), "HEAD")); len(got) != 2 {
		t.Errorf("%d commits, want 2", len(got))
	}
}

func TestDefaultBranch(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		prepare func(s *gittest.Sandbox, dir string) string
		want    string
	}{
		"main":   {func(_ *gittest.Sandbox, dir string) string { return dir }, "refs/heads/main"},
		"master": {func(s *gittest.Sandbox, dir string) string { s.Git(dir, "branch", "-m", "master"); return dir }, "refs/heads/master"},
		"none":   {func(s *gittest.Sandbox, dir string) string { s.Git(dir, "branch", "-m", "x"); return dir }, ""},
		"the remote's, here": {func(s *gittest.Sandbox, dir string) string {
			s.Git(dir, "branch", "-m", "trunk")
			s.Git(s.Dir, "clone", "-q", dir, "clone")
			return s.Path("clone")
		}, "refs/heads/trunk"},
		"the remote's, not here": {func(s *gittest.Sandbox, dir string) string {
			s.Git(dir, "branch", "-m", "trunk")
			s.Git(s.Dir, "clone", "-q", dir, "clone")
			s.Git(s.Path("clone"), "branch", "-m", "topic")
			return s.Path("clone")
		}, "refs/remotes/origin/trunk"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := gittest.New(t)
			dir := c.prepare(s, s.Init("r"))
			if got := gittest.Must[string](t)(git.DefaultBranch(t.Context(), s.Open(dir))); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
