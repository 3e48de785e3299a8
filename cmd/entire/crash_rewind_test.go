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

// TestCrashRewind stops `entire rewind` and its undo at every write, and then goes back or on
// with the command that the next call names.
func TestCrashRewind(t *testing.T) {
	t.Parallel()
	crashRewinds(t, rewindScene, rewindCases())
}

// TestCrashCodeRewind does the same without snapshots, and also stops the redo.
func TestCrashCodeRewind(t *testing.T) {
	t.Parallel()
	cases := rewindCases()
	cases["redo"] = rewindCase{
		first: [][]string{toPoint(), {"rewind", "--undo"}}, args: []string{"rewind", "--redo"}, again: []string{"rewind", "--redo"},
		before: "late", after: "early",
	}
	crashRewinds(t, codeRewindScene, cases)
}

// rewindCases returns a rewind and its undo.
func rewindCases() map[string]rewindCase {
	return map[string]rewindCase{
		"to":   {args: toPoint(), again: toPoint(), before: "late", after: "early"},
		"undo": {first: [][]string{toPoint()}, args: []string{"rewind", "--undo"}, before: "early", after: "late"},
	}
}

func crashRewinds(t *testing.T, scene func(t *testing.T, root, bin string) rewound, cases map[string]rewindCase) {
	t.Helper()
	bin := buildFaulty(t)
	for name, c := range cases {
		c.scene = scene
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.run(t, bin)
		})
	}
}

// TestCrashCodeRewindAgain stops a rewind without snapshots in its middle, and then its undo,
// or its completion, at every write.
func TestCrashCodeRewindAgain(t *testing.T) {
	t.Parallel()
	bin := buildFaulty(t)
	// Stops that leave a temporary file are skipped: the second command may leave another.
	changed := func(tree string) bool {
		return !strings.Contains(tree, "b.txt") && !strings.Contains(tree, ".entire-tmp-")
	}
	for name, to := range map[string]string{"--undo": "late", "--to": "early"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := filepath.Join(t.TempDir(), "root")
			s := codeRewindScene(t, root, bin)
			c := rewindCase{args: []string{"rewind", "--to", s.point}}
			copyAll(t, root, root+".kept")
			for step := 1; ; step++ {
				if !c.stopAt(s.p, step) {
					t.Fatal("never in the middle")
				}
				if is := treeOf(s.p); interrupted(s.p) && is != s.trees["early"] && is != s.trees["late"] && changed(is) {
					break
				}
				copyAll(t, root+".kept", root)
			}
			copyAll(t, root, root+".half")
			if name == "--undo" {
				c.args = []string{"rewind", name}
			}
			points := 0
			for c.stopAt(s.p, points+1) {
				points++
				if interrupted(s.p) {
					s.p.Entire(c.args...)
				}
				if treeOf(s.p) != s.trees[to] || interrupted(s.p) {
					t.Errorf("stopped at step %d, done again: the tree is not what it should become", points)
				}
				if got := strings.Join(s.p.pending("main"), " "); got != s.pending[to] {
					t.Errorf("stopped at step %d, done again: pending %q", points, got)
				}
				copyAll(t, root+".half", root)
			}
			if points < 10 {
				t.Errorf("only %d points", points)
			}
		})
	}
}

// rewindCase is one command that is stopped: the commands run before it, and which of the two
// trees exists before and after it. again completes it; if again is nil, rewind --undo
// completes it. POINT in a command stands for the point of the early tree.
type rewindCase struct {
	scene         func(t *testing.T, root, bin string) rewound
	first         [][]string
	args, again   []string
	before, after string
}

// run stops the command at each of its steps.
func (c rewindCase) run(t *testing.T, bin string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	s := c.scene(t, root, bin)
	p, trees, pending := s.p, s.trees, s.pending
	for _, args := range c.first {
		p.Entire(s.at(args)...)
	}
	c.args, c.again = s.at(c.args), s.at(c.again)
	kept := root + ".kept"
	copyAll(t, root, kept)
	points := 0
	for step := 1; ; step++ {
		if !c.stopAt(p, step) {
			break
		}
		points++
		where := fmt.Sprintf("stopped at step %d", step)
		c.named(t, p, where, trees, pending)
		copyAll(t, root, root+".half")
		c.completeStopped(t, p, where, trees, pending)
		copyAll(t, root+".half", root)
		c.undoStopped(t, p, where, trees, pending)
		copyAll(t, kept, root)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d points", points)
	if points < 10 {
		t.Errorf("only %d points", points)
	}
}

// named checks that every command names a half-done rewind: files of neither tree, or sessions
// that don't match the files.
func (c rewindCase) named(t *testing.T, p *play, where string, trees, pending map[string]string) {
	t.Helper()
	if interrupted(p) {
		return
	}
	switch is, left := treeOf(p), strings.Join(p.pending("main"), " "); {
	case is == trees[c.before] && left == pending[c.before]:
	case is == trees[c.after] && left == pending[c.after]:
	default:
		t.Errorf("%s: tree before %v, after %v, pending %q, and nobody says so", where, is == trees[c.before], is == trees[c.after], left)
	}
}

// stopAt runs the command, to be killed at the step, and reports whether it was.
func (c rewindCase) stopAt(p *play, step int) bool {
	mark := filepath.Join(p.root, "mark")
	call := testkit.Call{Dir: p.Dir, Name: "entire", Args: c.args, Env: p.Env.With(
		fmt.Sprintf("ENTIRE_FAULT=crash:%d", step), "ENTIRE_FAULT_IN=rewind", "ENTIRE_FAULT_MARK="+mark)}
	call.Run(p.TB)
	_, err := os.Lstat(mark)
	_ = os.Remove(mark)
	return err == nil
}

// completeStopped completes the stopped command.
func (c rewindCase) completeStopped(t *testing.T, p *play, where string, trees, pending map[string]string) {
	t.Helper()
	if c.again == nil || !interrupted(p) {
		return
	}
	p.Entire(c.again...)
	if treeOf(p) != trees[c.after] || interrupted(p) {
		t.Errorf("%s, done again: the tree is not what it should become, or it is still named", where)
	}
	if got := strings.Join(p.pending("main"), " "); got != pending[c.after] {
		t.Errorf("%s, done again: pending %q", where, got)
	}
}

// undoStopped undoes the command, unless there is nothing to undo.
func (c rewindCase) undoStopped(t *testing.T, p *play, where string, trees, pending map[string]string) {
	t.Helper()
	half := interrupted(p)
	whole := treeOf(p)
	if !half && whole == trees[c.before] {
		return
	}
	back := "--undo"
	if !half && c.again == nil {
		back = "--redo"
	}
	p.Entire("rewind", back)
	if half && c.again == nil && treeOf(p) == trees[c.after] { // only the sessions were left: the undo completed them
		p.Entire("rewind", "--redo")
	}
	if interrupted(p) {
		t.Errorf("%s, taken back: it is still named", where)
	}
	if treeOf(p) != trees[c.before] {
		t.Errorf("%s, taken back: the tree is not what it was", where)
	}
	if got := strings.Join(p.pending("main"), " "); got != pending[c.before] {
		t.Errorf("%s, taken back: pending %q", where, got)
	}
}

// rewindScene is a scene with snapshots.
func rewindScene(t *testing.T, root, bin string) rewound {
	t.Helper()
	return twoTurns(newPlay(t, root, bin, "plain"), treeOf)
}

// codeRewindScene is a scene without snapshots: the point is a shadow commit.
func codeRewindScene(t *testing.T, root, bin string) rewound {
	t.Helper()
	return twoTurnsWithoutSnapshots(newPlay(t, root, bin, "plain"), treeOf)
}
