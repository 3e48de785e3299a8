package strategy

import (
	"context"
	"errors"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
	"github.com/seed-3aff656d/entire/strategy/sharing"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Greeting is the content of the message to a starting session.
type Greeting struct {
	// Others is the number of other sessions in this worktree that have work in
	// progress.
	Others int
}

// SessionStart creates the session's state, or continues it.
func SessionStart(ctx context.Context, w *workspace.Workspace, in workspace.Input) (Greeting, error) {
	record.RepairCommits(ctx, w)
	record.SweepTempFiles(ctx, w)
	record.ForgetIdle(ctx, w, in.SessionID)
	record.CloseTurns(ctx, w)
	record.EndDeadTurns(ctx, w)
	record.EndInterruptedTurns(ctx, w)
	record.EndLeftTurns(ctx, w)
	tryFindCommits(ctx, w, "")
	err := record.StartSession(ctx, w, in)
	greeting := Greeting{Others: record.CountOthers(ctx, w, in.SessionID)}
	record.StartCompletions(ctx, w, in.SessionID)
	if sharing.HasUnlearned(ctx, w) {
		w.RequestCompletion(ctx, "")
	}
	return greeting, err
}

// Prompt begins a turn. It delays the user: it walks no directories, starts no git process
// except one that reads HEAD for a new session, and leaves unfinished work to a child.
func Prompt(ctx context.Context, w *workspace.Workspace, in workspace.Input) error {
	in.Hurried = true
	if record.HasNewCommits(ctx, w) {
		w.RequestCompletion(ctx, "")
	}
	err := record.BeginTurn(ctx, w, in)
	requestPromptSnapshot(ctx, w, in)
	requestRepair(ctx, w)
	record.StartCompletions(ctx, w, "")
	return err
}

// requestPromptSnapshot asks a child for the snapshot of the turn's beginning.
func requestPromptSnapshot(ctx context.Context, w *workspace.Workspace, in workspace.Input) {
	if !w.Options.Bands.Enabled {
		return
	}
	s, err := w.Sessions.Load(in.SessionID)
	if err == nil {
		err = tracking.AddRequest(w, tracking.SnapshotRequest{Cause: bands.Prompt, Causality: tracking.Causality(w, s, in)}, s.ID)
	}
	if err != nil {
		w.Log.WarnContext(ctx, "no snapshot of the prompt", "session_id", in.SessionID, "error", err.Error())
		return
	}
	tracking.StartServer(ctx, w)
}

// requestRepair asks a child to finish the commits whose hooks were interrupted.
func requestRepair(ctx context.Context, w *workspace.Workspace) {
	if len(record.WaitingDecisions(ctx, w)) > 0 {
		w.RequestCompletion(ctx, "")
	}
}

// Stop ends a turn: its changes become a shadow checkpoint, and the checkpoints of its commits
// get the whole transcript.
func Stop(ctx context.Context, w *workspace.Workspace, in workspace.Input) error {
	record.RepairCommits(ctx, w)
	tryFindCommits(ctx, w, in.SessionID)
	record.EndDeadTurns(ctx, w)
	record.EndInterruptedTurns(ctx, w)
	err := record.StopTurn(ctx, w, in)
	record.StartCompletions(ctx, w, in.SessionID)
	return err
}

// CommitTurn commits the changes of the turns of the session id, with the strategy
// auto-commit, once their stop is saved. If it makes no commit, or one that isn't linked, it
// returns a redacted line for the user.
func CommitTurn(ctx context.Context, w *workspace.Workspace, id string) (notice string, err error) {
	return record.CommitTurn(ctx, w, id, func(ctx context.Context) error { return PostCommit(ctx, w) })
}

// ToolUsed links the commits that a tool of the session made without a hook.
func ToolUsed(ctx context.Context, w *workspace.Workspace, in workspace.Input) error {
	if record.HasNewCommits(ctx, w) {
		if err := noteCall(ctx, w, in); err != nil {
			w.Log.WarnContext(ctx, "call not noted", "session_id", in.SessionID, "error", err.Error())
		}
	}
	return findCommits(ctx, w, in.SessionID)
}

// noteCall records a tool call of the session that has just ended and that its transcript may
// lack. The call began after the last entry of the transcript.
func noteCall(ctx context.Context, w *workspace.Workspace, in workspace.Input) error {
	begun, err := transcript.LastTimeIn(in.Transcript)
	if err != nil {
		return err
	}
	return w.WithLock(ctx, func() error {
		s, err := w.Sessions.Load(in.SessionID)
		if errors.Is(err, session.ErrNotFound) || err == nil && s.TurnID == "" {
			return nil
		}
		if err != nil {
			return err
		}
		s.Recorder.Turn.Calls = append(s.Recorder.Turn.Calls, transcript.Call{Start: begun, End: w.Env.Now()})
		return w.Sessions.Save(s)
	})
}

// tryFindCommits is [findCommits] for events that continue after an error, which it
// logs.
func tryFindCommits(ctx context.Context, w *workspace.Workspace, by string) {
	if err := findCommits(ctx, w, by); err != nil {
		w.Log.WarnContext(ctx, "new commits not searched", "error", err.Error())
	}
}

// findCommits links commits that were made without a hook, in the turn of the session by or
// between turns, and starts their summaries and paired snapshots.
func findCommits(ctx context.Context, w *workspace.Workspace, by string) error {
	found, err := record.FindNewCommits(ctx, w, by)
	for _, c := range found {
		for _, id := range c.IDs {
			record.SummarizeLater(ctx, w, id)
		}
	}
	if len(found) > 0 {
		tracking.TakePairs(ctx, w)
	}
	return err
}

// SessionEnd ends a session, and its turn if that is still open. The agent allows one second:
// unfinished work of other hooks is left to a child.
func SessionEnd(ctx context.Context, w *workspace.Workspace, in workspace.Input) error {
	defer requestRepair(ctx, w)
	s, err := w.Sessions.Load(in.SessionID)
	switch {
	case errors.Is(err, session.ErrNotFound):
		return nil
	case err == nil && s.TurnID == "" && !workspace.HasRecord(s): // it never had a prompt
		return w.WithLock(ctx, func() error { return w.Sessions.Remove(s.ID) })
	}
	in.Hurried = true
	err = record.ApplyEvent(ctx, w, in, session.Stop, nil)
	record.StartCompletions(ctx, w, in.SessionID)
	return err
}

// RecordEnd ends a session and saves its context, the latter within guard. The agent allows
// one second: the rest is left to a detached child, with a note that later hooks find if that
// child dies, too.
func RecordEnd(ctx context.Context, w *workspace.Workspace, in workspace.Input, guard func(func() error) error) error {
	savedcontext.NoteEnd(ctx, w, in)
	err := SessionEnd(ctx, w, in)
	err = errors.Join(err, guard(func() error { return savedcontext.RecallEnd(ctx, w, in) }))
	if workspace.IsTimeout(err) || err != nil && ctx.Err() != nil {
		w.DetachRecall(context.WithoutCancel(ctx), in.SessionID)
		return err
	}
	return errors.Join(err, tracking.RemoveMark(tracking.EndMark(w, in.SessionID)))
}
