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
func (m *Machine) LeaveStop(ctx context.Context, in workspace.Input, cause error) {
	if !errors.Is(cause, disk.ErrLocked) && !errors.Is(cause, workspace.ErrStale) && ctx.Err() == nil {
		return // it would fail again
	}
	if err := m.marks.WriteMark(m.marks.StopMark(in.SessionID), stopNote{SessionID: in.SessionID, Background: in.Background}); err != nil {
		m.Log.WarnContext(ctx, "stop not noted", "session_id", in.SessionID, "error", err.Error())
		return
	}
	m.children.RequestCompletion(ctx, in.SessionID)
}

// EndLeftTurns ends the turns of this worktree whose stops could not, and lets children
// end sessions.
func (m *Machine) EndLeftTurns(ctx context.Context) {
	entries, err := os.ReadDir(m.marks.Dir())
	if err != nil {
		return
	}
	m.marks.RequestEnds(ctx, entries)
	for _, e := range entries {
		id, is := tracking.MarkedSession(e.Name(), tracking.StopPrefix)
		if !is {
			continue
		}
		if err := m.endLeftTurn(ctx, id); err != nil {
			m.Log.ErrorContext(ctx, "turn not saved", "session_id", id, "error", err.Error())
		}
	}
}

// ErrTurnOver means that there is no turn to be ended any more.
var ErrTurnOver = errors.New("the turn is over")

func (m *Machine) endLeftTurn(ctx context.Context, id string) error {
	if _, err := m.Sessions.Load(id); errors.Is(err, session.ErrNotFound) || errors.Is(err, session.ErrInvalid) {
		return tracking.RemoveMark(filepath.Join(m.marks.Dir(), tracking.StopPrefix+id+tracking.MarkSuffix))
	}
	m.Recovered++
	err := m.Step(ctx, workspace.Input{SessionID: id}, session.TurnEnd, func(s *session.State, _ *tracking.Pending) error {
		data, err := os.ReadFile(m.marks.StopMark(id))
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
