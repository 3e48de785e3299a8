//go:build faults

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestCrashFork stops `entire fork` at every write, and then removes the rest with the command
// that the list names. Nothing is left over, and the original worktree is unchanged.
func TestCrashFork(t *testing.T) {
	t.Parallel()
	p := newPlay(t, filepath.Join(t.TempDir(), "root"), buildFaulty(t), "plain")
	scene := twoTurns(p, treeOf)
	points := stopEach(t, p, "fork", func(where string) {
		if out := p.Entire("fork", "list"); strings.Contains(out, "work-fork-1") {
			p.Entire("fork", "remove", "work-fork-1")
		}
		noFork(t, p, where)
		if treeOf(p) != scene.trees["late"] {
			t.Errorf("%s: the worktree was changed", where)
		}
	}, "fork", "now", filepath.Join(p.Dir, "..", "work-fork-1"), "-b", "fork-1")
	if points < 20 {
		t.Errorf("only %d points", points)
	}
}

// TestCrashForkRemove stops `entire fork remove` at every write: the fork is complete, or the
// same command removes the rest.
func TestCrashForkRemove(t *testing.T) {
	t.Parallel()
	p := newPlay(t, filepath.Join(t.TempDir(), "root"), buildFaulty(t), "plain")
	twoTurns(p, treeOf)
	dir := filepath.Join(p.Dir, "..", "work-fork-1")
	make := func() { p.Entire("fork", "now", dir, "-b", "fork-1") }
	make()
	points := stopEach(t, p, "fork", func(where string) {
		if _, err := os.Lstat(dir); err == nil {
			if text := p.Git("-C", dir, "status", "--porcelain"); !strings.Contains(text, "b.txt") {
				t.Errorf("%s: the fork is there, and not whole: %q", where, text)
			}
		}
		if out := p.Entire("fork", "list"); strings.Contains(out, "work-fork-1") {
			p.Entire("fork", "remove", "work-fork-1")
		}
		noFork(t, p, where)
		make()
	}, "fork", "remove", "work-fork-1")
	if points < 4 {
		t.Errorf("only %d points", points)
	}
}

// stopEach runs a command of entire repeatedly, each time stopped one write later, until it
// isn't stopped. It calls check after each stop.
func stopEach(t *testing.T, p *play, in string, check func(where string), args ...string) (points int) {
	t.Helper()
	mark := filepath.Join(p.root, "mark")
	for ; ; points++ {
		testkit.Call{Dir: p.Dir, Name: "entire", Args: args, Env: p.Env.With(
			fmt.Sprintf("ENTIRE_FAULT=crash:%d", points+1), "ENTIRE_FAULT_IN="+in, "ENTIRE_FAULT_MARK="+mark)}.Run(p.TB)
		if _, err := os.Lstat(mark); err != nil {
			t.Logf("%d points", points)
			return points
		}
		if err := os.Remove(mark); err != nil {
			t.Fatal(err)
		}
		check(fmt.Sprintf("stopped at step %d", points+1))
		if t.Failed() {
			return points
		}
	}
}

// noFork checks that nothing of a fork is left over.
func noFork(t *testing.T, p *play, where string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(p.Dir))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.Contains(e.Name(), "fork-1") {
			t.Errorf("%s: %s is left over", where, e.Name())
		}
	}
	if text := p.Git("worktree", "list"); strings.Count(text, "\n") > 1 {
		t.Errorf("%s: worktrees %q", where, text)
	}
	if text := p.Git("branch", "--list", "fork-1"); text != "" {
		t.Errorf("%s: the branch is left over", where)
	}
	// A session that starts an hour later removes a temporary file of the killed process.
	if list, _ := filepath.Glob(filepath.Join(p.Dir, ".git", "entire", "forks", "*.json")); len(list) > 0 {
		t.Errorf("%s: records %q are left over", where, list)
	}
}
