package tracking

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// StartServer starts a child that serves the requests for snapshots.
func StartServer(ctx context.Context, w *workspace.Workspace) {
	if err := w.Env.Detach("hooks", "snapshot"); err != nil {
		w.Log.WarnContext(ctx, "detached child not started", "error", err.Error())
	}
}

// RequestLater writes a request and starts a child that serves it. It is for hooks without
// time for the snapshot.
func RequestLater(ctx context.Context, w *workspace.Workspace, id string, q SnapshotRequest) {
	if _, err := SnapshotStore(w); err != nil {
		return
	}
	if err := AddRequest(w, q, id); err != nil {
		w.Log.WarnContext(ctx, "no snapshot", "error", err.Error())
		return
	}
	StartServer(ctx, w)
}

// ServeRequests serves the requests for snapshots of this worktree. One process does so at a time and
// one more waits; a third returns at once, as the waiting one will serve its request.
func ServeRequests(ctx context.Context, w *workspace.Workspace) error {
	if !w.Options.Bands.Enabled {
		return nil
	}
	store, err := MakeStore(ctx, w)
	if err != nil {
		return fmt.Errorf("open the store of snapshots: %w", err)
	}
	turn, err := myTurn(ctx, w)
	if err != nil || turn == nil {
		return err
	}
	defer func() { _ = turn.Unlock() }()
	for list := UnservedRequests(ctx, w); len(list) > 0; list = UnservedRequests(ctx, w) {
		err := serve(ctx, w, store, list)
		if errors.Is(err, bands.ErrNoRoom) {
			err = serveFull(ctx, w, store, list)
		}
		if err != nil {
			return err
		}
	}
	held, err := HoldStore(ctx, store, w.Options.LockTimeout)
	if err != nil {
		return err
	}
	return errors.Join(held.Sweep(), prune(ctx, w, held, retention.MaybePrune), held.Release())
}

// myTurn waits for the lock of the process that serves requests. It returns nil if
// another process is already waiting for it.
func myTurn(ctx context.Context, w *workspace.Workspace) (*disk.Lock, error) {
	soon, cancel := context.WithTimeout(ctx, HookWait)
	defer cancel()
	waits, err := disk.AcquireLock(soon, filepath.Join(StoreDir(w), "next-"+Lineage(w)))
	if errors.Is(err, disk.ErrLocked) {
		return nil, nil //nolint:nilnil // the one that waits serves all
	}
	if err != nil {
		return nil, err
	}
	runs, err := disk.AcquireLock(ctx, filepath.Join(StoreDir(w), "child-"+Lineage(w)))
	return runs, errors.Join(err, waits.Unlock())
}

// serve takes one snapshot for all the requests.
func serve(ctx context.Context, w *workspace.Workspace, store *bands.Store, list []SnapshotRequest) (err error) {
	held, err := HoldStore(ctx, store, w.Options.LockTimeout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	// The cause of the snapshot is that of a commit, else of a prompt, else of a stop.
	rank := func(q SnapshotRequest) int {
		return slices.Index([]bands.Cause{bands.Commit, bands.Prompt, bands.Auto}, q.Cause)
	}
	lead := slices.MinFunc(list, func(a, b SnapshotRequest) int { return cmp.Compare(rank(a), rank(b)) })
	message := cmp.Or(lead.Message, workspace.AutoMessage)
	switch lead.Cause {
	case bands.Prompt:
		message = "prompt"
	case bands.Commit:
		message = "commit " + git.OID(lead.Commit).Short()
	default:
	}
	taken, err := TakeSnapshot(ctx, w, held, capture.TakeOptions{
		Cause: lead.Cause, Message: message, Causality: lead.Causality, SkipUnchanged: true,
	})
	if err != nil {
		return err
	}
	since := lastChange(ctx, w, store, taken)
	for _, q := range list {
		if err := settleRequest(ctx, w, held, taken, q, since); err != nil {
			return err
		}
	}
	return removeRequests(list)
}

// serveFull makes room in the full store and serves the requests; if there is still no room,
// it drops them.
func serveFull(ctx context.Context, w *workspace.Workspace, store *bands.Store, list []SnapshotRequest) error {
	held, err := HoldStore(ctx, store, w.Options.LockTimeout)
	if err != nil {
		return err
	}
	if err := errors.Join(prune(ctx, w, held, retention.MakeRoom), held.Release()); err != nil {
		return err
	}
	err = serve(ctx, w, store, list)
	if !errors.Is(err, bands.ErrNoRoom) {
		return err
	}
	w.Log.WarnContext(ctx, "no snapshot", "error", err.Error())
	// The requests of commits are marked as missed, the others removed.
	var rest []SnapshotRequest
	failed := make([]error, 0, len(list))
	for _, q := range list {
		if q.Pair == "" {
			rest = append(rest, q)
			continue
		}
		failed = append(failed, markMissed(q))
	}
	return errors.Join(append(failed, removeRequests(rest))...)
}

// settleRequest pairs the snapshot with the checkpoint it was requested for, and marks
// it if it was taken too late to be exact.
func settleRequest(ctx context.Context, w *workspace.Workspace, held *bands.Held, taken capture.Taken, q SnapshotRequest, since time.Time) error {
	switch {
	case q.Pair != "":
		late := q.Late || !taken.Unchanged && !since.Before(q.asked)
		return pair(w, held, taken.Snapshot, q, late)
	case q.Cause == bands.Prompt && !taken.Unchanged:
		// If the turn that the prompt began has called a tool that writes, the snapshot may have some of its changes.
		s, err := w.Sessions.Load(q.Causality.Session)
		late := err != nil && !errors.Is(err, session.ErrNotFound)
		if err == nil && s.TurnID != q.Causality.Turn {
			late = true
		} else if err == nil {
			scan, err := transcript.Read(ctx, s.TranscriptPath, s.Recorder.Cursor)
			late = err == nil && len(scan.Calls)+len(scan.Edits) > 0
		}
		if !late {
			return nil
		}
		return held.MarkLate(taken.Snapshot.Version)
	case q.Cause == bands.Auto && !taken.Unchanged:
		// Record the session's state, if the turn is still the same and, after a stop, no new one has begun.
		s, err := w.Sessions.Load(q.Causality.Session)
		if err != nil || s.TurnID != q.Causality.Turn || (s.Phase == session.Active && q.Message == "") {
			return nil //nolint:nilerr // a later event of the session records more
		}
		m := ReadSession(ctx, w, s)
		m.Later = true
		return WriteSession(held.Store, taken.Snapshot.Version, m)
	default:
		return nil
	}
}
