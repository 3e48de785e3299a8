//go:build faults

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestCrashTidy stops clean, reset and uninstall at every write, and then runs them again. The
// result is the same as without a stop, and no data in use is lost.
func TestCrashTidy(t *testing.T) {
	t.Parallel()
	bin := buildFaulty(t)
	for name, c := range map[string]tidyCase{
		"clean":     {args: []string{"clean", "--force"}, keeps: true, least: 5},
		"reset":     {args: []string{"reset", "--force"}, least: 3},
		"uninstall": {args: []string{"disable", "--uninstall", "--force"}, least: 10},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.run(t, bin)
		})
	}
}

// tidyCase is one command that is stopped. keeps reports that the session's pending file stays
// pending in every case.
type tidyCase struct {
	args  []string
	keeps bool
	least int // steps
}

func (c tidyCase) run(t *testing.T, bin string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "root")
	p := tidyScene(t, root, bin)
	copyAll(t, root, root+".kept")
	p.Entire(c.args...)
	want := recordsOf(p)
	copyAll(t, root+".kept", root)
	points := 0
	for step := 1; c.stopAt(p, step); step++ {
		points++
		where := fmt.Sprintf("stopped at step %d", step)
		if c.keeps && strings.Join(p.pending("main"), " ") != "a.txt" {
			t.Errorf("%s: pending %q", where, p.pending("main"))
		}
		p.Entire(c.args...)
		if diff := cmp.Diff(want, recordsOf(p)); diff != "" {
			t.Errorf("%s, done again (-want +got):\n%s", where, diff)
		}
		copyAll(t, root+".kept", root)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d points", points)
	if points < c.least {
		t.Errorf("only %d points", points)
	}
}

func (c tidyCase) stopAt(p *play, step int) bool {
	mark := filepath.Join(p.root, "mark")
	call := testkit.Call{Dir: p.Dir, Name: "entire", Args: c.args, Env: p.Env.With(
		fmt.Sprintf("ENTIRE_FAULT=crash:%d", step), "ENTIRE_FAULT_IN="+c.args[0], "ENTIRE_FAULT_MARK="+mark)}
	call.Run(p.TB)
	_, err := os.Lstat(mark)
	_ = os.Remove(mark)
	return err == nil
}

// tidyScene is a repository with a commit, a pending file, and an orphan of each kind.
func tidyScene(t *testing.T, root, bin string) *play {
	t.Helper()
	p := newPlay(t, root, bin, "plain")
	p.main().Start("startup")
	p.turn("main", "first.txt")
	p.Git("add", "first.txt")
	p.Git("commit", "-q", "-m", "first")
	p.turn("main", "a.txt")
	p.Git("branch", "entire/0000001-e3b0c4")
	p.Git("branch", "entire/0000002-e3b0c4")
	p.Git("update-ref", "refs/entire/rewind/e3b0c4-v99", "HEAD")
	for _, id := range []string{"old", "last"} {
		p.Write(".git/entire-sessions/"+id+".json", `{"session_id": "`+id+`", "base_commit": "1111111", "worktree_path": "/w",
			"started_at": "2025-01-02T03:04:05Z", "ended_at": "2025-01-03T03:04:05Z", "phase": "ended", "checkpoint_count": 0}`)
	}
	p.Write(".git/entire-sessions/side/old.prompts", "{}\n")
	return p
}

// recordsOf lists all records: the refs except rescues, which are named after the time, and the
// files in the folders of the repository and of the worktree.
func recordsOf(p *play) []string {
	p.TB.Helper()
	list := strings.Fields(p.Git("for-each-ref", "--format=%(refname)", "refs/heads/entire/"))
	for _, dir := range []string{".git/entire-sessions", ".git/entire/journal", ".git/hooks", ".entire", ".claude"} {
		entries, err := os.ReadDir(p.Path(dir))
		if err != nil {
			continue
		}
		for _, e := range entries {
			list = append(list, dir+"/"+e.Name())
		}
	}
	return list
}
