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

// Load returns the session's state, a new one if there is none. An unreadable state is set
// aside: most of it is in the transcript.
func (st *States) Load(ctx context.Context, in workspace.Input) (*session.State, error) {
	if forgotten, err := st.tombstones.HasSession(in.SessionID); err != nil || forgotten {
		return nil, errors.Join(err, fmt.Errorf("session %s: %w", in.SessionID, workspace.ErrForgotten))
	}
	s, err := st.Sessions.Load(in.SessionID)
	if errors.Is(err, session.ErrCorrupt) {
		damage := err
		failed := st.WithLock(ctx, func() error {
			aside, failed := st.Sessions.SetAside(in.SessionID)
			if aside != "" {
				st.Log.ErrorContext(ctx, "damaged session state set aside", "path", aside, "error", damage.Error())
			}
			s, err = st.Sessions.Load(in.SessionID) // another hook may have saved it since
			return failed
		})
		if failed != nil {
			err = errors.Join(damage, failed)
		}
	}
	if errors.Is(err, session.ErrNotFound) {
		head, _, err := st.Head(ctx)
		if err != nil {
			return nil, fmt.Errorf("read HEAD: %w", err)
		}
		from, err := st.Sessions.Forgotten(in.SessionID)
		if err != nil {
			return nil, fmt.Errorf("read the list of forgotten content: %w", err)
		}
		s = &session.State{
			ID: in.SessionID, BaseCommit: string(head.OID), AttributionBase: string(head.OID),
			WorktreePath: st.Repo.Root, WorktreeID: st.Repo.WorktreeID,
			StartedAt: st.Env.Now(), Phase: session.Idle, AgentType: cmp.Or(in.AgentType, agent.Default().Label),
			TranscriptStart: from.Lines, Recorder: session.Recorder{Cursor: from, Rules: redact.RulesVersion},
		}
	} else if err != nil {
		return nil, err
	}
	st.Redact.Recall(s.Recorder.Known)
	s.CLIVersion = st.Env.Version
	if in.Transcript != "" {
		if s.TranscriptPath == "" {
			s.Recorder.Prompts = 0 // the prompts of the hooks are in it
		}
		s.TranscriptPath = in.Transcript
	}
	there := func(path string) bool { _, err := os.Lstat(path); return !errors.Is(err, fs.ErrNotExist) }
	if !st.OwnsSession(s) && s.WorktreeID != "" && !there(st.GitDirOf(s.WorktreeID)) && !there(s.WorktreePath) {
		s.Keep(nil) // they were removed with the worktree
	}
	if !st.OwnsSession(s) && len(s.FilesTouched) == 0 {
		s.WorktreePath, s.WorktreeID = st.Repo.Root, st.Repo.WorktreeID
	}
	return s, nil
}

// SaveUnchanged calls moveRefs, which may be nil, writes the side files and saves the
// session's state, under the lock. If the stamp is out of date, as another hook has saved the
// session or something was forgotten, it does nothing and returns [workspace.ErrStale].
func (st *States) SaveUnchanged(ctx context.Context, s *session.State, n *Pending, stamp string, moveRefs func() error) error {
	return st.WithLock(ctx, func() error {
		if st.Stamp(s.ID) != stamp {
			return workspace.ErrStale
		}
		if moveRefs != nil {
			if err := moveRefs(); err != nil {
				return err
			}
		}
		if err := st.Repo.SyncObjects(); err != nil { // does nothing if refs moved
			return err
		}
		return n.Save(st.Sessions, s)
	})
}
