package tracking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// LoadState returns the session's state, a new one if there is none. An unreadable state is set
// aside: most of it is in the transcript.
func LoadState(ctx context.Context, w *workspace.Workspace, in workspace.Input) (*session.State, error) {
	if forgotten, err := w.HasTombstone(in.SessionID); err != nil || forgotten {
		return nil, errors.Join(err, fmt.Errorf("session %s: %w", in.SessionID, workspace.ErrForgotten))
	}
	s, err := w.Sessions.Load(in.SessionID)
	if errors.Is(err, session.ErrCorrupt) {
		damage := err
		failed := w.WithLock(ctx, func() error {
			aside, failed := w.Sessions.SetAside(in.SessionID)
			if aside != "" {
				w.Log.ErrorContext(ctx, "damaged session state set aside", "path", aside, "error", damage.Error())
			}
			s, err = w.Sessions.Load(in.SessionID) // another hook may have saved it since
			return failed
		})
		if failed != nil {
			err = errors.Join(damage, failed)
		}
	}
	if errors.Is(err, session.ErrNotFound) {
		head, _, err := w.Head(ctx)
		if err != nil {
			return nil, fmt.Errorf("read HEAD: %w", err)
		}
		from, err := w.Sessions.Forgotten(in.SessionID)
		if err != nil {
			return nil, fmt.Errorf("read the list of forgotten content: %w", err)
		}
		s = &session.State{
			ID: in.SessionID, BaseCommit: string(head.OID), AttributionBase: string(head.OID),
			WorktreePath: w.Repo.Root, WorktreeID: w.Repo.WorktreeID,
			StartedAt: w.Env.Now(), Phase: session.Idle, AgentType: cmp.Or(in.AgentType, agent.Default().Label),
			TranscriptStart: from.Lines, Recorder: session.Recorder{Cursor: from, Rules: redact.RulesVersion},
		}
	} else if err != nil {
		return nil, err
	}
	w.Redact.Recall(s.Recorder.Known)
	s.CLIVersion = w.Env.Version
	if in.Transcript != "" {
		if s.TranscriptPath == "" {
			s.Recorder.Prompts = 0 // the prompts of the hooks are in it
		}
		s.TranscriptPath = in.Transcript
	}
	there := func(path string) bool { _, err := os.Lstat(path); return !errors.Is(err, fs.ErrNotExist) }
	if !w.OwnsSession(s) && s.WorktreeID != "" && !there(w.GitDirOf(s.WorktreeID)) && !there(s.WorktreePath) {
		s.Keep(nil) // they were removed with the worktree
	}
	if !w.OwnsSession(s) && len(s.FilesTouched) == 0 {
		s.WorktreePath, s.WorktreeID = w.Repo.Root, w.Repo.WorktreeID
	}
	return s, nil
}

// SaveUnchanged calls moveRefs, which may be nil, writes the side files and saves the
// session's state, under the lock. If the stamp is out of date, as another hook has saved the
// session or something was forgotten, it does nothing and returns [workspace.ErrStale].
func SaveUnchanged(ctx context.Context, w *workspace.Workspace, s *session.State, n *Pending, stamp string, moveRefs func() error) error {
	return w.WithLock(ctx, func() error {
		if w.Stamp(s.ID) != stamp {
			return workspace.ErrStale
		}
		if moveRefs != nil {
			if err := moveRefs(); err != nil {
				return err
			}
		}
		if err := w.Repo.SyncObjects(); err != nil { // does nothing if refs moved
			return err
		}
		return n.Save(w.Sessions, s)
	})
}
