package strategy_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// TestEndLeavesOtherWorkToChild: the end of a session has one second, which is for its own
// turn and not for a commit that another hook left unfinished.
func TestEndLeavesOtherWorkToChild(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo.Write("README.md", "text\n")
	d.repo.Commit("first")
	s := d.session("main")
	d.turn(s, 0, "a.txt")
	d.repo.Git("add", "a.txt")
	d.repo.Git("commit", "-q", "-m", "a\n\nEntire-Checkpoint: 0123456789ab")
	journal := filepath.Join(d.repo.CommonDir(), "entire", "journal")
	d.must(os.MkdirAll(journal, 0o700))
	decision := filepath.Join(journal, "e3b0c4.0123456789ab.json")
	d.must(os.WriteFile(decision, []byte(`{"nonce":"0123456789ab","keep":["0123456789ab"],"id":"0123456789ab",`+
		`"shares":[{"session":"`+s.ID+`","files":["a.txt"]}],"git":4000000,"created":"2026-01-01T00:00:00Z"}`), 0o600))
	d.children = nil
	in := d.in(s, 0)
	d.must(strategy.SessionEnd(context.Background(), d.workspace(), in))
	state, err := d.workspace().Sessions.Load(s.ID)
	d.must(err)
	if state.Phase != session.Ended {
		t.Errorf("phase %s", state.Phase)
	}
	if _, err := os.Lstat(decision); err != nil {
		t.Errorf("the commit was repaired by the end: %v", err)
	}
	if !slices.ContainsFunc(d.children, func(args []string) bool { return slices.Equal(args, []string{"hooks", "complete", ""}) }) {
		t.Errorf("children: %q", d.children)
	}
	d.must(strategy.Complete(context.Background(), d.workspace(), ""))
	if _, err := os.Lstat(decision); err == nil {
		t.Errorf("the child left the decision\nlog:\n%s", d.log.String())
	}
}

// TestInterruptedEndIsFinishedByChild: if a session's end runs out of time, this is noted, and a
// child ends the session and saves its context, unless the session has continued.
func TestInterruptedEndIsFinishedByChild(t *testing.T) {
	t.Parallel()
	type ending func(d *desk, in workspace.Input)
	killed := func(d *desk, in workspace.Input) { // the hook is killed halfway
		over, cancel := context.WithCancel(context.Background())
		cancel()
		_ = strategy.RecordEnd(over, d.workspace(), in, func(func() error) error { return context.Canceled })
		d.children = nil
	}
	late := func(d *desk, in workspace.Input) {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		if err := strategy.RecordEnd(over, d.workspace(), in, unguarded); err == nil {
			d.t.Error("the end was recorded without time")
		}
	}
	for name, c := range map[string]struct {
		end   ending
		then  func(d *desk, in workspace.Input)
		asked bool // a child was started
		want  []string
		phase session.Phase
	}{
		"no time": {late, nil, true, []string{"exit/kept"}, session.Ended},
		"in time": {func(d *desk, in workspace.Input) {
			d.must(strategy.RecordEnd(context.Background(), d.workspace(), in, unguarded))
		}, nil, false, []string{"exit/kept"}, session.Ended},
		"resumed": {late, func(d *desk, in workspace.Input) { d.start(in, "resume") }, true, []string{}, session.Idle},
		"prompted": {late, func(d *desk, in workspace.Input) {
			in.Prompt = "Go on."
			d.must(strategy.Prompt(context.Background(), d.workspace(), in))
		}, true, []string{}, session.Active},
		"killed": {killed, func(d *desk, _ workspace.Input) {
			d.start(d.in(d.session("next"), 7), "startup")
		}, true, []string{"exit/kept"}, session.Ended},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.repo.Write("README.md", "text\n")
			d.repo.Commit("first")
			s := d.session("main")
			d.turn(s, 0, "a.txt")
			d.children = nil
			in := d.in(s, 0)
			in.Reason, in.PromptID = "prompt_input_exit", "p1"
			c.end(d, in)
			if c.then != nil {
				c.then(d, in)
			}
			if asked := slices.ContainsFunc(d.children, func(args []string) bool { return slices.Equal(args, []string{"hooks", "recall", s.ID}) }); asked != c.asked {
				t.Errorf("children: %q", d.children)
			}
			d.must(savedcontext.FinishRecall(context.Background(), d.workspace(), s.ID))
			d.want(c.want...)
			state, err := d.workspace().Sessions.Load(s.ID)
			d.must(err)
			if state.Phase != c.phase {
				t.Errorf("phase %s", state.Phase)
			}
			if left, _ := filepath.Glob(filepath.Join(d.repo.Root(), ".entire", "tmp", "end-*")); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

func unguarded(do func() error) error { return do() }

// start runs the hooks of a session's start.
func (d *desk) start(in workspace.Input, source string) {
	d.t.Helper()
	in.Source = source
	w := d.workspace()
	_, err := strategy.SessionStart(context.Background(), w, in)
	d.must(err)
	_, err = savedcontext.RecallStart(context.Background(), w, in)
	d.must(err)
}
