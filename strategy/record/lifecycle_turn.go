package record

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// BeginTurn begins a turn with a prompt. A prompt that wasn't written by a person continues
// the turn before it. A turn that had no stop stays unclosed, which a child changes.
func BeginTurn(ctx context.Context, w *workspace.Workspace, in workspace.Input) error {
	start := tracking.MarkPrompt(ctx, w, in.SessionID)
	if !in.TurnStart.IsZero() && in.TurnStart.Before(start) {
		start = in.TurnStart
	}
	begin := func(s *session.State, n *tracking.Pending) error {
		rec := &s.Recorder
		if in.Late && s.TurnID == in.Turn {
			return ErrTurnOver
		}
		rec.Agent, rec.Expect = in.Agent, ""
		if rec.Launched != "" { // they are looked at where the session started
			rec.Elsewhere = nil
		}
		if !in.Late && !transcript.IsHuman(in.Prompt) && s.TurnID != "" {
			w.Log.DebugContext(ctx, "not a person's prompt", "session_id", s.ID)
		} else {
			id, err := turnID(w, in)
			if err != nil {
				return err
			}
			if s.Phase == session.Active && !rec.Turn.Start.IsZero() {
				leaveUnclosed(s)
				n.Unstored = true // the child closes it
			}
			s.TurnID, s.LastCheckpointID = id, ""
			if s.FirstPrompt == "" || transcript.IsBetterTitle(in.Prompt, s.FirstPrompt) {
				s.FirstPrompt = w.FirstPrompt(in.Prompt)
			}
		}
		if rec.Turn.Start.IsZero() { // else the turn continues
			rec.Turn.Start, rec.Turn.Line = start, rec.Cursor.Lines
			if len(rec.Unclosed) == 0 {
				tracking.MeasureBefore(ctx, w, s, n)
			} else if info, err := os.Stat(s.TranscriptPath); err == nil {
				rec.Turn.Offset = info.Size()
			}
		}
		rec.Background = false
		endNotifiedTasks(s, in.Prompt)
		if s.TranscriptPath == "" && transcript.IsHuman(in.Prompt) { // else it is read there
			return tracking.AddPrompts(ctx, w, s, n, []transcript.Prompt{{Text: in.Prompt, Line: rec.Cursor.Lines}})
		}
		return nil
	}
	return w.Retry(func() error { return stepOnce(ctx, w, in, session.TurnStart, parts{begin: begin}) })
}

// turnID returns the id of a turn that begins, the same in all repositories of the session.
func turnID(w *workspace.Workspace, in workspace.Input) (string, error) {
	if in.Turn != "" {
		return in.Turn, nil
	}
	id, err := checkpoint.NewHexID(w.Env.Random)
	return string(id), err
}

// mostUnclosed is the maximum number of turns of a session that are unclosed at the same time.
const mostUnclosed = 20

// leaveUnclosed puts the turn, which had no stop, among the unclosed ones. If there are too many, the
// oldest two become one turn.
func leaveUnclosed(s *session.State) {
	rec := &s.Recorder
	rec.Turn.ID = s.TurnID
	rec.Unclosed = append(rec.Unclosed, rec.Turn)
	if len(rec.Unclosed) > mostUnclosed {
		first, second := &rec.Unclosed[0], rec.Unclosed[1]
		first.Edits = append(first.Edits, second.Edits...)
		first.Calls = append(first.Calls, second.Calls...)
		first.Unsure = append(first.Unsure, second.Unsure...)
		first.Prompts = append(first.Prompts, second.Prompts...)
		first.Timed, first.Mixed = first.Timed && second.Timed, first.Mixed || second.Mixed
		first.Summary = second.Summary
		rec.Unclosed = slices.Delete(rec.Unclosed, 1, 2)
	}
	rec.Turn = session.Turn{}
}

// CloseTurns closes the unclosed turns of this worktree's sessions.
func CloseTurns(ctx context.Context, w *workspace.Workspace) {
	for _, s := range w.PendingSessions(ctx) {
		if len(s.Recorder.Unclosed) == 0 {
			continue
		}
		w.Recovered++
		err := ApplyEvent(ctx, w, workspace.Input{SessionID: s.ID}, session.TaskStep, func(s *session.State, n *tracking.Pending) error {
			return tracking.SaveUnclosed(ctx, w, s, n)
		})
		if err != nil {
			w.Log.ErrorContext(ctx, "turn without a stop not saved", "session_id", s.ID, "error", err.Error())
		}
	}
}

// StopTurn ends a turn. If the lock isn't free, the stop leaves a note, and requests a
// detached child that waits longer for the lock to end the turn. A commit made before that
// ends it, too.
func StopTurn(ctx context.Context, w *workspace.Workspace, in workspace.Input) error {
	err := ApplyEvent(ctx, w, in, session.TurnEnd, func(s *session.State, _ *tracking.Pending) error {
		s.Recorder.Background = in.Background
		return nil
	})
	if err == nil || !errors.Is(err, disk.ErrLocked) && !errors.Is(err, workspace.ErrStale) && ctx.Err() == nil {
		return err // it would fail again
	}
	note := stopNote{SessionID: in.SessionID, Background: in.Background}
	if failed := tracking.WriteMark(w, tracking.StopMark(w, in.SessionID), note); failed != nil {
		w.Log.WarnContext(ctx, "stop not noted", "session_id", in.SessionID, "error", failed.Error())
		return err
	}
	w.RequestCompletion(ctx, in.SessionID)
	return err
}

// EndTurn ends the turn of a session of this worktree whose agent is dead: the changes of the
// turn are saved as at its stop.
func EndTurn(ctx context.Context, w *workspace.Workspace, id string) error {
	return ApplyEvent(ctx, w, workspace.Input{SessionID: id}, session.TurnEnd, nil)
}

// CompleteTurn completes the checkpoints of a finished turn. The session no longer expects a
// last message that its transcript lacks.
func CompleteTurn(ctx context.Context, w *workspace.Workspace, id string) error {
	return ApplyEvent(ctx, w, workspace.Input{SessionID: id}, session.Complete, func(s *session.State, _ *tracking.Pending) error {
		s.Recorder.Expect = ""
		return nil
	})
}

// EndDeadTurns ends the turns of agents of this worktree that are no longer alive: they will
// have no stop.
func EndDeadTurns(ctx context.Context, w *workspace.Workspace) {
	for _, s := range w.PendingSessions(ctx) {
		agent := s.Recorder.Agent
		if s.Phase != session.Active || agent.PID == 0 || w.Env.Alive(agent.PID, agent.Start) {
			continue
		}
		w.Recovered++
		in := workspace.Input{SessionID: s.ID}
		if err := ApplyEvent(ctx, w, in, session.TurnEnd, nil); err != nil {
			w.Log.ErrorContext(ctx, "turn of a dead agent not saved", "session_id", s.ID, "error", err.Error())
		}
	}
}

// EndInterruptedTurns ends the turns of this worktree that a person stopped, according to their
// transcripts: they will have no stop.
func EndInterruptedTurns(ctx context.Context, w *workspace.Workspace) {
	for _, s := range w.PendingSessions(ctx) {
		if s.Phase != session.Active || s.TranscriptPath == "" || s.Recorder.Turn.Start.IsZero() {
			continue
		}
		at, err := transcript.InterruptedAt(s.TranscriptPath)
		if err != nil || at.Before(s.Recorder.Turn.Start) {
			continue
		}
		w.Recovered++
		turn := s.TurnID
		err = ApplyEvent(ctx, w, workspace.Input{SessionID: s.ID}, session.TurnEnd, func(s *session.State, _ *tracking.Pending) error {
			if s.TurnID != turn {
				return ErrTurnOver
			}
			return nil
		})
		if err != nil && !errors.Is(err, ErrTurnOver) {
			w.Log.ErrorContext(ctx, "interrupted turn not saved", "session_id", s.ID, "error", err.Error())
		}
	}
}

// stopNote is the note of a stop that could not end its turn.
type stopNote struct {
	SessionID  string `json:"session_id"`
	Background bool   `json:"background,omitempty"`
}

// EndLeftTurns ends the turns of this worktree whose stops could not end them, and starts
// children that finish ends of sessions.
func EndLeftTurns(ctx context.Context, w *workspace.Workspace) {
	entries, err := os.ReadDir(tracking.MarksDir(w))
	if err != nil {
		return
	}
	tracking.RequestEnds(ctx, w, entries)
	for _, e := range entries {
		id, is := tracking.MarkedSession(e.Name(), tracking.StopPrefix)
		if !is {
			continue
		}
		if err := endLeftTurn(ctx, w, id); err != nil {
			w.Log.ErrorContext(ctx, "turn not saved", "session_id", id, "error", err.Error())
		}
	}
}

// ErrTurnOver means that the turn to be ended has already ended.
var ErrTurnOver = errors.New("the turn is over")

func endLeftTurn(ctx context.Context, w *workspace.Workspace, id string) error {
	if _, err := w.Sessions.Load(id); errors.Is(err, session.ErrNotFound) || errors.Is(err, session.ErrInvalid) {
		return tracking.RemoveMark(filepath.Join(tracking.MarksDir(w), tracking.StopPrefix+id+tracking.MarkSuffix))
	}
	w.Recovered++
	err := ApplyEvent(ctx, w, workspace.Input{SessionID: id}, session.TurnEnd, func(s *session.State, _ *tracking.Pending) error {
		data, err := disk.ReadFile(tracking.StopMark(w, id))
		if err != nil {
			return ErrTurnOver // there was a prompt, or another hook ended the turn
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
