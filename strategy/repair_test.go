package strategy_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// hook returns the workspace of a hook of git.
func (d *desk) hook() *workspace.Workspace {
	d.t.Helper()
	w := d.workspace()
	w.Env.Caller = func() (proc.Info, bool) { return proc.Info{}, false }
	w.Env.Terminal = func() bool { return false }
	return w
}

// prepare stages files, runs prepare-commit-msg, and returns the message file.
func (d *desk) prepare(paths ...string) (message string) {
	d.t.Helper()
	message = filepath.Join(filepath.Dir(d.repo.Dir), "message")
	d.repo.Write(message, "Change "+strings.Join(paths, " and ")+"\n")
	d.repo.Git(append([]string{"add", "--"}, paths...)...)
	d.must(strategy.PrepareCommitMsg(context.Background(), d.hook(), record.CommitMessage{File: message}))
	return message
}

// commitWithoutPostCommit commits files without the last hook. It returns the id of the
// checkpoint.
func (d *desk) commitWithoutPostCommit(paths ...string) (id string) {
	d.t.Helper()
	d.repo.Git("commit", "-q", "--no-verify", "-F", d.prepare(paths...))
	ids := d.repo.Trailers("HEAD")
	if len(ids) != 1 {
		d.t.Fatalf("trailers %q\nlog:\n%s", ids, d.log.String())
	}
	return ids[0]
}

// commit commits files with all hooks and returns the id of the checkpoint.
func (d *desk) commit(paths ...string) (id string) {
	d.t.Helper()
	id = d.commitWithoutPostCommit(paths...)
	d.must(strategy.PostCommit(context.Background(), d.hook()))
	return id
}

// end ends the session.
func (d *desk) end(s *testkit.Session) {
	d.t.Helper()
	d.must(strategy.SessionEnd(context.Background(), d.workspace(), d.in(s, 0)))
}

// prompt begins a turn of an agent's process with this id.
func (d *desk) prompt(s *testkit.Session, pid int) {
	d.t.Helper()
	in := d.in(s, pid)
	in.Prompt = "Please go on."
	d.must(strategy.Prompt(context.Background(), d.workspace(), in))
	s.Prompt(in.Prompt)
}

// TestRepairAfterHEADMoved: a commit whose post-commit hook did not run gets its checkpoint
// from the next hook, wherever git has moved HEAD and the commit.
func TestRepairAfterHEADMoved(t *testing.T) {
	t.Parallel()
	moves := map[string]func(d *desk){
		"nothing":            func(*desk) {},
		"another branch":     func(d *desk) { d.repo.Git("switch", "-q", "-c", "other", "HEAD~1") },
		"an orphan branch":   func(d *desk) { d.repo.Git("switch", "-q", "--orphan", "other") },
		"detached before it": func(d *desk) { d.repo.Git("checkout", "-q", "--detach", "HEAD~1") },
		"reset before it":    func(d *desk) { d.repo.Git("reset", "-q", "--hard", "HEAD~1") },
		"amended":            func(d *desk) { d.repo.Git("commit", "-q", "--no-verify", "--amend", "--no-edit", "--date=2020-01-01") },
		"31 commits on it": func(d *desk) {
			for range 31 {
				d.repo.Git("commit", "-q", "--no-verify", "--allow-empty", "-m", "later")
			}
		},
	}
	nexts := map[string]func(d *desk, s *testkit.Session) error{
		"start": func(d *desk, s *testkit.Session) error {
			_, err := strategy.SessionStart(context.Background(), d.workspace(), d.in(s, 0))
			return err
		},
		"another session's turn": func(d *desk, _ *testkit.Session) error { d.turn(d.session("other"), 0, "b.txt"); return nil },
		"another commit": func(d *desk, _ *testkit.Session) error {
			d.repo.Write("c.txt", "of the person\n")
			d.repo.Git("commit", "-q", "--no-verify", "-F", d.prepare("c.txt"))
			return strategy.PostCommit(context.Background(), d.hook())
		},
		"a child": func(d *desk, _ *testkit.Session) error {
			return strategy.Complete(context.Background(), d.workspace(), "")
		},
	}
	for moved, move := range testkit.ShortTable(moves, 2) {
		for hook, next := range testkit.ShortTable(nexts, 2) {
			t.Run(moved+", "+hook, func(t *testing.T) {
				t.Parallel()
				d := newDesk(t)
				d.repo.Write("README.md", "text\n")
				d.repo.Commit("first")
				s := d.session("main")
				d.turn(s, 0, "a.txt")
				id := d.commitWithoutPostCommit("a.txt")
				move(d)
				d.must(next(d, s))
				point := d.repo.Stored()[id]
				if point == nil {
					t.Fatalf("no checkpoint %s\nlog:\n%s", id, d.log.String())
				}
				if diff := cmp.Diff([]string{"a.txt"}, point.Summary.FilesTouched); diff != "" {
					t.Error(diff)
				}
				state, err := d.workspace().Sessions.Load(s.ID)
				d.must(err)
				if slices.Contains(state.FilesTouched, "a.txt") {
					t.Errorf("pending: %q", state.FilesTouched)
				}
				if left, err := filepath.Glob(d.own("entire", "journal", "*."+id+".json")); err != nil || len(left) > 0 {
					t.Errorf("in the journal: %q, %v", left, err)
				}
			})
		}
	}
}
