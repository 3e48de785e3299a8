package git_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
)

// TestValidBranchAgreesWithGit checks that no name that git refuses is accepted.
func TestValidBranchAgreesWithGit(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	dir := s.Init("r")
	names := map[string]bool{
		"main": true, "a/b": true, "fix-1.2": true, "ä": true, "a@b": true, "a{b": true,
		"": false, "-x": false, "@": false, "HEAD": false, "HEAD~3": false, "main^": false, "a..b": false, "a//b": false,
		"/a": false, "a/": false, "a.lock": false, "a.lock/b": false, ".a": false, "a/.b": false, "a.": false, "a b": false,
		"a@{1}": false, "a:b": false, "a*": false, "a?": false, "a[b": false, `a\b`: false, "a\x7f": false, "a\n": false,
	}
	for name, want := range names {
		got := git.ValidBranch(name)
		if got != want {
			t.Errorf("%q: %t", name, got)
		}
		if _, err := s.Try(dir, "", "check-ref-format", "--branch", name); got && err != nil {
			t.Errorf("git refuses %q", name)
		}
	}
}

func TestFirstParentsEndAtOtherBranches(t *testing.T) {
	t.Parallel()
	gittest.Formats(t, func(t *testing.T, s *gittest.Sandbox, dir string) {
		s.Git(dir, "switch", "-q", "-c", "feature")
		s.Git(dir, "commit", "-q", "--allow-empty", "-m", "one")
		s.Git(dir, "switch", "-q", "main")
		s.Git(dir, "commit", "-q", "--allow-empty", "-m", "other")
		s.Git(dir, "switch", "-q", "feature")
		s.Git(dir, "merge", "-q", "-m", "merge", "main")
		s.Git(dir, "commit", "-q", "--allow-empty", "-m", "two")
		r := s.Open(dir)
		tip := gittest.Must[git.Commit](t)(r.Commit(t.Context(), "feature")).OID
		main := gittest.Must[git.Commit](t)(r.Commit(t.Context(), "main")).OID
		for n, want := range map[int]string{10: "two merge one", 2: "two merge"} {
			var got []string
			for _, c := range gittest.Must[[]git.Commit](t)(git.FirstParents(t.Context(), r, tip, []git.OID{main}, n)) {
				got = append(got, strings.TrimSpace(c.Message))
			}
			if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		}
	})
}

func TestSwitchRefusesNonBranch(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	r := s.Open(s.Init("r"))
	for _, name := range []string{"", "-f", "HEAD~1", "nope"} {
		if err := git.SwitchBranch(t.Context(), r, name); err == nil {
			t.Errorf("switched to %q", name)
		}
	}
	if err := git.SwitchTracking(t.Context(), r, "x", "main"); err == nil {
		t.Error("tracks a local branch")
	}
}

func TestSwitchTrackingAndRemotes(t *testing.T) {
	t.Parallel()
	s := gittest.New(t)
	origin := s.Init("origin")
	s.Git(origin, "branch", "feature")
	s.Git(s.Path(), "clone", "-q", origin, "clone")
	r := s.Open(s.Path("clone"))
	if diff := cmp.Diff([]string{"origin"}, gittest.Must[[]string](t)(git.Remotes(t.Context(), r))); diff != "" {
		t.Error(diff)
	}
	for remote, want := range map[string]string{"origin": "main", "other": ""} {
		if got := gittest.Must[string](t)(git.RemoteHead(t.Context(), r, remote)); got != want {
			t.Errorf("%s: %q", remote, got)
		}
	}
	if err := git.SwitchTracking(t.Context(), r, "feature", "refs/remotes/origin/feature"); err != nil {
		t.Fatal(err)
	}
	if got := gittest.Must[string](t)(git.HeadBranch(t.Context(), r)); got != "feature" {
		t.Errorf("on %q", got)
	}
	if got := s.Git(s.Path("clone"), "rev-parse", "--abbrev-ref", "@{upstream}"); strings.TrimSpace(got) != "origin/feature" {
		t.Errorf("tracks %q", got)
	}
	if err := git.SwitchBranch(t.Context(), r, "main"); err != nil {
		t.Fatal(err)
	}
}
