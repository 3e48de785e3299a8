package strategy

import (
	"context"
	"errors"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/autocommit"
	"github.com/seed-3aff656d/entire/strategy/snapshots"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// AgentEvents records the events of an agent's session. Each method is one hook.
type AgentEvents struct{ rec *Recorder }

// AgentEvents returns the events of agents.
func (r *Recorder) AgentEvents() *AgentEvents { return &AgentEvents{r} }

// Greeting is the content of the message to a starting session.
type Greeting struct {
	// Others is the number of other sessions in this worktree that have work in
	// progress.
	Others int
}

// SessionStart creates the session's state, or continues it.
func (a *AgentEvents) SessionStart(ctx context.Context, in workspace.Input) (Greeting, error) {
	commits, machine := a.rec.Commits(), a.rec.Lifecycle().Machine
	commits.Repairer.Repair(ctx)
	machine.SweepTempFiles(ctx)
	machine.ForgetIdle(ctx, in.SessionID)
	machine.CloseTurns(ctx)
	machine.EndDeadTurns(ctx)
	machine.EndInterruptedTurns(ctx)
	machine.EndLeftTurns(ctx)
	a.findCommits(ctx, "")
	err := machine.StartSession(ctx, in)
	greeting := Greeting{Others: machine.CountOthers(ctx, in.SessionID)}
	commits.Committed.StartCompletions(ctx, in.SessionID)
	if a.rec.Sharing().Pusher.HasUnlearned(ctx) {
		a.rec.local().Children.RequestCompletion(ctx, "")
	}
	return greeting, err
}

// Prompt begins a turn. It delays the user: it walks no directories, starts no git process
// except one that reads HEAD for a new session, and leaves unfinished work to a child.
func (a *AgentEvents) Prompt(ctx context.Context, in workspace.Input) error {
	commits := a.rec.Commits()
	in.Hurried = true
	if commits.Finder.HasNew(ctx) {
		a.rec.local().Children.RequestCompletion(ctx, "")
	}
	err := a.rec.Lifecycle().Machine.BeginTurn(ctx, in)
	a.requestPromptSnapshot(ctx, in)
	a.requestRepair(ctx)
	commits.Committed.StartCompletions(ctx, "")
	return err
}

// requestPromptSnapshot asks a child for the snapshot of the turn's beginning.
func (a *AgentEvents) requestPromptSnapshot(ctx context.Context, in workspace.Input) {
	if !a.rec.Options.Bands.Enabled {
		return
	}
	services := a.rec.Snapshots()
	s, err := a.rec.Sessions.Load(in.SessionID)
	if err == nil {
		err = services.Requests.Add(snapshots.Request{Cause: bands.Prompt, Causality: services.Snapshots.Causality(s, in)}, s.ID)
	}
	if err != nil {
		a.rec.Log.WarnContext(ctx, "no snapshot of the prompt", "session_id", in.SessionID, "error", err.Error())
		return
	}
	services.Server.StartServer(ctx)
}

// requestRepair asks a child to finish the commits whose hooks were interrupted.
func (a *AgentEvents) requestRepair(ctx context.Context) {
	if len(a.rec.Commits().Repairer.Waiting(ctx)) > 0 {
		a.rec.local().Children.RequestCompletion(ctx, "")
	}
}

// Stop ends a turn: its changes become a shadow checkpoint, and the checkpoints of its commits
// get the whole transcript.
func (a *AgentEvents) Stop(ctx context.Context, in workspace.Input) error {
	commits, machine := a.rec.Commits(), a.rec.Lifecycle().Machine
	commits.Repairer.Repair(ctx)
	a.findCommits(ctx, in.SessionID)
	machine.EndDeadTurns(ctx)
	machine.EndInterruptedTurns(ctx)
	err := machine.StopTurn(ctx, in)
	commits.Committed.StartCompletions(ctx, in.SessionID)
	return err
}

// CommitTurn commits the changes of the turns of the session id, with the strategy
// auto-commit, once their stop is saved. If it makes no commit, or one that isn't linked, it
// returns a redacted line for the user.
func (a *AgentEvents) CommitTurn(ctx context.Context, id string) (notice string, err error) {
	return autocommit.New(a.rec.Workspace).Committer.CommitTurn(ctx, id, a.rec.GitHooks().PostCommit)
}

// ToolUsed links the commits that a tool of the session made without a hook.
func (a *AgentEvents) ToolUsed(ctx context.Context, in workspace.Input) error {
	if a.rec.Commits().Finder.HasNew(ctx) {
		if err := a.noteCall(ctx, in); err != nil {
			a.rec.Log.WarnContext(ctx, "call not noted", "session_id", in.SessionID, "error", err.Error())
		}
	}
	return a.rec.findCommits(ctx, in.SessionID)
}

// noteCall records a tool call of the session that has just ended and that its transcript may
// lack. The call began after the last entry of the transcript.
func (a *AgentEvents) noteCall(ctx context.Context, in workspace.Input) error {
	begun, err := transcript.LastTimeIn(in.Transcript)
	if err != nil {
		return err
	}
	return a.rec.WithLock(ctx, func() error {
		s, err := a.rec.Sessions.Load(in.SessionID)
		if errors.Is(err, session.ErrNotFound) || err == nil && s.TurnID == "" {
			return nil
		}
		if err != nil {
			return err
		}
		s.Recorder.Turn.Calls = append(s.Recorder.Turn.Calls, transcript.Call{Start: begun, End: a.rec.Env.Now()})
		return a.rec.Sessions.Save(s)
	})
}

// findCommits is [Recorder.findCommits] for events that continue after an error, which it
// logs.
func (a *AgentEvents) findCommits(ctx context.Context, by string) {
	if err := a.rec.findCommits(ctx, by); err != nil {
		a.rec.Log.WarnContext(ctx, "new commits not searched", "error", err.Error())
	}
}

// findCommits links commits that were made without a hook, in the turn of the session by or
// between turns, and starts their summaries and paired snapshots.
func (r *Recorder) findCommits(ctx context.Context, by string) error {
	found, err := r.Commits().Finder.FindNew(ctx, by)
	for _, c := range found {
		for _, id := range c.IDs {
			r.Summaries().Summarizer.SummarizeLater(ctx, id)
		}
	}
	if len(found) > 0 {
		r.Snapshots().Server.TakePairs(ctx)
	}
	return err
}

// SessionEnd ends a session, and its turn if that is still open. The agent allows one second:
// unfinished work of other hooks is left to a child.
func (a *AgentEvents) SessionEnd(ctx context.Context, in workspace.Input) error {
	defer a.requestRepair(ctx)
	s, err := a.rec.Sessions.Load(in.SessionID)
	switch {
	case errors.Is(err, session.ErrNotFound):
		return nil
	case err == nil && s.TurnID == "" && !workspace.HasRecord(s): // it never had a prompt
		return a.rec.WithLock(ctx, func() error { return a.rec.Sessions.Remove(s.ID) })
	}
	in.Hurried = true
	err = a.rec.Lifecycle().Machine.Step(ctx, in, session.Stop, nil)
	a.rec.Commits().Committed.StartCompletions(ctx, in.SessionID)
	return err
}

// RecordEnd ends a session and saves its context, the latter within guard. The agent allows
// one second: the rest is left to a detached child, with a note that later hooks find if that
// child dies, too.
func (a *AgentEvents) RecordEnd(ctx context.Context, in workspace.Input, guard func(func() error) error) error {
	contexts := a.rec.SavedContexts()
	contexts.Ender.NoteEnd(ctx, in)
	err := a.SessionEnd(ctx, in)
	err = errors.Join(err, guard(func() error { return contexts.Clearer.RecallEnd(ctx, in) }))
	if workspace.IsTimeout(err) || err != nil && ctx.Err() != nil {
		a.rec.local().Children.DetachRecall(context.WithoutCancel(ctx), in.SessionID)
		return err
	}
	return errors.Join(err, tracking.RemoveMark(tracking.New(a.rec.Workspace).Marks.EndMark(in.SessionID)))
}
