package record

import (
	"context"
	"time"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Arrival is a session that comes to a repository in a turn that began elsewhere.
type Arrival struct {
	Input workspace.Input
	// FirstPrompt is the session's first request, Started its beginning, if they are known.
	FirstPrompt string
	Started     time.Time
}

// Arrive begins the turn here: the session gets a state, or its state the turn, unless the turn runs
// here already. What the turn has changed so far is found by its tool calls only.
func Arrive(ctx context.Context, w *workspace.Workspace, a Arrival) error {
	return w.Retry(func() error {
		stamp := w.Stamp(a.Input.SessionID)
		s, isNew, err := arrived(ctx, w, a)
		if err != nil || !isNew {
			return err
		}
		return tracking.SaveUnchanged(ctx, w, s, new(tracking.Pending), stamp, nil)
	})
}

// HasArrived reports whether the session's turn has changed files here, or has moved HEAD. It writes no
// state.
func HasArrived(ctx context.Context, w *workspace.Workspace, a Arrival) (bool, error) {
	s, isNew, err := arrived(ctx, w, a)
	switch {
	case err != nil:
		return false, err
	case !isNew: // an earlier hook was stopped after that
		return w.OwnsSession(s), nil
	}
	return tracking.HasChanged(ctx, w, s)
}

// arrived returns the session's state with the turn; false if the turn runs here already.
func arrived(ctx context.Context, w *workspace.Workspace, a Arrival) (*session.State, bool, error) {
	s, err := tracking.LoadState(ctx, w, a.Input)
	if err != nil {
		return nil, false, err
	}
	rec := &s.Recorder
	if s.Phase == session.Active {
		return s, false, nil
	}
	now := w.Env.Now()
	s.Phase, s.EndedAt, s.TurnID, s.LastCheckpointID, s.LastInteraction = session.Active, nil, a.Input.Turn, "", &now
	rec.Agent, rec.Background, rec.Expect = a.Input.Agent, false, ""
	rec.Turn = session.Turn{Start: a.Input.TurnStart, Line: a.Input.TurnLine, Timed: true, Late: true}
	if s.FirstPrompt == "" {
		s.FirstPrompt = a.FirstPrompt
	}
	if rec.Cursor.Offset == 0 { // it is new here
		s.TranscriptStart = max(s.TranscriptStart, a.Input.TurnLine)
		if !a.Started.IsZero() {
			s.StartedAt = a.Started
		}
	}
	return s, true, nil
}
