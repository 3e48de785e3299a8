package tracking

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
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
			TranscriptStart: from.Lines, Recorder: session.Recorder{Cursor: from, Rules: redact.RulesVersion, Launched: in.Launched},
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

// PartialLineage returns the lineage of the partial snapshots of a worktree: the targets of
// rewinds to points without a snapshot, and their rescues.
func PartialLineage(worktreeID string) string {
	return checkpoint.WorktreeHash(worktreeID + "\x00partial")
}

// TargetName returns the argument of `rewind --to` for a version: for a partial snapshot, the
// commit with its files.
func TargetName(store *bands.Store, v bands.Version) string {
	if s, err := store.Snapshot(v); err == nil && len(s.Only) > 0 {
		return git.OID(s.Causality.Shadow).Short()
	}
	return v.String()
}

// FormerRewind is the last rewind without a snapshot in the file that versions of the program
// without partial snapshots wrote.
type FormerRewind struct {
	From git.OID `json:"from"`
	To   git.OID `json:"to"`
	// Interrupted reports whether it was interrupted.
	Interrupted bool `json:"-"`
}

// Hint names the commands that undo and complete it.
func (f FormerRewind) Hint() string {
	hint := "`entire rewind --to " + f.From.Short() + "` restores what was there before"
	if f.Interrupted {
		hint += ", `entire rewind --to " + f.To.Short() + "` completes it"
	}
	return hint
}

// FormerPath returns the path of that file for a worktree.
func FormerPath(commonDir, lineage string) string {
	return filepath.Join(commonDir, "entire", "code-rewinds-"+lineage+".json")
}

// ReadFormerRewind returns the last rewind in that file; false if there is none.
func ReadFormerRewind(commonDir, lineage string) (last FormerRewind, found bool) {
	var h struct {
		Undo  []FormerRewind `json:"undo"`
		Begun *struct {
			Turn FormerRewind `json:"turn"`
		} `json:"begun"`
	}
	data, err := disk.ReadFile(FormerPath(commonDir, lineage))
	if err != nil || json.Unmarshal(data, &h) != nil {
		return last, false
	}
	if h.Begun != nil {
		last = h.Begun.Turn
		last.Interrupted = true
	} else if n := len(h.Undo); n > 0 {
		last = h.Undo[n-1]
	}
	return last, last.From != ""
}

// SessionsBefore holds the states of a worktree's sessions before a rewind. It is stored
// beside the rescue snapshot of the tree: a rewind to that snapshot restores them, too.
type SessionsBefore struct {
	Sessions []SnapshotSession `json:"sessions"`
	// Transcripts are the transcripts that were replaced after the rescue.
	Transcripts []ReplacedTranscript `json:"transcripts,omitempty"`
	// Completed reports whether the rewind has restored the sessions after the files.
	Completed bool `json:"followed,omitempty"`
}

// ReplacedTranscript is a transcript that a rewind replaced, as recorded in the file
// sessions.json of its rescue, so that --undo can restore it.
type ReplacedTranscript struct {
	Session string `json:"session_id"`
	Path    string `json:"path"`
	// Copy is the path of the kept former transcript.
	Copy string `json:"copy"`
	// Size and Hash, a SHA-256, describe the replacement.
	Size int64  `json:"size"`
	Hash string `json:"sha256"`
}

func sessionsBeforePath(store *bands.Store, v bands.Version) string {
	return filepath.Join(store.SnapshotDir(v), "sessions.json")
}

// ReadSessionsBefore returns the record beside a rescue snapshot, and the zero value for any
// other snapshot.
func ReadSessionsBefore(store *bands.Store, v bands.Version) (p SessionsBefore, err error) {
	if _, err := disk.ReadJSON(sessionsBeforePath(store, v), &p); err != nil {
		return p, fmt.Errorf("%s: %w", sessionsBeforePath(store, v), err)
	}
	return p, nil
}

// WriteSessionsBefore writes the record beside a rescue snapshot.
func WriteSessionsBefore(store *bands.Store, v bands.Version, p SessionsBefore) error {
	data, err := json.Marshal(p)
	if err != nil {
		return err
	}
	return disk.WriteDurable(sessionsBeforePath(store, v), append(data, '\n'), 0o600)
}

// HasSessionsBefore reports whether a rescue snapshot has that record, which is written before
// the rewind changes any session.
func HasSessionsBefore(store *bands.Store, v bands.Version) bool {
	_, err := os.Lstat(sessionsBeforePath(store, v))
	return err == nil
}

// HeldRef returns the ref that keeps the shadow commits left by a rewind, so that git's gc
// doesn't remove them.
func HeldRef(lineage string, rescue bands.Version) string {
	return checkpoint.HeldRefs + lineage + "-" + rescue.String()
}
