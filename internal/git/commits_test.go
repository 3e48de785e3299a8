package git_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
)

func TestCommitsAreThoseOfLog(t *testing.T) {
	t.Parallel()
	formats(t, func(t *testing.T, s *sandbox, dir string) {
		s.git(dir, "config", "log.showSignature", "true")
		s.git(dir, "commit", "-q", "--allow-empty", "-m", "zwei: Grüße\n\n  indented\n\nKey: value")
		s.git(dir, "commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
		r := s.open(dir)
		got := must[[]git.Commit](t)(r.Commits(t.Context(), "--max-count=3", "HEAD"))
		want := must[[]git.Commit](t)(r.Log(t.Context(), "HEAD", 3))
		for i := range want { // what git prints ends with a newline
			got[i].Message = trimNewlines(got[i].Message)
			want[i].Message = trimNewlines(want[i].Message)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if _, err := r.Commits(t.Context(), "nope"); err == nil {
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
	s := newSandbox(t)
	dir := s.init("origin")
	for range 3 {
		s.git(dir, "commit", "-q", "--allow-empty", "-m", "more")
	}
	s.git(s.dir, "clone", "-q", "--depth", "2", "file://"+dir, "clone")
	if got := must[[]git.Commit](t)(s.open(s.path("clone")).Commits(t.Context(), "HEAD")); len(got) != 2 {
		t.Errorf("%d commits, want 2", len(got))
	}
}

func TestDefaultBranch(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		prepare func(s *sandbox, dir string) string
		want    string
	}{
		"main":   {func(_ *sandbox, dir string) string { return dir }, "refs/heads/main"},
		"master": {func(s *sandbox, dir string) string { s.git(dir, "branch", "-m", "master"); return dir }, "refs/heads/master"},
		"none":   {func(s *sandbox, dir string) string { s.git(dir, "branch", "-m", "x"); return dir }, ""},
		"the remote's, here": {func(s *sandbox, dir string) string {
			s.git(dir, "branch", "-m", "trunk")
			s.git(s.dir, "clone", "-q", dir, "clone")
			return s.path("clone")
		}, "refs/heads/trunk"},
		"the remote's, not here": {func(s *sandbox, dir string) string {
			s.git(dir, "branch", "-m", "trunk")
			s.git(s.dir, "clone", "-q", dir, "clone")
			s.git(s.path("clone"), "branch", "-m", "topic")
			return s.path("clone")
		}, "refs/remotes/origin/trunk"},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			dir := c.prepare(s, s.init("r"))
			if got := must[string](t)(s.open(dir).DefaultBranch(t.Context())); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
