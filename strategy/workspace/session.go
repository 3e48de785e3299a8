package workspace

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session"
)

// OwnsSession says whether the session belongs to this worktree. Of the main worktree
// are also those from before the repository was moved.
func (w *Workspace) OwnsSession(s *session.State) bool {
	if s.WorktreePath == w.Repo.Root {
		return true
	}
	resolved, err := filepath.EvalSymlinks(s.WorktreePath)
	if errors.Is(err, fs.ErrNotExist) {
		return s.WorktreeID == "" && w.Repo.WorktreeID == ""
	}
	return err == nil && resolved == w.Repo.Root
}

// PendingSessions answers the sessions of this worktree for which a commit may
// matter. States that can't be read are logged and left alone.
func (w *Workspace) PendingSessions(ctx context.Context) []*session.State {
	return w.OwnSessions(ctx, w.Sessions.Pending)
}

// AllSessions are all sessions whose state can be read and that are at home in
// this worktree.
func (w *Workspace) AllSessions(ctx context.Context) []*session.State {
	return w.OwnSessions(ctx, w.Sessions.All)
}

// OwnSessions answers the sessions of this worktree among those that list answers.
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

func (w *Workspace) AnyOtherActive(ctx context.Context, id string) bool {
	return slices.ContainsFunc(w.PendingSessions(ctx), func(o *session.State) bool { return o.ID != id && o.Phase == session.Active })
}

// IsActive says whether the session's turn runs: it is active, and its agent, as
// far as that is known, is alive.
func (w *Workspace) IsActive(s *session.State) bool {
	agent := s.Recorder.Agent
	return s.Phase == session.Active && (agent.PID == 0 || w.Env.Alive(agent.PID, agent.Start))
}

func IsBusy(s *session.State) bool { return s.Phase == session.Active || s.Recorder.Background }

// NewestFirst returns the sessions in the order in which they were active, the
// last one first.
func NewestFirst(states []*session.State) []*session.State {
	sorted := slices.Clone(states)
	slices.SortStableFunc(sorted, func(a, b *session.State) int { return lastActive(b).Compare(lastActive(a)) })
	return sorted
}

// lastActive is when the session was last heard of.
func lastActive(s *session.State) time.Time {
	if s.LastInteraction != nil {
		return *s.LastInteraction
	}
	return s.StartedAt
}

func HasRecord(s *session.State) bool {
	return len(s.FilesTouched)+len(s.TurnCheckpointIDs)+s.CheckpointCount > 0 || s.LastCheckpointID != ""
}

// IncompleteCheckpoints are the checkpoints that don't have the whole transcript yet, in
// the order in which they were made.
func IncompleteCheckpoints(s *session.State) []string {
	ids := slices.Clone(s.Recorder.Incomplete)
	for _, id := range s.TurnCheckpointIDs {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

// TurnVariable tells the hooks of a turn's commit which turn that is.
const TurnVariable = "ENTIRE_AUTO_COMMIT"

// IsTurnCommitOf says whether the commit that is being made is the one that the
// strategy makes of the session's last turn.
func (w *Workspace) IsTurnCommitOf(s *session.State) bool {
	turn := w.Env.Getenv(TurnVariable)
	return turn != "" && turn == s.TurnID && s.Phase != session.Active
}

// ErrForgotten means that a session was forgotten: nothing of it is recorded any
// more, also if it goes on.
var ErrForgotten = errors.New("the session was forgotten")

// IsForgotten reports whether the session was forgotten in this repository, by
// this clone or by one whose checkpoints were merged.
func (w *Workspace) IsForgotten(session string) (bool, error) {
	t, err := checkpoint.LoadTombstones(w.Repo.CommonDir)
	return t.HasSession(session), err
}

// CheckTombstones returns an error if it isn't known what was forgotten here: what
// would be recorded then could bring it back. What is due stays due.
func (w *Workspace) CheckTombstones() error {
	_, err := checkpoint.LoadTombstones(w.Repo.CommonDir)
	return err
}
