package strategy_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// TestStopIsRepeatedAfterConcurrentSave: if another hook saves the session during a stop,
// the stop moves no ref and is repeated on the new state.
func TestStopIsRepeatedAfterConcurrentSave(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo.Write("README.md", "text\n")
	d.repo.Commit("first")
	s := d.session("main")
	in := d.in(s, 0)
	in.Prompt = "Write a.txt."
	ctx := context.Background()
	d.must(strategy.Prompt(ctx, d.workspace(), in))
	s.Prompt(in.Prompt)
	s.Write("a.txt", "one\n")
	s.Stop()
	in.Prompt = ""
	w, attempts := d.workspace(), 0
	d.must(record.ApplyEvent(ctx, w, in, session.TurnEnd, func(s *session.State, n *tracking.Pending) error {
		attempts++
		if s.CheckpointCount != 0 || len(n.ShadowCommits) != 1 {
			t.Errorf("attempt %d: %d checkpoints, %d prepared", attempts, s.CheckpointCount, len(n.ShadowCommits))
		}
		if attempts == 1 {
			return record.ApplyEvent(ctx, d.workspace(), in, session.Start, nil)
		}
		return nil
	}))
	if attempts != 2 || w.Retried != 1 {
		t.Errorf("%d attempts, %d repeated", attempts, w.Retried)
	}
	state, err := w.Sessions.Load(s.ID)
	d.must(err)
	if state.Phase != session.Idle || state.CheckpointCount != 1 || !slices.Equal(state.FilesTouched, []string{"a.txt"}) {
		t.Errorf("%s, %d checkpoints, files %q", state.Phase, state.CheckpointCount, state.FilesTouched)
	}
}

// TestStopGivesUpAfterRepeatedSaves: if other hooks save the session at every attempt,
// the stop fails as stale. It has moved no ref and saved nothing of its own.
func TestStopGivesUpAfterRepeatedSaves(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo.Write("README.md", "text\n")
	d.repo.Commit("first")
	s := d.session("main")
	d.prompt(s, 0)
	s.Write("a.txt", "one\n")
	s.Stop()
	ctx, in := context.Background(), d.in(s, 0)
	w, attempts := d.workspace(), 0
	err := record.ApplyEvent(ctx, w, in, session.TurnEnd, func(*session.State, *tracking.Pending) error {
		attempts++
		return record.ApplyEvent(ctx, d.workspace(), in, session.Start, nil)
	})
	if !errors.Is(err, workspace.ErrStale) || attempts != workspace.MaxAttempts {
		t.Errorf("%v after %d attempts", err, attempts)
	}
	state, err := d.workspace().Sessions.Load(s.ID)
	d.must(err)
	if state.Phase != session.Active || state.CheckpointCount != 0 {
		t.Errorf("%s, %d checkpoints", state.Phase, state.CheckpointCount)
	}
	if names := d.repo.Git("for-each-ref", "refs/heads/entire/"); names != "" {
		t.Errorf("refs: %s", names)
	}
	d.must(strategy.Stop(ctx, d.workspace(), in))
	state, err = d.workspace().Sessions.Load(s.ID)
	d.must(err)
	if state.Phase != session.Idle || !slices.Equal(state.FilesTouched, []string{"a.txt"}) {
		t.Errorf("the next stop: %s, files %q", state.Phase, state.FilesTouched)
	}
}

// TestEventsAreRepeatedAfterConcurrentSave: if another event changes the session before an
// event is saved, the event is repeated on the new state.
func TestEventsAreRepeatedAfterConcurrentSave(t *testing.T) {
	t.Parallel()
	start := func(d *desk, ctx context.Context, in workspace.Input) error {
		_, err := strategy.SessionStart(ctx, d.workspace(), in)
		return err
	}
	prompt := func(d *desk, ctx context.Context, in workspace.Input) error {
		in.Prompt = "Do more."
		return strategy.Prompt(ctx, d.workspace(), in)
	}
	stop := func(d *desk, ctx context.Context, in workspace.Input) error {
		return strategy.Stop(ctx, d.workspace(), in)
	}
	end := func(d *desk, ctx context.Context, in workspace.Input) error {
		return strategy.SessionEnd(ctx, d.workspace(), in)
	}
	tests := map[string]struct {
		active bool // a turn is under way
		event  session.Event
		during func(d *desk, ctx context.Context, in workspace.Input) error
		want   session.Phase
	}{
		"a start, and a prompt":      {event: session.Start, during: prompt, want: session.Active},
		"a start, and the end":       {event: session.Start, during: end, want: session.Idle},
		"a stop, and a start":        {active: true, event: session.TurnEnd, during: start, want: session.Idle},
		"a stop, and another prompt": {active: true, event: session.TurnEnd, during: prompt, want: session.Idle},
		"a stop, and another stop":   {active: true, event: session.TurnEnd, during: stop, want: session.Idle},
		"a stop, and the end":        {active: true, event: session.TurnEnd, during: end, want: session.Ended},
		"the end, and a stop":        {active: true, event: session.Stop, during: stop, want: session.Ended},
		"the end, and a prompt":      {event: session.Stop, during: prompt, want: session.Ended},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDesk(t)
			d.repo.Write("README.md", "text\n")
			d.repo.Commit("first")
			s := d.session("main")
			d.turn(s, 0, "a.txt")
			if c.active {
				d.prompt(s, 0)
				s.Write("b.txt", "one\n")
				s.Stop()
			}
			ctx, in := context.Background(), d.in(s, 0)
			w, attempts := d.workspace(), 0
			d.must(record.ApplyEvent(ctx, w, in, c.event, func(*session.State, *tracking.Pending) error {
				if attempts++; attempts == 1 {
					return c.during(d, ctx, in)
				}
				return nil
			}))
			if attempts != 2 || w.Retried != 1 {
				t.Errorf("%d attempts, %d repeated", attempts, w.Retried)
			}
			state, err := w.Sessions.Load(s.ID)
			d.must(err)
			if want := map[bool][]string{false: {"a.txt"}, true: {"a.txt", "b.txt"}}[c.active]; state.Phase != c.want || !slices.Equal(state.FilesTouched, want) {
				t.Errorf("%s, files %q", state.Phase, state.FilesTouched)
			}
		})
	}
}
