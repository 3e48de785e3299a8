//go:build faults

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestCrashSeveral stops the hooks of a turn that changes another repository at every write. The turn after it is
// recorded in both, the commits are linked in both, and no token counts twice. Only the commit whose
// prepare-commit-msg was killed has no link, as in the repository in which a session starts.
func TestCrashSeveral(t *testing.T) {
	t.Parallel()
	bin := buildFaulty(t)
	there := func(s together, name string) string { return filepath.Join(s.other.Dir, name) }
	find := func(s together) { // the turn in which the session comes to the other repository
		s.p.main().Prompt("Please change both.")
		s.p.main().Write("c.txt", "one\n")
		s.p.main().Write(there(s, "c.txt"), "one\n")
	}
	cases := map[string]struct {
		hook     string
		before   func(s together)
		stopped  func(s together)
		expected []string // the files that are committed there
	}{
		"found at the stop": {"stop", find, func(s together) { s.p.main().Stop() }, []string{"c.txt"}},
		"prompt in both": {"user-prompt-submit", func(s together) {
			find(s)
			s.p.main().Stop()
		}, func(s together) {
			s.p.main().Prompt("Please go on.")
			s.p.main().Write(there(s, "d.txt"), "two\n")
			s.p.main().Stop()
		}, []string{"c.txt", "d.txt"}},
		"found at a commit": {"prepare-commit-msg", find, func(s together) {
			s.p.main().Bash("cd " + s.other.Dir + " && git add c.txt && git commit -qm c")
			s.p.main().Stop()
		}, nil},
		"commit": {"post-commit", find, func(s together) {
			s.p.main().Bash("cd " + s.other.Dir + " && git add c.txt && git commit -qm c")
			s.p.main().Stop()
		}, nil},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(t.TempDir(), "root")
			p := newPlay(t, root, bin, "plain")
			other, _ := testkit.NewRepo(t, filepath.Join(root, "w2"), "plain", p.Env)
			other.Write("old.txt", "old\n")
			other.Entire("enable", "--agent", "claude-code")
			other.Git("add", "old.txt")
			other.Git("commit", "-q", "-m", "set up")
			p.main().Start("startup")
			c.before(together{p: p, other: other})
			copyAll(t, root, root+".kept")
			points := 0
			for step := 1; ; step++ {
				s := together{p: p.copyFor(t), other: other.For(t)}
				mark := s.p.during(c.hook, fmt.Sprintf("crash:%d", step), func() { c.stopped(s) })
				if err := os.Remove(filepath.Join(root, "mark")); err != nil {
					break
				}
				points++
				s.check(t, "stopped at "+mark, c.expected, c.hook == "prepare-commit-msg")
				copyAll(t, root+".kept", root)
				if t.Failed() {
					break
				}
			}
			fmt.Printf("%s: %d points\n", t.Name(), points)
			if points < 8 {
				t.Errorf("only %d points", points)
			}
		})
	}
}

// check plays another turn, commits everything in both repositories, and checks the records.
func (s together) check(t *testing.T, where string, expected []string, undecided bool) {
	t.Helper()
	s.p.main().Prompt("Please end it.")
	s.p.main().Write("last.txt", "last\n")
	s.p.main().Write(filepath.Join(s.other.Dir, "last.txt"), "last\n")
	s.p.main().Stop()
	for _, repo := range []*testkit.Repo{s.p.Repo, s.other} {
		repo.Git("add", "-A", "--", "*.txt")
		repo.Git("commit", "-q", "-m", "everything")
		stored := repo.Stored()
		for _, commit := range strings.Fields(repo.Git("log", "--format=%H", "--grep=set up", "--invert-grep", "--", "c.txt", "d.txt", "last.txt")) {
			id := strings.TrimSpace(repo.Git("log", "-1", "--format=%(trailers:key=Entire-Checkpoint,valueonly)", commit))
			if id == "" && undecided && repo.Git("log", "-1", "--format=%s", commit) == "c" {
				continue
			}
			if id == "" || stored[id] == nil {
				t.Errorf("%s: commit %s of %s has checkpoint %q, which is stored: %v", where, commit[:7], repo.Dir, id, stored[id] != nil)
			}
		}
	}
	if id := strings.TrimSpace(s.other.Git("log", "-1", "--format=%(trailers:key=Entire-Checkpoint,valueonly)")); s.other.Stored()[id] != nil {
		files := s.other.Stored()[id].Summary.FilesTouched
		for _, name := range append(slices.Clone(expected), "last.txt") {
			if !slices.Contains(files, name) {
				t.Errorf("%s: %s is not the session's in %q", where, name, files)
			}
		}
	}
	var sum testkit.Usage
	for _, repo := range []*testkit.Repo{s.p.Repo, s.other} {
		for _, c := range repo.Stored() {
			for _, slot := range c.Slots {
				sum = sum.Add(slot.Meta.TokenUsage.Usage())
			}
		}
	}
	if total := s.p.main().Transcript.Total(); sum != total {
		t.Errorf("%s: tokens are %v, the transcript has %v", where, sum, total)
	}
	for _, fault := range slices.Concat(s.p.broken(), testkit.Faults(t, s.other)) {
		if !strings.HasSuffix(fault, " git processes") && !strings.Contains(fault, "/objects/tmp_obj_") {
			t.Errorf("%s: %s", where, fault)
		}
	}
}
