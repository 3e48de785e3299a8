package savedcontext

import (
	"context"
	"errors"
	"os"

	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/lifecycle"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// NoteEnd records that a session is ending, so that a background process can finish
// it if the hook runs out of time.
func (e *Ender) NoteEnd(ctx context.Context, in workspace.Input) {
	if e.Sessions.Stamp(in.SessionID) == "" {
		return
	}
	self, _ := proc.Look(os.Getpid())
	note := tracking.EndNote{SessionID: in.SessionID, Reason: in.Reason, PromptID: in.PromptID, Agent: in.Agent, PID: os.Getpid(), Start: self.Start}
	if err := e.marks.WriteMark(e.marks.EndMark(in.SessionID), note); err != nil {
		e.Log.WarnContext(ctx, "end of the session not noted", "session_id", in.SessionID, "error", err.Error())
	}
}

// finishEnd ends a session as its note describes. The note of a session that continued was
// removed.
func (e *Ender) finishEnd(ctx context.Context, id string) error {
	note, found := e.marks.EndNoted(id)
	if !found {
		return nil
	}
	in := note.Input()
	noted := func() error {
		if _, found := e.marks.EndNoted(in.SessionID); !found {
			return lifecycle.ErrTurnOver
		}
		return nil
	}
	s, err := e.Sessions.Load(in.SessionID)
	if err == nil {
		e.Recovered++
		if s.Phase != session.Ended {
			err = e.machine.Step(ctx, in, session.Stop, func(*session.State, *tracking.Pending) error { return noted() })
		}
	}
	if err == nil {
		err = e.saver.recollect(ctx, in.SessionID, allEffort(), func(ctx context.Context, w *contextWriter) error {
			if err := noted(); err != nil {
				return err
			}
			c := clearingOf(in)
			c.Late = true
			return w.end(ctx, c, endCause(in), nil)
		})
	}
	if errors.Is(err, lifecycle.ErrTurnOver) || errors.Is(err, session.ErrNotFound) {
		err = nil
	}
	if workspace.IsTimeout(err) {
		return err
	}
	return errors.Join(err, tracking.RemoveMark(e.marks.EndMark(id)))
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
