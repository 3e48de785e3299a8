package record

import (
	"context"
	"fmt"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// StartSession creates the session's state, or continues it, and lists the files
// that are untracked before its first turn.
func StartSession(ctx context.Context, w *workspace.Workspace, in workspace.Input) error {
	return ApplyEvent(ctx, w, in, session.Start, func(s *session.State, n *tracking.Pending) error {
		if s.Recorder.Unlisted = tracking.IsLargeWorktree(w); s.Recorder.Unlisted {
			n.Unstored = true // a child makes the list
			return nil
		}
		entries, err := git.Status(ctx, w.Repo)
		if err != nil {
			return fmt.Errorf("list untracked files: %w", err)
		}
		n.Known = tracking.EncodeKnown((&tracking.TurnChanges{}).After(nil, entries))
		return nil
	})
}

// CountOthers returns the number of sessions in this worktree, other than id, that
// have work in progress.
func CountOthers(ctx context.Context, w *workspace.Workspace, id string) int {
	others := 0
	for _, s := range w.PendingSessions(ctx) {
		busy := s.Phase == session.Active || s.CheckpointCount > 0 || len(s.FilesTouched) > 0
		if s.ID != id && s.Phase != session.Ended && busy {
			others++
		}
	}
	return others
}

// EndSession records the end of a session whose worktree was removed. Its pending work stays
// pending.
func EndSession(ctx context.Context, w *workspace.Workspace, id string) error {
	return w.WithLock(ctx, func() error {
		s, err := w.Sessions.Load(id)
		if err != nil {
			return err
		}
		now := w.Env.Now()
		s.Phase, s.EndedAt = session.Ended, &now
		return w.Sessions.Save(s)
	})
}
