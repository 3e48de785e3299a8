package record

import (
	"context"
	"fmt"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// ApplyEvent fires an event on a session: it runs the machine's actions, then the hook's own part,
// if there is one, and saves the state last. The work is done without the lock, which is held
// only while the state is saved; if another hook has saved the state meanwhile, all is
// repeated from that state.
func ApplyEvent(ctx context.Context, w *workspace.Workspace, in workspace.Input, event session.Event, then func(*session.State, *tracking.Pending) error) error {
	return w.Retry(func() error { return stepOnce(ctx, w, in, event, parts{then: then}) })
}

// parts are the hook's own parts of a step.
type parts struct {
	begin func(*session.State, *tracking.Pending) error // the action BeginTurn
	then  func(*session.State, *tracking.Pending) error // after the actions
}

func stepOnce(ctx context.Context, w *workspace.Workspace, in workspace.Input, event session.Event, p parts) error {
	stamp := w.Stamp(in.SessionID)
	s, err := tracking.LoadState(ctx, w, in)
	if err != nil {
		return err
	}
	n := new(tracking.Pending)
	work := session.Work{
		Now: w.Env.Now,
		SaveTurn: func(s *session.State) error {
			if err := tracking.SaveTurn(ctx, w, s, n, in); err != nil {
				return fmt.Errorf("%s: %w", session.SaveTurn, err)
			}
			return nil
		},
		Finalize: func(s *session.State) error {
			if in.Hurried { // the agent waits: a child does it
				s.Recorder.Incomplete = workspace.IncompleteCheckpoints(s)
				return nil
			}
			if err := FinalizeSlots(ctx, w, s, n); err != nil {
				return fmt.Errorf("%s: %w", session.Finalize, err)
			}
			return nil
		},
	}
	if p.begin != nil {
		work.BeginTurn = func(s *session.State) error { return p.begin(s, n) }
	}
	next, err := session.Fire(s, event, work)
	if err != nil {
		return err
	}
	if p.then != nil {
		if err := p.then(s, n); err != nil {
			return err
		}
	}
	s.Phase = next
	// The state depends on the objects. If refs move, they are synced under the lock, together
	// with the objects of the refs, as each sync costs more than the files in it.
	if !n.MovesRefs() {
		if err := w.Repo.SyncObjects(); err != nil {
			return err
		}
	}
	err = tracking.SaveUnchanged(ctx, w, s, n, stamp, func() error { return moveRefs(ctx, w, s, n) })
	if err == nil && n.Snapshot != nil {
		tracking.RequestLater(ctx, w, s.ID, *n.Snapshot)
	}
	if err == nil && n.TurnSaved {
		err = tracking.UnmarkTurn(w, s.ID, n.Prompted)
	}
	if err == nil && (n.Unstored || len(s.Recorder.Incomplete) > 0) {
		w.RequestCompletion(ctx, s.ID)
	}
	return err
}

// moveRefs makes the pending shadow commits, annotates the snapshot and completes the
// checkpoints. The caller holds the lock.
func moveRefs(ctx context.Context, w *workspace.Workspace, s *session.State, n *tracking.Pending) error {
	for _, c := range n.ShadowCommits {
		dirs, err := tracking.CommitShadow(ctx, w, s, c)
		if err != nil {
			return err
		}
		n.CountOn(dirs...)
	}
	if n.Annotation != nil {
		tracking.AnnotateShadow(ctx, w, s, *n.Annotation)
	}
	if n.Completion != nil {
		return CompleteSlots(ctx, w, s, n)
	}
	return nil
}
