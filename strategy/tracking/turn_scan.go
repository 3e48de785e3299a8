package tracking

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// maxAsked is the number of paths above which git's full status is faster than the status of
// these paths.
const maxAsked = 60

// bandScan is the result of a stop's snapshot.
type bandScan struct {
	store *bands.Store
	taken capture.Taken
	// paths changed since the session's last observation; few is false if there are too many,
	// or that observation isn't known.
	paths []string
	few   bool
}

// scanTree takes the stop's snapshot, and finds the paths changed since the session's last
// observation, if both can be done while the user waits. Else a child takes it, and the result
// is nil. changed is called with the paths before the snapshot is written, even if that fails
// later.
func scanTree(ctx context.Context, w *workspace.Workspace, s *session.State, in workspace.Input, changed func(*bandScan)) *bandScan {
	store, err := SnapshotStore(w)
	if err != nil {
		return nil
	}
	cause := Causality(w, s, in)
	if _, found, err := store.Lineage(Lineage(w)).Latest(); err == nil && found {
		b := &bandScan{store: store}
		look := func(of bands.Snapshot) {
			failed := workspace.Recover(func() error {
				b.paths, b.few = changedSince(ctx, w, store, of, lastSeen(w, s))
				changed(b)
				return nil
			})
			if failed != nil { // everything is examined instead
				w.Log.ErrorContext(ctx, "changed paths not found", "error", failed.Error())
			}
		}
		b.taken, err = takeStop(ctx, w, store, capture.TakeOptions{
			Causality: cause, Message: autoName(s, in.Task), Beside: look,
		})
		if err == nil {
			if b.taken.Unchanged {
				look(b.taken.Snapshot)
			}
			return b
		}
		w.Log.InfoContext(ctx, "snapshot left to a child", "error", err.Error())
	}
	RequestLater(ctx, w, s.ID, SnapshotRequest{Cause: bands.Auto, Causality: cause})
	return nil
}

// takeStop takes the snapshot of a stop, and settles requests that children haven't served.
func takeStop(ctx context.Context, w *workspace.Workspace, store *bands.Store, o capture.TakeOptions) (taken capture.Taken, err error) {
	held, err := HoldStore(ctx, store, HookWait)
	if err != nil {
		return taken, err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	asked := UnservedRequests(ctx, w) // before the walk: later requests need a later snapshot
	o.Cause, o.SkipUnchanged = bands.Auto, true
	o.MostFiles, o.MostBytes = TakeNowFiles, TakeNowBytes
	taken, err = TakeSnapshot(ctx, w, held, o)
	if err == nil {
		err = SettleUnserved(ctx, w, held, taken, asked)
	}
	return taken, err
}

// autoName returns the message of the snapshot of a task's checkpoint, or of a stop's.
func autoName(s *session.State, t workspace.TaskEvent) string {
	task := s.Recorder.FindTask(func(task *session.Task) bool {
		return t.ToolUse != "" && task.ToolUse == t.ToolUse || t.Agent != "" && task.Agent == t.Agent
	})
	switch {
	case task != nil && task.Description != "":
		return "task: " + task.Description
	case t.ToolUse != "":
		return "task " + t.ToolUse
	case t.Agent != "":
		return "task of " + t.Agent
	default:
		return workspace.AutoMessage
	}
}

// lastSeen returns the snapshot of this worktree that was taken with the session's record of
// git's status, 0 if there is none.
func lastSeen(w *workspace.Workspace, s *session.State) bands.Version {
	if s.Recorder.Seen.Lineage != Lineage(w) {
		return 0
	}
	return bands.Version(s.Recorder.Seen.Version)
}

// changedSince returns the paths, as arguments for git's status, that differ from the snapshot
// of the session's last observation.
func changedSince(ctx context.Context, w *workspace.Workspace, store *bands.Store, of bands.Snapshot, seen bands.Version) ([]string, bool) {
	if seen == 0 {
		return nil, false
	}
	paths := map[string]bool{}
	modules := map[string]string{}
	err := TreeChangesSince(ctx, store, of, seen, func(c band.Change) error {
		if workspace.IsDir(c.Old) || workspace.IsDir(c.New) {
			return nil // its contents are listed individually
		}
		if path.Base(c.Path) == ".gitignore" {
			return ErrTooMany // it changes what git lists elsewhere
		}
		paths[statusPath(w, c.Path, modules)] = true
		if len(paths) > maxAsked {
			return ErrTooMany
		}
		return nil
	})
	return slices.Sorted(maps.Keys(paths)), err == nil
}

// statusPath returns the path under which git's status lists a file: a file in a nested
// repository is listed under that repository's name. known caches the results for directories.
func statusPath(w *workspace.Workspace, p string, known map[string]string) string {
	dir := path.Dir(p)
	if dir == "." {
		return p
	}
	root, ok := known[dir]
	if !ok {
		root = statusPath(w, dir, known)
		if root == dir {
			root = ""
			if _, err := os.Lstat(filepath.Join(w.Repo.Root, filepath.FromSlash(dir), ".git")); err == nil {
				root = dir
			}
		}
		known[dir] = root
	}
	if root != "" {
		return root
	}
	return p
}

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
