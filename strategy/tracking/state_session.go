package tracking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// SnapshotSession is the recorded state of a session at a stop, in the file session-<id>.json of the
// snapshot taken there. A rewind to the snapshot restores it.
type SnapshotSession struct {
	Session string `json:"session_id"`
	Turn    string `json:"turn_id,omitempty"`
	// Base is HEAD, Shadow the tip of the shadow branch, empty if there was none.
	Base   git.OID `json:"base_commit"`
	Shadow git.OID `json:"shadow,omitempty"`
	Count  int     `json:"checkpoint_count"`
	// Files are the pending files.
	Files session.Paths `json:"files_touched,omitempty"`
	// Others are files that changed since the snapshot before, but not by the
	// turn.
	Others session.Paths `json:"others,omitempty"`
	// Later reports whether the snapshot was taken after the stop, so that Others isn't
	// known.
	Later bool `json:"later,omitempty"`
	// Earlier are the shadow commits before Shadow, of the same tree.
	Earlier []git.OID `json:"earlier,omitempty"`
}

// ReadSession returns the present state of a session.
func ReadSession(ctx context.Context, w *workspace.Workspace, s *session.State) SnapshotSession {
	m := SnapshotSession{Session: s.ID, Turn: s.TurnID, Base: git.OID(s.BaseCommit), Count: s.CheckpointCount, Files: slices.Clone(s.FilesTouched)}
	if s.BaseCommit == "" {
		return m
	}
	branch := checkpoint.ShadowBranch(git.OID(s.BaseCommit), s.WorktreeID)
	if tip, err := workspace.NewRefTransaction(w.Repo).Get(ctx, branch); err == nil {
		m.Shadow = tip
	}
	return m
}

// WriteSession records a session's state with a snapshot.
func WriteSession(store *bands.Store, v bands.Version, m SnapshotSession) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	return disk.WriteCache(filepath.Join(store.SnapshotDir(v), "session-"+m.Session+".json"), append(data, '\n'), 0o600)
}

// SessionsAt returns the session states recorded with a snapshot. The error joins those of
// unreadable records.
func SessionsAt(store *bands.Store, v bands.Version) ([]SnapshotSession, error) {
	entries, err := os.ReadDir(store.SnapshotDir(v))
	if err != nil {
		return nil, err
	}
	var list []SnapshotSession
	var failed []error
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), "session-") || !strings.HasSuffix(e.Name(), ".json") {
			continue
		}
		p := filepath.Join(store.SnapshotDir(v), e.Name())
		data, err := disk.ReadFile(p)
		if err != nil {
			failed = append(failed, err)
			continue
		}
		var m SnapshotSession
		if err := json.Unmarshal(data, &m); err != nil || session.CheckID(m.Session) != nil {
			failed = append(failed, fmt.Errorf("%s can't be read", p))
			continue
		}
		list = append(list, m)
	}
	return list, errors.Join(failed...)
}
