//go:build faults

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestCrashAutoCommit stops the hooks of a turn's commit at every write. The next stop commits
// the rest and leaves none of it in the index.
func TestCrashAutoCommit(t *testing.T) {
	t.Parallel()
	bin := buildFaulty(t)
	for _, hook := range []string{"stop", "post-commit"} {
		t.Run(hook, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(t.TempDir(), "root")
			ready := newPlay(t, root, bin, "plain")
			ready.Entire("enable", "--strategy", "auto-commit")
			ready.Write("theirs.txt", "the user's\n")
			ready.git("add", "theirs.txt")
			ready.main().Prompt("Please write a.txt and change README.md.")
			ready.writes("main", "a.txt")
			ready.main().Edit("README.md", "line 7\n", "line seven\n")
			copyAll(t, root, root+".kept")
			points := 0
			for step := 1; stopCommit(t, ready.copyFor(t), hook, step); step++ {
				points++
				copyAll(t, root+".kept", root)
			}
			t.Logf("%d points", points)
			if points < 8 {
				t.Errorf("only %d points", points)
			}
		})
	}
}

// stopCommit ends the turn with its hook stopped at the step, ends another turn, and reports
// whether the hook reached the step.
func stopCommit(t *testing.T, p *play, hook string, step int) bool {
	t.Helper()
	stop := func() {
		s := p.main()
		s.Shared = true
		s.Stop()
	}
	mark := p.during(hook, fmt.Sprintf("crash:%d", step), stop)
	_ = os.Remove(filepath.Join(p.root, "mark"))
	p.main().Prompt("Please end it.")
	stop()
	where := "stopped at " + mark
	if got := p.Git("status", "--porcelain", "--", "*.txt", "*.md"); got != "A  theirs.txt" {
		t.Errorf("%s: status is\n%s", where, got)
	}
	if got := p.Git("show", "--name-only", "--format=", "HEAD"); got != "README.md\na.txt" {
		t.Errorf("%s: committed is\n%s", where, got)
	}
	if got := p.pending("main"); len(got) > 0 {
		t.Errorf("%s: pending %q", where, got)
	}
	if _, err := os.Lstat(filepath.Join(p.common, "entire", "commit-e3b0c4.json")); err == nil {
		t.Errorf("%s: the note of new files is still there", where)
	}
	for _, fault := range p.broken() {
		t.Errorf("%s: %s", where, fault)
	}
	return mark != "" && !t.Failed()
}
