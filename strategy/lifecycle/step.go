package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Step carries out an event on a session: the machine's actions, then the
// hook's own part, and the state last. The work is done without the lock, which
// is held only while the state is saved; if another hook has saved it
// meanwhile, all is done again upon that.
func (r *Machine) Step(ctx context.Context, in workspace.Input, event session.Event, then func(*session.State, *tracking.Pending) error) error {
	for attempt := 1; ; attempt++ {
		err := r.try(ctx, in, event, then)
		if !errors.Is(err, workspace.ErrStale) || attempt == workspace.MaxAttempts {
			return err
		}
		r.Retried++
	}
}

func (r *Machine) try(ctx context.Context, in workspace.Input, event session.Event, then func(*session.State, *tracking.Pending) error) error {
	stamp := r.Sessions.Stamp(in.SessionID)
	s, err := r.states.Load(ctx, in)
	if err != nil {
		return err
	}
	n := new(tracking.Pending)
	next := session.Transition(s.Phase, event)
	for _, action := range next.Actions {
		if err := r.act(ctx, s, n, in, action); err != nil {
			return fmt.Errorf("%s: %w", action, err)
		}
	}
	if then != nil {
		if err := then(s, n); err != nil {
			return err
		}
	}
	s.Phase = next.Next
	// The state counts on the objects. Where refs move they are synced with those
	// that are written for the refs, under the lock, as each wait for the disk
	// costs more than the files in it.
	if !n.MovesRefs() {
		if err := r.Repo.SyncObjects(); err != nil {
			return err
		}
	}
	err = r.states.SaveUnchanged(ctx, s, n, stamp, func() error { return r.moveRefs(ctx, s, n) })
	if err == nil && n.Snapshot != nil {
		r.requests.RequestLater(ctx, s.ID, *n.Snapshot)
	}
	if err == nil && n.TurnSaved {
		err = r.marks.UnmarkTurn(s.ID, n.Prompted)
	}
	if err == nil && (n.Unstored || len(s.Recorder.Incomplete) > 0) {
		r.children.RequestCompletion(ctx, s.ID)
	}
	return err
}

// moveRefs makes the shadow commits that are pending, annotates the snapshot and
// completes the checkpoints. The caller holds the lock.
func (r *Machine) moveRefs(ctx context.Context, s *session.State, n *tracking.Pending) error {
	for _, c := range n.ShadowCommits {
		if err := r.shadows.Commit(ctx, s, c); err != nil {
			return err
		}
	}
	if n.Annotation != nil {
		r.shadows.Annotate(ctx, s, *n.Annotation)
	}
	if n.Completion != nil {
		return r.finalizer.Complete(ctx, s, n)
	}
	return nil
}

// act carries out one action of the machine.
func (r *Machine) act(ctx context.Context, s *session.State, n *tracking.Pending, in workspace.Input, action session.Action) error {
	switch action {
	case session.Touch:
		r.finalizer.Touch(s)
	case session.ClearEnded:
		s.EndedAt = nil
	case session.MarkEnded:
		now := r.Env.Now()
		s.EndedAt = &now
	case session.SaveTurn:
		return r.turns.SaveTurn(ctx, s, n, in)
	case session.Finalize:
		if in.Hurried { // somebody waits: a child does it
			s.Recorder.Incomplete = workspace.IncompleteCheckpoints(s)
			return nil
		}
		return r.finalizer.Finalize(ctx, s, n)
	case session.BeginTurn, session.Condense, session.CondenseIfTouched:
		// What is left of them is the caller's own part.
	}
	return nil
}
