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
			refs, err := git.ListRefs(ctx, w.Repo, checkpoint.BranchRefs)
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
	agent := s.Recorder.Agent
	alive := agent.PID != 0 && w.Env.Alive(agent.PID, agent.Start)
	return s.Phase != session.Active && !alive && !workspace.HasRecord(s) && len(s.Recorder.Incomplete) == 0 &&
		s.Recorder.CountedIn == "" && w.Env.Now().Sub(s.LastActive()) > forgetAge
}

// sweepAge is the age at which no writer of a temporary file still runs.
const sweepAge = time.Hour

// SweepTempFiles removes the temporary files of writers that were stopped.
func SweepTempFiles(ctx context.Context, w *workspace.Workspace) {
	before := w.Env.Now().Add(-sweepAge)
	for _, dir := range tempDirs(w) {
		if err := disk.SweepTemp(dir, before); err != nil {
			w.Log.WarnContext(ctx, "temporary files left", "error", err.Error())
		}
	}
	checkout := workspace.CheckoutDir(w.Repo, w.Repo.WorktreeID)
	if info, err := os.Lstat(checkout); err == nil && info.ModTime().Before(before) {
		if err := disk.RemoveAll(checkout); err != nil {
			w.Log.WarnContext(ctx, "checked out files left", "error", err.Error())
		}
	}
}

// tempDirs returns the folders that hooks write small files to, including those of the newest
// snapshots only, as older ones no longer change.
func tempDirs(w *workspace.Workspace) []string {
	const newest = 20
	dirs := workspace.Folders(w.Repo, workspace.Temporary, git.Worktree{Root: w.Repo.Root, ID: w.Repo.WorktreeID})
	if store, err := tracking.SnapshotStore(w); err == nil {
		if versions, err := store.Versions(); err == nil {
			for _, v := range versions[max(0, len(versions)-newest):] {
				dirs = append(dirs, store.SnapshotDir(v))
			}
		}
	}
	if w.Env.Machine != nil {
		dirs = append(dirs, w.Env.Machine.Dir(), w.Env.Machine.RewindsDir())
	}
	return dirs
}

// TempFiles returns the temporary files whose writers were stopped.
func TempFiles(w *workspace.Workspace) ([]string, error) {
	dirs := tempDirs(w)
	var all []string
	failed := make([]error, 0, len(dirs))
	for _, dir := range dirs {
		paths, err := disk.TempFiles(dir, w.Env.Now().Add(-sweepAge))
		all, failed = append(all, paths...), append(failed, err)
	}
	return all, errors.Join(failed...)
}
