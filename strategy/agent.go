package strategy

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// Input is what an agent's hook tells, checked by the hook.
type Input struct {
	SessionID string
	// Transcript is the path of the transcript, empty if none was named.
	Transcript string
	// Prompt is what a prompt hook was given.
	Prompt string
	// Summary is the agent's last message, told at a stop.
	Summary string
	// Background reports whether tasks go on running after the stop.
	Background bool
	// Task is what a subagent's hook tells.
	Task TaskEvent
	// Agent is the process of the agent.
	Agent session.Process
	// hurried says that what a child can do is left to one.
	hurried bool
	// Source is why a session starts, Reason why it ends, PromptID what names the
	// prompt that an event belongs to; each empty if not told.
	Source, Reason, PromptID string
	// Compaction is the agent's own summary of what it compacted.
	Compaction string
}

// Greeting is what a session that starts is told.
type Greeting struct {
	// Others is the number of other conversations in this worktree that are
	// under way.
	Others int
}

// SessionStart makes the session's state, or takes it up again.
func (r *Recorder) SessionStart(ctx context.Context, in Input) (Greeting, error) {
	r.Repair(ctx)
	r.sweep(ctx)
	r.forgetIdle(ctx, in.SessionID)
	r.endDead(ctx)
	r.endLeft(ctx)
	err := r.step(ctx, in, session.Start, func(s *session.State, n *notes) error {
		if s.Recorder.Unlisted = r.largeWorktree(); s.Recorder.Unlisted {
			n.unstored = true // a child makes the list
			return nil
		}
		entries, err := r.Repo.Status(ctx)
		if err != nil {
			return fmt.Errorf("list what is untracked: %w", err)
		}
		n.known = encodeKnown((&turnChanges{}).after(nil, entries))
		return nil
	})
	var greeting Greeting
	for _, s := range r.pendingHere(ctx) {
		busy := s.Phase == session.Active || s.CheckpointCount > 0 || len(s.FilesTouched) > 0
		if s.ID != in.SessionID && s.Phase != session.Ended && busy {
			greeting.Others++
		}
	}
	r.topUp(ctx, in.SessionID)
	return greeting, err
}

// Prompt begins a turn. Somebody waits for it: it walks nothing, starts no git
// process but one that reads HEAD for a session not seen before, and leaves
// what it finds unfinished to a child.
func (r *Recorder) Prompt(ctx context.Context, in Input) error {
	in.hurried = true
	start := r.markPrompt(ctx, in.SessionID)
	err := r.step(ctx, in, session.TurnStart, func(s *session.State, n *notes) error {
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
				s.FirstPrompt = r.firstPrompt(in.Prompt)
			}
		}
		if rec.Turn.Start.IsZero() { // else an earlier turn has not been saved, and this one goes on with it
			rec.Turn.Start, rec.Turn.Line = start, rec.Cursor.Lines
			r.measure(ctx, s, n)
		}
		rec.Background = false
		notified(s, in.Prompt)
		if s.TranscriptPath == "" && transcript.IsHuman(in.Prompt) { // else it is read there
			return r.addPrompts(ctx, s, n, []transcript.Prompt{{Text: in.Prompt, Line: rec.Cursor.Lines}})
		}
		return nil
	})
	r.askPrompt(ctx, in)
	if len(r.waiting(ctx)) > 0 {
		r.detach(ctx, "")
	}
	r.topUp(ctx, "")
	return err
}

// askPrompt lets a child take the snapshot of the turn's beginning.
func (r *Recorder) askPrompt(ctx context.Context, in Input) {
	if !r.Options.Bands.Enabled {
		return
	}
	s, err := r.Sessions.Load(in.SessionID)
	if err == nil {
		err = r.request(request{Cause: bands.Prompt, Causality: r.causality(s, in)}, s.ID)
	}
	if err != nil {
		r.Log.WarnContext(ctx, "no snapshot of the prompt", "session_id", in.SessionID, "error", err.Error())
		return
	}
	r.askChild(ctx)
}

// Stop ends a turn: what it changed becomes a shadow checkpoint, and the
// checkpoints of its commits get the whole transcript.
func (r *Recorder) Stop(ctx context.Context, in Input) error {
	r.Repair(ctx)
	r.endDead(ctx)
	err := r.step(ctx, in, session.TurnEnd, func(s *session.State, _ *notes) error {
		s.Recorder.Background = in.Background
		return nil
	})
	if err != nil {
		r.leaveStop(ctx, in, err)
	}
	r.topUp(ctx, in.SessionID)
	return err
}

// SessionEnd ends a session, and the turn that it may have left open.
//
// It has a second: what others left is left to a child.
func (r *Recorder) SessionEnd(ctx context.Context, in Input) error {
	defer func() {
		if len(r.waiting(ctx)) > 0 {
			r.detach(ctx, "")
		}
	}()
	s, err := r.Sessions.Load(in.SessionID)
	switch {
	case errors.Is(err, session.ErrNotFound):
		return nil
	case err == nil && s.TurnID == "" && !hasRecord(s): // nothing was ever asked
		return r.locked(ctx, func() error { return r.Sessions.Remove(s.ID) })
	}
	in.hurried = true
	err = r.step(ctx, in, session.Stop, nil)
	r.topUp(ctx, in.SessionID)
	return err
}

func hasRecord(s *session.State) bool {
	return len(s.FilesTouched)+len(s.TurnCheckpointIDs)+s.CheckpointCount > 0 || s.LastCheckpointID != ""
}
