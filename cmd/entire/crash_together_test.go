//go:build faults

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// together is a scene of two repositories whose session changed both in its second turn.
type together struct {
	p     *play
	other *testkit.Repo
	trees map[string]string // of both repositories, by "early" and "late"
}

// togetherScene plays two turns that change two repositories.
func togetherScene(t *testing.T, root, bin string) together {
	t.Helper()
	p := newPlay(t, root, bin, "plain")
	other, _ := testkit.NewRepo(t, filepath.Join(root, "w2"), "plain", p.Env)
	other.Write("old.txt", "old\n")
	other.Entire("enable", "--agent", "claude-code")
	other.Git("add", "old.txt")
	other.Git("commit", "-q", "-m", "set up")
	s := together{p: p, other: other, trees: map[string]string{}}
	there := func(name string) string { return filepath.Join(other.Dir, name) }
	p.main().Start("startup")
	p.main().Prompt("Please write in both.")
	p.main().Write("a.txt", "early\n")
	p.main().Write(there("b.txt"), "early\n")
	p.main().Stop()
	s.trees["early"] = s.read()
	p.main().Prompt("Please change both.")
	p.main().Write("a.txt", "late\n")
	p.main().Write("more.txt", "late\n")
	p.main().Write(there("b.txt"), "late\n")
	p.main().Write(there("deep/new.txt"), "late\n")
	p.bash("rm " + there("old.txt"))
	p.main().Stop()
	s.trees["late"] = s.read()
	p.Entire("log") // the index of turns
	return s
}

// read returns the files of both repositories.
func (s together) read() string {
	other := *s.p
	other.Repo, other.top = s.other, s.other.Root()
	return treeOf(s.p) + "\n---\n" + treeOf(&other)
}

// stopAt runs a command of entire in a repository, to be killed at the step, and reports whether it was.
func (s together) stopAt(dir string, step int, args ...string) bool {
	mark := filepath.Join(s.p.root, "mark")
	testkit.Call{Dir: dir, Name: "entire", Args: args, Env: s.p.Env.With(
		fmt.Sprintf("ENTIRE_FAULT=crash:%d", step), "ENTIRE_FAULT_IN="+args[0], "ENTIRE_FAULT_MARK="+mark)}.Run(s.p.TB)
	_, err := os.Lstat(mark)
	_ = os.Remove(mark)
	return err == nil
}

// ended checks that the next command has completed the rewind in both repositories or taken it back in both.
func (s together) ended(t *testing.T, where string) string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(s.p.root, "home", ".local", "state", "entire", "rewinds", "*.json"))
	if err != nil || len(left) > 0 {
		t.Errorf("%s: the record is left", where)
	}
	is := s.read()
	switch is {
	case s.trees["early"]:
		return "early"
	case s.trees["late"]:
		return "late"
	}
	t.Errorf("%s: neither before nor after", where)
	for name, tree := range s.trees {
		t.Logf("%s: %s", name, cmp.Diff(tree, is))
	}
	return ""
}

// TestCrashRewindTogether stops a rewind of two repositories at every write, and then the command that ends it
// at every write, too: the next command in either of them completes it in both, or takes it back in both.
func TestCrashRewindTogether(t *testing.T) {
	t.Parallel()
	bin := buildFaulty(t)
	root := filepath.Join(t.TempDir(), "root")
	s := togetherScene(t, root, bin)
	kept, half := root+".kept", root+".half"
	copyAll(t, root, kept)
	points, again, ends := 0, 0, map[string]int{}
	for step := 1; ; step++ {
		if !s.stopAt(s.p.Dir, step, "rewind", "last", "--all-repositories") {
			break
		}
		points++
		where := fmt.Sprintf("stopped at step %d", step)
		is := s.read()
		isMiddle := is != s.trees["early"] && is != s.trees["late"]
		copyAll(t, root, half)
		dir := []string{s.p.Dir, s.other.Dir}[step%2]
		testkit.Call{Dir: dir, Name: "entire", Args: []string{"status"}, Env: s.p.Env}.Run(t)
		ends[s.ended(t, where)]++
		for second := 1; isMiddle && step%5 == 0; second++ {
			copyAll(t, half, root)
			if !s.stopAt(dir, second, "status") {
				break
			}
			again++
			testkit.Call{Dir: s.p.Dir, Name: "entire", Args: []string{"status"}, Env: s.p.Env}.Run(t)
			s.ended(t, fmt.Sprintf("%s, the next command at step %d", where, second))
		}
		copyAll(t, kept, root)
		if t.Failed() {
			return
		}
	}
	if s.ended(t, "not stopped") != "early" {
		t.Error("the rewind has not changed both")
	}
	fmt.Printf("%s: %d points, %d of the command after it; %v\n", t.Name(), points, again, ends)
	if points < 30 || ends["early"] == 0 || ends["late"] == 0 {
		t.Errorf("only %d points, %v", points, ends)
	}
}
