//go:build faults

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCrashDueBrief stops the start of a session and its first prompt at every write, between
// the record that a brief is due and the output of the prompt's hook. The brief is given at
// most once: by the next prompt if the record is left.
func TestCrashDueBrief(t *testing.T) {
	t.Parallel()
	bin := buildFaulty(t)
	for name, c := range map[string]struct {
		hook  string
		least int
	}{
		"the start":        {"session-start", 2},
		"the first prompt": {"user-prompt-submit", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(t.TempDir(), "root")
			ready := newPlay(t, root, bin, "plain")
			ready.main().Live()
			defer ready.main().Die()
			ready.turn("main", "a.txt")
			ready.clearMain()
			if c.hook != "session-start" {
				ready.after("next").Start("clear")
			}
			copyAll(t, root, root+".kept")
			points := 0
			for step := 1; ; step++ {
				mark := ready.copyFor(t).stopBrief(t, c.hook, step)
				copyAll(t, root+".kept", root)
				if mark == "" || t.Failed() {
					break
				}
				points++
			}
			t.Logf("%d points", points)
			if points < c.least {
				t.Errorf("only %d points", points)
			}
		})
	}
}

// stopBrief stops a hook at a step and sends two prompts that continue the work.
func (p *play) stopBrief(t *testing.T, hook string, step int) (mark string) {
	t.Helper()
	const prompt = "Now add a test for a.txt, please."
	given := 0
	count := func(out string) {
		if strings.Contains(out, "Resumed from checkpoint: ") && strings.Contains(out, "worktree ") {
			given++
		}
	}
	mark = p.during(hook, fmt.Sprintf("crash:%d", step), func() {
		if hook == "session-start" {
			p.after("next").Start("clear")
		} else {
			count(p.after("next").Prompt(prompt).Stdout)
		}
	})
	next := p.after("next")
	where := fmt.Sprintf("stopped at step %d: %s", step, mark)
	if hook == "session-start" {
		if said := next.Brief("clear").Stdout; step > 0 && strings.Contains(said, "worktree ") {
			t.Errorf("%s\nthe other hook of the start gives the whole brief: %s", where, said)
		}
		next.Start("clear")
	}
	_, err := os.Lstat(filepath.Join(p.CommonDir(), "entire", "sessions", next.ID+".prompt-brief"))
	due := err == nil
	for range 2 {
		count(next.Prompt(prompt).Stdout)
		next.Stop()
	}
	switch {
	case given > 1:
		t.Errorf("%s\nthe brief is given %d times", where, given)
	case given == 0 && due:
		t.Errorf("%s\nthe brief is due and not given; log:\n%s", where, p.complaints())
	case given == 0 && hook == "session-start":
		t.Errorf("%s\nthe brief is not given; log:\n%s", where, p.complaints())
	}
	return mark
}
