package strategy

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/lifecycle"
	"github.com/seed-3aff656d/entire/strategy/snapshots"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/turn"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Greeting is what a session that starts is told.
type Greeting struct {
	// Others is the number of other conversations in this worktree that are
	// under way.
	Others int
}

// SessionStart makes the session's state, or takes it up again.
func (r *Recorder) SessionStart(ctx context.Context, in workspace.Input) (Greeting, error) {
	r.Commits().Repairer.Repair(ctx)
	r.Lifecycle().Machine.SweepTempFiles(ctx)
	r.Lifecycle().Machine.ForgetIdle(ctx, in.SessionID)
	r.Lifecycle().Machine.EndDeadTurns(ctx)
	r.Lifecycle().Machine.EndLeftTurns(ctx)
	err := r.Lifecycle().Machine.Step(ctx, in, session.Start, func(s *session.State, n *tracking.Pending) error {
		if s.Recorder.Unlisted = r.Turn().Observer.LargeWorktree(); s.Recorder.Unlisted {
			n.Unstored = true // a child makes the list
			return nil
		}
		entries, err := r.Repo.Status(ctx)
		if err != nil {
			return fmt.Errorf("list what is untracked: %w", err)
		}
		n.Known = turn.EncodeKnown((&turn.TurnChanges{}).After(nil, entries))
		return nil
	})
	var greeting Greeting
	for _, s := range r.PendingSessions(ctx) {
		busy := s.Phase == session.Active || s.CheckpointCount > 0 || len(s.FilesTouched) > 0
		if s.ID != in.SessionID && s.Phase != session.Ended && busy {
			greeting.Others++
		}
	}
	r.Commits().Committed.StartCompletions(ctx, in.SessionID)
	return greeting, err
}

// Prompt begins a turn. Somebody waits for it: it walks nothing, starts no git
// process but one that reads HEAD for a session not seen before, and leaves
// what it finds unfinished to a child.
func (r *Recorder) Prompt(ctx context.Context, in workspace.Input) error {
	in.Hurried = true
	start := r.Tracking().Marks.MarkPrompt(ctx, in.SessionID)
	err := r.Lifecycle().Machine.BeginTurn(ctx, in, func(s *session.State, n *tracking.Pending) error {
		rec := &s.Recorder
		rec.Agent, rec.Expect = in.Agent, ""
		if !transcript.IsHuman(in.Prompt) && s.TurnID != "" {
			r.Log.DebugContext(ctx, "not a person's prompt", "session_id", s.ID)
		} else {
			id, err := checkpoint.NewID(r.Env.Random)
			if err != nil {
				return err
			}
			s.TurnID, s.LastCheckpointID = string(id), ""
			if s.FirstPrompt == "" {
				s.FirstPrompt = r.FirstPrompt(in.Prompt)
			}
		}
		if rec.Turn.Start.IsZero() { // else an earlier turn has not been saved, and this one goes on with it
			rec.Turn.Start, rec.Turn.Line = start, rec.Cursor.Lines
			r.Provenance().Steps.MeasureBefore(ctx, s, n)
		}
		rec.Background = false
		lifecycle.Notified(s, in.Prompt)
		if s.TranscriptPath == "" && transcript.IsHuman(in.Prompt) { // else it is read there
			return r.Tracking().Transcripts.AddPrompts(ctx, s, n, []transcript.Prompt{{Text: in.Prompt, Line: rec.Cursor.Lines}})
		}
		return nil
	})
	r.askPrompt(ctx, in)
	if len(r.Commits().Repairer.Waiting(ctx)) > 0 {
		r.Local().Children.RequestCompletion(ctx, "")
	}
	r.Commits().Committed.StartCompletions(ctx, "")
	return err
}

// askPrompt lets a child take the snapshot of the turn's beginning.
func (r *Recorder) askPrompt(ctx context.Context, in workspace.Input) {
	if !r.Options.Bands.Enabled {
		return
	}
	s, err := r.Sessions.Load(in.SessionID)
	if err == nil {
		err = r.Snapshots().Requests.Add(snapshots.Request{Cause: bands.Prompt, Causality: r.Snapshots().Snapshots.Causality(s, in)}, s.ID)
	}
	if err != nil {
		r.Log.WarnContext(ctx, "no snapshot of the prompt", "session_id", in.SessionID, "error", err.Error())
		return
	}
	r.Snapshots().Server.StartServer(ctx)
}

// Stop ends a turn: what it changed becomes a shadow checkpoint, and the
// checkpoints of its commits get the whole transcript.
func (r *Recorder) Stop(ctx context.Context, in workspace.Input) error {
	r.Commits().Repairer.Repair(ctx)
	r.Lifecycle().Machine.EndDeadTurns(ctx)
	err := r.Lifecycle().Machine.Step(ctx, in, session.TurnEnd, func(s *session.State, _ *tracking.Pending) error {
		s.Recorder.Background = in.Background
		return nil
	})
	if err != nil {
		r.Lifecycle().Machine.LeaveStop(ctx, in, err)
	}
	r.Commits().Committed.StartCompletions(ctx, in.SessionID)
	return err
}

// SessionEnd ends a session, and the turn that it may have left open.
//
// It has a second: what others left is left to a child.
func (r *Recorder) SessionEnd(ctx context.Context, in workspace.Input) error {
	defer func() {
		if len(r.Commits().Repairer.Waiting(ctx)) > 0 {
			r.Local().Children.RequestCompletion(ctx, "")
		}
	}()
	s, err := r.Sessions.Load(in.SessionID)
	switch {
	case errors.Is(err, session.ErrNotFound):
		return nil
	case err == nil && s.TurnID == "" && !workspace.HasRecord(s): // nothing was ever asked
		return r.WithLock(ctx, func() error { return r.Sessions.Remove(s.ID) })
	}
	in.Hurried = true
	err = r.Lifecycle().Machine.Step(ctx, in, session.Stop, nil)
	r.Commits().Committed.StartCompletions(ctx, in.SessionID)
	return err
}
