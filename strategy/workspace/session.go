package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/session"
)

// OwnsSession reports whether the session belongs to this worktree, which may have been moved since
// (git worktree move, or the folder of the repository). A linked worktree is recognized by its id; a
// later one with the id of a removed one doesn't own the sessions from before it was created.
func (w *Workspace) OwnsSession(s *session.State) bool {
	at := s.WorktreePath == w.Repo.Root
	if !at {
		resolved, err := filepath.EvalSymlinks(s.WorktreePath)
		at = err == nil && resolved == w.Repo.Root || errors.Is(err, fs.ErrNotExist) && s.WorktreeID+w.Repo.WorktreeID == ""
	}
	switch {
	case s.WorktreeID == w.Repo.WorktreeID && s.WorktreeID != "":
		created, err := os.Stat(filepath.Join(w.Repo.GitDir, "commondir")) // written once, by git worktree add
		return at || err == nil && created.ModTime().Before(s.StartedAt)
	case at && s.WorktreeID != "": // of another worktree that was here, unless that is gone
		_, err := os.Lstat(w.GitDirOf(s.WorktreeID))
		return errors.Is(err, fs.ErrNotExist)
	default:
		return at
	}
}

// PendingSessions returns this worktree's sessions that may contribute to a commit.
// States that can't be read are logged and left alone.
func (w *Workspace) PendingSessions(ctx context.Context) []*session.State {
	return w.OwnSessions(ctx, w.Sessions.Pending)
}

// OtherPendingSessions is PendingSessions without the session id, whose state isn't read.
func (w *Workspace) OtherPendingSessions(ctx context.Context, id string) []*session.State {
	return w.OwnSessions(ctx, func() ([]*session.State, []error) { return w.Sessions.PendingBut(id) })
}

// AllSessions returns this worktree's sessions whose state can be read.
func (w *Workspace) AllSessions(ctx context.Context) []*session.State {
	return w.OwnSessions(ctx, w.Sessions.All)
}

// OwnSessions returns this worktree's sessions among those of list, whose errors it
// logs.
func (w *Workspace) OwnSessions(ctx context.Context, list func() ([]*session.State, []error)) []*session.State {
	states, failed := list()
	for _, err := range failed {
		w.Log.WarnContext(ctx, "session state skipped", "error", err.Error())
	}
	var here []*session.State
	for _, s := range states {
		if w.OwnsSession(s) {
			here = append(here, s)
		}
	}
	return here
}

// AnyOtherActive reports whether a turn of another session of this worktree runs.
func (w *Workspace) AnyOtherActive(ctx context.Context, id string) bool {
	return slices.ContainsFunc(w.OtherPendingSessions(ctx, id), func(o *session.State) bool { return o.Phase == session.Active })
}

// IsActive reports whether the session's turn runs: the session is active, and so is
// its agent's process, if that is known.
func (w *Workspace) IsActive(s *session.State) bool {
	agent := s.Recorder.Agent
	return s.Phase == session.Active && (agent.PID == 0 || w.Env.Alive(agent.PID, agent.Start))
}

// IsBusy reports whether the session's turn runs or its tasks still run in the background.
func IsBusy(s *session.State) bool { return s.Phase == session.Active || s.Recorder.Background }

// NewestFirst returns the sessions ordered by their last events, newest first.
func NewestFirst(states []*session.State) []*session.State {
	sorted := slices.Clone(states)
	slices.SortStableFunc(sorted, func(a, b *session.State) int { return b.LastActive().Compare(a.LastActive()) })
	return sorted
}

// HasRecord reports whether the session has pending files or checkpoints.
func HasRecord(s *session.State) bool {
	return len(s.FilesTouched)+len(s.TurnCheckpointIDs)+s.CheckpointCount > 0 || s.LastCheckpointID != ""
}

// IncompleteCheckpoints returns the checkpoints that don't have the whole transcript
// yet, oldest first.
func IncompleteCheckpoints(s *session.State) []string {
	ids := slices.Clone(s.Recorder.Incomplete)
	for _, id := range s.TurnCheckpointIDs {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// TurnVariable names the environment variable that passes the turn being committed to the
// hooks of the commit.
const TurnVariable = "ENTIRE_AUTO_COMMIT"

// IsTurnCommitOf reports whether the commit in progress is the one that the strategy
// auto-commit makes of the session's last turn.
func (w *Workspace) IsTurnCommitOf(s *session.State) bool {
	turn := w.Env.Getenv(TurnVariable)
	return turn != "" && turn == s.TurnID && s.Phase != session.Active
}
