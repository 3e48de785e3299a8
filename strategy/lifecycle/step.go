package lifecycle

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Step fires an event on a session: it runs the machine's actions, then the hook's own part,
// if there is one, and saves the state last. The work is done without the lock, which is held
// only while the state is saved; if another hook has saved the state meanwhile, all is
// repeated from that state.
func (m *Machine) Step(ctx context.Context, in workspace.Input, event session.Event, then func(*session.State, *tracking.Pending) error) error {
	return m.retry(func() error { return m.stepOnce(ctx, in, event, parts{then: then}) })
}

// retry repeats a step while other hooks save its session first.
func (m *Machine) retry(once func() error) error {
	for attempt := 1; ; attempt++ {
		err := once()
		if !errors.Is(err, workspace.ErrStale) || attempt == workspace.MaxAttempts {
			return err
		}
		m.Retried++
	}
}

// parts are the hook's own parts of a step.
type parts struct {
	begin func(*session.State, *tracking.Pending) error // the action BeginTurn
	then  func(*session.State, *tracking.Pending) error // after the actions
}

func (m *Machine) stepOnce(ctx context.Context, in workspace.Input, event session.Event, p parts) error {
	stamp := m.Stamp(in.SessionID)
	s, err := m.states.Load(ctx, in)
	if err != nil {
		return err
	}
	n := new(tracking.Pending)
	work := session.Work{
		Now: m.Env.Now,
		SaveTurn: func(s *session.State) error {
			if err := m.turns.SaveTurn(ctx, s, n, in); err != nil {
				return fmt.Errorf("%s: %w", session.SaveTurn, err)
			}
			return nil
		},
		Finalize: func(s *session.State) error {
			if in.Hurried { // the agent waits: a child does it
				s.Recorder.Incomplete = workspace.IncompleteCheckpoints(s)
				return nil
			}
			if err := m.finalizer.Finalize(ctx, s, n); err != nil {
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
		if err := m.Repo.SyncObjects(); err != nil {
			return err
		}
	}
	err = m.states.SaveUnchanged(ctx, s, n, stamp, func() error { return m.moveRefs(ctx, s, n) })
	if err == nil && n.Snapshot != nil {
		m.server.RequestLater(ctx, s.ID, *n.Snapshot)
	}
	if err == nil && n.TurnSaved {
		err = m.marks.UnmarkTurn(s.ID, n.Prompted)
	}
	if err == nil && (n.Unstored || len(s.Recorder.Incomplete) > 0) {
		m.children.RequestCompletion(ctx, s.ID)
	}
	return err
}

// moveRefs makes the pending shadow commits, annotates the snapshot and completes the
// checkpoints. The caller holds the lock.
func (m *Machine) moveRefs(ctx context.Context, s *session.State, n *tracking.Pending) error {
	for _, c := range n.ShadowCommits {
		dirs, err := m.shadows.Commit(ctx, s, c)
		if err != nil {
			return err
		}
		n.CountOn(dirs...)
	}
	if n.Annotation != nil {
		m.shadows.Annotate(ctx, s, *n.Annotation)
	}
	if n.Completion != nil {
		return m.finalizer.Complete(ctx, s, n)
	}
	return nil
}
