package tracking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Load returns the session's state, a new one if there is none. One that can't be read
// is set aside: most of it is in the transcript.
func (st *States) Load(ctx context.Context, in workspace.Input) (*session.State, error) {
	if forgotten, err := st.tombstones.HasSession(in.SessionID); err != nil || forgotten {
		return nil, errors.Join(err, fmt.Errorf("session %s: %w", in.SessionID, workspace.ErrForgotten))
	}
	s, err := st.Sessions.Load(in.SessionID)
	if errors.Is(err, session.ErrCorrupt) {
		s, err = st.setAside(ctx, in.SessionID, err)
	}
	if errors.Is(err, session.ErrNotFound) {
		s, err = st.newState(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	s.CLIVersion = st.Env.Version
	if in.Transcript != "" {
		if s.TranscriptPath == "" {
			s.Recorder.Prompts = 0 // those that hooks were given are in it
		}
		s.TranscriptPath = in.Transcript
	}
	if !st.OwnsSession(s) && st.worktreeGone(s) {
		s.Keep(nil) // they were removed with the worktree
	}
	if !st.OwnsSession(s) && len(s.FilesTouched) == 0 {
		s.WorktreePath, s.WorktreeID = st.Repo.Root, st.Repo.WorktreeID
	}
	return s, nil
}

// worktreeGone reports whether the session's linked worktree was removed.
func (st *States) worktreeGone(s *session.State) bool {
	if s.WorktreeID == "" {
		return false
	}
	for _, path := range []string{st.GitDirOf(s.WorktreeID), s.WorktreePath} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

// setAside renames a damaged state, and loads the one that another hook may have saved
// since.
func (st *States) setAside(ctx context.Context, id string, damage error) (s *session.State, err error) {
	failed := st.WithLock(ctx, func() error {
		aside, failed := st.Sessions.SetAside(id)
		if aside != "" {
			st.Log.ErrorContext(ctx, "damaged session state set aside", "path", aside, "error", damage.Error())
		}
		s, err = st.Sessions.Load(id)
		return failed
	})
	if failed != nil {
		return nil, errors.Join(damage, failed)
	}
	return s, err
}

func (st *States) newState(ctx context.Context, in workspace.Input) (*session.State, error) {
	head, _, err := st.Head(ctx)
	if err != nil {
		return nil, fmt.Errorf("read HEAD: %w", err)
	}
	from, err := st.Sessions.Forgotten(in.SessionID)
	if err != nil {
		return nil, fmt.Errorf("read what is forgotten: %w", err)
	}
	return &session.State{
		ID: in.SessionID, BaseCommit: string(head.OID), AttributionBase: string(head.OID),
		WorktreePath: st.Repo.Root, WorktreeID: st.Repo.WorktreeID,
		StartedAt: st.Env.Now(), Phase: session.Idle, AgentType: cmp.Or(in.AgentType, agent.Default().Label),
		TranscriptStart: from.Lines, Recorder: session.Recorder{Cursor: from},
	}, nil
}

// SaveUnchanged calls moveRefs, which may be nil, writes the side files and saves the
// session's state, under the lock. If another hook has saved the session since it
// had the stamp, or something was forgotten, nothing is done and the error is
// [workspace.ErrStale].
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
		if err := st.Repo.SyncObjects(); err != nil { // nothing, where refs moved
			return err
		}
		return n.Save(st.Sessions, s)
	})
}
