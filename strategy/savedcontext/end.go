package savedcontext

import (
	"context"
	"errors"
	"os"

	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// NoteEnd records that a session is ending, so that a background process can finish
// it if the hook runs out of time.
func NoteEnd(ctx context.Context, w *workspace.Workspace, in workspace.Input) {
	if w.Sessions.Stamp(in.SessionID) == "" {
		return
	}
	self, _ := proc.Inspect(os.Getpid())
	note := tracking.EndNote{SessionID: in.SessionID, Reason: in.Reason, PromptID: in.PromptID, Agent: in.Agent, PID: os.Getpid(), Start: self.Start}
	if err := tracking.WriteMark(w, tracking.EndMark(w, in.SessionID), note); err != nil {
		w.Log.WarnContext(ctx, "end of the session not noted", "session_id", in.SessionID, "error", err.Error())
	}
}

// finishEnd ends a session as its note describes. The note of a session that continued was
// removed.
func finishEnd(ctx context.Context, w *workspace.Workspace, id string) error {
	note, found := tracking.EndNoted(w, id)
	if !found {
		return nil
	}
	in := note.Input()
	noted := func() error {
		if _, found := tracking.EndNoted(w, in.SessionID); !found {
			return record.ErrTurnOver
		}
		return nil
	}
	s, err := w.Sessions.Load(in.SessionID)
	if err == nil {
		w.Recovered++
		if s.Phase != session.Ended {
			err = record.ApplyEvent(ctx, w, in, session.Stop, func(*session.State, *tracking.Pending) error { return noted() })
		}
	}
	if err == nil {
		err = recollect(ctx, w, in.SessionID, allEffort(), func(ctx context.Context, cw *contextWriter) error {
			if err := noted(); err != nil {
				return err
			}
			c := clearingOf(in)
			c.Late = true
			return cw.end(ctx, c, endCause(in), nil)
		})
	}
	if errors.Is(err, record.ErrTurnOver) || errors.Is(err, session.ErrNotFound) {
		err = nil
	}
	if workspace.IsTimeout(err) {
		return err
	}
	return errors.Join(err, tracking.RemoveMark(tracking.EndMark(w, id)))
}

// endCause returns the cause to save a session that ends.
func endCause(in workspace.Input) recall.Cause {
	if in.Reason == "clear" {
		return recall.Clear
	}
	return recall.Exit
}

func clearingOf(in workspace.Input) Clearing {
	return Clearing{SessionID: in.SessionID, PromptID: in.PromptID, Agent: in.Agent}
}
