package strategy_test

import (
	"context"
	"slices"
	"testing"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// TestStopIsRepeatedOnAStateSavedInBetween: a stop whose session another hook saves
// moves no ref, and is repeated on the new state.
func TestStopIsRepeatedOnAStateSavedInBetween(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.repo.Write("README.md", "text\n")
	d.repo.Commit("first")
	s := d.session("main")
	in := d.in(s, 0)
	in.Prompt = "Write a.txt."
	ctx := context.Background()
	d.must(d.recorder().AgentEvents().Prompt(ctx, in))
	s.Prompt(in.Prompt)
	s.Write("a.txt", "one\n")
	s.Stop()
	in.Prompt = ""
	r, attempts := d.recorder(), 0
	d.must(r.Lifecycle().Machine.Step(ctx, in, session.TurnEnd, func(s *session.State, n *tracking.Pending) error {
		attempts++
		if s.CheckpointCount != 0 || len(n.ShadowCommits) != 1 {
			t.Errorf("attempt %d: %d checkpoints, %d prepared", attempts, s.CheckpointCount, len(n.ShadowCommits))
		}
		if attempts == 1 {
			return d.recorder().Lifecycle().Machine.Step(ctx, in, session.Start, nil)
		}
		return nil
	}))
	if attempts != 2 || r.Retried != 1 {
		t.Errorf("%d attempts, %d repeated", attempts, r.Retried)
	}
	state, err := r.Sessions.Load(s.ID)
	d.must(err)
	if state.Phase != session.Idle || state.CheckpointCount != 1 || !slices.Equal(state.FilesTouched, []string{"a.txt"}) {
		t.Errorf("%s, %d checkpoints, files %q", state.Phase, state.CheckpointCount, state.FilesTouched)
	}
}
