package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// forgetAge is how long a session without a record must have been silent to be forgotten, and
// the interval between searches.
const forgetAge = 24 * time.Hour

// ForgetIdle removes the states of sessions that never had a commit, have nothing pending and
// no shadow branch, and have been quiet for a day. It runs once a day: the states of hundreds
// of sessions take time to read.
func ForgetIdle(ctx context.Context, w *workspace.Workspace, except string) {
	mark := filepath.Join(w.RecordsDir(), "swept")
	info, err := os.Lstat(mark)
	if err == nil && w.Env.Now().Sub(info.ModTime()) < forgetAge || err != nil && !errors.Is(err, fs.ErrNotExist) {
		return
	}
	err = w.WithLock(ctx, func() error {
		states, _ := w.Sessions.All()
		idle := slices.DeleteFunc(states, func(s *session.State) bool { return s.ID == except || !leftNothing(w, s) })
		if len(idle) > 0 {
			refs, err := git.ListRefs(ctx, w.Repo, "refs/heads/entire/")
			if err != nil {
				return fmt.Errorf("list shadow branches: %w", err)
			}
			for _, s := range idle {
				branch := checkpoint.ShadowBranch(git.OID(s.BaseCommit), s.WorktreeID)
				if slices.ContainsFunc(refs, func(ref git.Ref) bool { return ref.Name == branch }) {
					continue
				}
				if err := w.Sessions.Remove(s.ID); err != nil {
					return err
				}
				w.Log.InfoContext(ctx, "session forgotten: it left nothing", "session_id", s.ID)
			}
		}
		return disk.WriteCache(mark, nil, 0o600)
	})
	if err != nil {
		w.Log.WarnContext(ctx, "idle sessions not forgotten", "error", err.Error())
	}
}

// leftNothing reports whether a session seems to be over, and has neither uncommitted work nor
// a checkpoint that depends on its state.
func leftNothing(w *workspace.Workspace, s *session.State) bool {
	heard := s.StartedAt
	if s.LastInteraction != nil {
		heard = *s.LastInteraction
	}
	agent := s.Recorder.Agent
	alive := agent.PID != 0 && w.Env.Alive(agent.PID, agent.Start)
	return s.Phase != session.Active && !alive && !workspace.HasRecord(s) && len(s.Recorder.Incomplete) == 0 &&
		s.Recorder.CountedIn == "" && w.Env.Now().Sub(heard) > forgetAge
}
