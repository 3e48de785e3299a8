package tracking

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// ListUntracked lists git's status before a session's first turn, if session-start had no time
// for it. If that turn has begun, only changes older than the turn are known to be from before
// it; if it may have written a file already, none are.
func ListUntracked(ctx context.Context, w *workspace.Workspace, id string) error {
	s, err := w.Sessions.Load(id)
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	if err != nil || !s.Recorder.Unlisted || !w.OwnsSession(s) {
		return err
	}
	entries, err := git.Status(ctx, w.Repo)
	if err != nil {
		return fmt.Errorf("list untracked files: %w", err)
	}
	return w.WithLock(ctx, func() error {
		s, err := w.Sessions.Load(id)
		if err != nil || !s.Recorder.Unlisted {
			return err
		}
		if s.TranscriptPath != "" && !s.Recorder.Turn.Start.IsZero() {
			scan, err := transcript.Read(ctx, s.TranscriptPath, s.Recorder.Cursor)
			if err != nil && !errors.Is(err, transcript.ErrNotFound) || len(scan.Calls)+len(scan.Edits)+len(s.Recorder.Turn.Calls)+len(s.Recorder.Turn.Edits) > 0 {
				return nil // the first stop lists everything
			}
		}
		start := s.Recorder.Turn.Start
		entries = slices.DeleteFunc(entries, func(e git.StatusEntry) bool {
			if start.IsZero() {
				return false
			}
			info, err := os.Lstat(filepath.Join(w.Repo.Root, filepath.FromSlash(e.Path)))
			if err != nil {
				return !workspace.RemovalTime(w.Repo.Root, e.Path).Before(start)
			}
			return !disk.Changed(info).Before(start)
		})
		n := &Pending{Known: EncodeKnown((&TurnChanges{}).After(nil, entries))}
		s.Recorder.Unlisted = false
		return n.Save(w.Sessions, s)
	})
}
