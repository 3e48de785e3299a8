package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// stopNote is what a stop notes that could not end its turn.
type stopNote struct {
	SessionID  string `json:"session_id"`
	Background bool   `json:"background,omitempty"`
}

// LeaveStop notes that a turn is still to be ended, and lets a detached child do
// it, which waits longer for the lock. A commit that comes before does it, too.
func (r *Machine) LeaveStop(ctx context.Context, in workspace.Input, cause error) {
	if !errors.Is(cause, disk.ErrLocked) && !errors.Is(cause, workspace.ErrStale) && ctx.Err() == nil {
		return // it would fail again
	}
	if err := r.marks.WriteMark(r.marks.StopMark(in.SessionID), stopNote{SessionID: in.SessionID, Background: in.Background}); err != nil {
		r.Log.WarnContext(ctx, "stop not noted", "session_id", in.SessionID, "error", err.Error())
		return
	}
	r.children.RequestCompletion(ctx, in.SessionID)
}

// EndLeftTurns ends the turns of this worktree whose stops could not, and lets children
// end sessions.
func (r *Machine) EndLeftTurns(ctx context.Context) {
	entries, err := os.ReadDir(r.marks.Dir())
	if err != nil {
		return
	}
	r.marks.RequestEnds(ctx, entries)
	for _, e := range entries {
		id, is := tracking.MarkedSession(e.Name(), tracking.StopPrefix)
		if !is {
			continue
		}
		if err := r.endLeftTurn(ctx, id); err != nil {
			r.Log.ErrorContext(ctx, "turn not saved", "session_id", id, "error", err.Error())
		}
	}
}

// ErrTurnOver means that there is no turn to be ended any more.
var ErrTurnOver = errors.New("the turn is over")

func (r *Machine) endLeftTurn(ctx context.Context, id string) error {
	if _, err := r.Sessions.Load(id); errors.Is(err, session.ErrNotFound) || errors.Is(err, session.ErrInvalid) {
		return tracking.RemoveMark(filepath.Join(r.marks.Dir(), tracking.StopPrefix+id+tracking.MarkSuffix))
	}
	r.Recovered++
	err := r.Step(ctx, workspace.Input{SessionID: id}, session.TurnEnd, func(s *session.State, _ *tracking.Pending) error {
		data, err := os.ReadFile(r.marks.StopMark(id))
		if err != nil {
			return ErrTurnOver // a prompt has come, or another hook has ended it
		}
		var note stopNote
		if err := json.Unmarshal(data, &note); err == nil {
			s.Recorder.Background = note.Background
		}
		return nil
	})
	if errors.Is(err, ErrTurnOver) {
		return nil
	}
	return err
}
