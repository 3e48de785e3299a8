//go:build faults

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestCrashRewind stops `entire rewind`, its undo, and its redo at every write,
// and then goes back or on by the command that the next call names.
func TestCrashRewind(t *testing.T) {
	t.Parallel()
	bin := buildFaulty(t)
	for name, c := range map[string]rewindCase{
		"to":   {args: []string{"rewind", "--to", "v3"}, again: []string{"rewind", "--to", "v3"}, before: "late", after: "early"},
		"undo": {first: []string{"rewind", "--to", "v3"}, args: []string{"rewind", "--undo"}, before: "early", after: "late"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.run(t, bin)
		})
	}
}

// rewindCase is one command that is stopped: what was done before it, and which
// of the two trees there is before and after it. again completes it; where that
// is nil the command itself does, by the hint's "takes it back".
type rewindCase struct {
	first, args, again []string
	before, after      string
}

// run stops the command at each of its steps.
func (c rewindCase) run(t *testing.T, bin string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	p, trees := rewindScene(t, root, bin)
	if c.first != nil {
		p.Entire(c.first...)
	}
	kept := root + ".kept"
	copyAll(t, root, kept)
	pending := map[string]string{"late": "a.txt b.txt deep/er/one deep/two link old.txt", "early": "a.txt"}
	points := 0
	for step := 1; ; step++ {
		if !c.stopAt(p, step) {
			break
		}
		points++
		where := fmt.Sprintf("stopped at step %d", step)
		if is := treeOf(p); !interrupted(p) && is != trees[c.after] && is != trees[c.before] {
			t.Errorf("%s: the tree is a mixture, and nobody says so", where)
		}
		copyAll(t, root, root+".half")
		c.goOn(t, p, where, trees, pending)
		copyAll(t, root+".half", root)
		c.goBack(t, p, where, trees, pending)
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

// interrupted says whether the next call names a rewind that did not end.
func interrupted(p *play) bool {
	p.TB.Helper()
	return strings.Contains(testkit.Call{Dir: p.Dir, Env: p.Env, Name: "entire", Args: []string{"status"}}.Run(p.TB).Stderr, "was interrupted")
}

// stopAt runs the command, to be killed at its step, and says whether it was.
func (c rewindCase) stopAt(p *play, step int) bool {
	mark := filepath.Join(p.root, "mark")
	call := testkit.Call{Dir: p.Dir, Name: "entire", Args: c.args, Env: p.Env.With(
		fmt.Sprintf("ENTIRE_FAULT=crash:%d", step), "ENTIRE_FAULT_IN=rewind", "ENTIRE_FAULT_MARK="+mark)}
	call.Run(p.TB)
	_, err := os.Lstat(mark)
	_ = os.Remove(mark)
	return err == nil
}

// goOn completes what was stopped.
func (c rewindCase) goOn(t *testing.T, p *play, where string, trees, pending map[string]string) {
	t.Helper()
	if c.again == nil || !interrupted(p) {
		return
	}
	p.Entire(c.again...)
	if treeOf(p) != trees[c.after] {
		t.Errorf("%s, done again: the tree is not what it should become", where)
	}
	if got := strings.Join(p.pending("main"), " "); got != pending[c.after] {
		t.Errorf("%s, done again: pending %q", where, got)
	}
}

// goBack takes it back, or finds that there is nothing to take back.
func (c rewindCase) goBack(t *testing.T, p *play, where string, trees, pending map[string]string) {
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
	if treeOf(p) != trees[c.before] {
		t.Errorf("%s, taken back: the tree is not what it was", where)
	}
	if got := strings.Join(p.pending("main"), " "); got != pending[c.before] {
		t.Errorf("%s, taken back: pending %q", where, got)
	}
}

// rewindScene is a repository with two turns, and the tree after the first and
// after the second.
func rewindScene(t *testing.T, root, bin string) (*play, map[string]string) {
	t.Helper()
	p := newPlay(t, root, bin, "plain")
	trees := map[string]string{}
	p.Write("kept.txt", "the user's\n")
	p.main().Start("startup")
	p.turn("main", "a.txt")
	trees["early"] = treeOf(p)
	p.main().Prompt("Please change things.")
	p.writes("main", "b.txt")
	p.bash("mkdir -p deep/er && echo 1 > deep/er/one && echo 2 > deep/two && chmod 600 a.txt && rm old.txt && ln -s a.txt link")
	p.main().Stop()
	trees["late"] = treeOf(p)
	return p, trees
}

// treeOf is every file of the worktree: names, modes and contents. A rewind gives
// the files that it writes the present time.
func treeOf(p *play) string {
	p.TB.Helper()
	var lines []string
	err := filepath.Walk(p.top, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(p.top, path)
		if name == ".git" || name == ".entire" {
			return filepath.SkipDir
		}
		line := fmt.Sprint(name, info.Mode())
		switch {
		case info.Mode().IsRegular():
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			line += string(data)
		case info.Mode()&os.ModeSymlink != 0:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			line += target
		}
		lines = append(lines, line)
		return nil
	})
	if err != nil {
		p.TB.Fatalf("read tree: %v", err)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// copyAll makes to a copy of the folder from.
func copyAll(t *testing.T, from, to string) {
	t.Helper()
	if err := os.RemoveAll(to); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", from, to).CombinedOutput(); err != nil {
		t.Fatalf("copy: %v\n%s", err, out)
	}
}
