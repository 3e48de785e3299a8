package snapshots

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/filelock"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/journal"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// AddPair requests the snapshot that belongs to a commit's checkpoint.
func (rq *Requests) AddPair(ctx context.Context, id checkpoint.ID, commit journal.LinkedCommit) {
	if _, err := rq.snapshots.Store(); err != nil {
		return
	}
	q := Request{Cause: bands.Commit, Pair: string(id), Commit: string(commit.OID), Late: commit.Late, Causality: bands.Causality{Commit: string(commit.OID)}}
	if s := rq.running(ctx); s != nil {
		q.Causality = rq.snapshots.Causality(s, workspace.Input{})
		q.Causality.Commit = string(commit.OID)
	}
	if err := rq.Add(q, string(id)); err != nil {
		rq.Log.WarnContext(ctx, "checkpoint has no snapshot", "checkpoint_id", string(id), "error", err.Error())
	}
}

// running returns the session of this worktree whose turn runs, nil unless there is
// exactly one.
func (rq *Requests) running(ctx context.Context) *session.State {
	var found *session.State
	for _, s := range rq.PendingSessions(ctx) {
		if s.Phase != session.Active {
			continue
		}
		if found != nil {
			return nil
		}
		found = s
	}
	return found
}

// TakePairs takes the snapshots that commits have requested: in this process if the
// last walk was short, else in a child.
func (rq *Requests) TakePairs(ctx context.Context) {
	store, err := rq.snapshots.Store()
	if err != nil || len(rq.Unserved(ctx)) == 0 {
		return
	}
	if took, known := rq.snapshots.LastWalk(); known && took < quickWalk && rq.pairNow(ctx, store) == nil {
		return
	}
	rq.server.StartServer(ctx)
}

// pairNow serves the requests in the hook, unless another process serves them.
func (rq *Requests) pairNow(ctx context.Context, store *bands.Store) error {
	runs, err := rq.alone(ctx)
	if err != nil {
		return err
	}
	list := rq.Unserved(ctx)
	if len(list) > 0 {
		err = rq.server.serve(ctx, store, list)
	}
	return errors.Join(err, runs.Unlock())
}

// alone takes the lock of the process that serves requests, if it is free.
func (rq *Requests) alone(ctx context.Context) (*filelock.Lock, error) {
	soon, cancel := context.WithTimeout(ctx, HookWait)
	defer cancel()
	return filelock.Acquire(soon, filepath.Join(rq.snapshots.StoreDir(), "child-"+rq.snapshots.Lineage()))
}

// pair records that a snapshot belongs to a checkpoint.
func (rq *Requests) pair(held *bands.Held, s bands.Snapshot, q Request, late bool) error {
	return held.AddPair(s.Version, bands.Pair{Checkpoint: q.Pair, Commit: q.Commit, Created: rq.Env.Now().UTC(), Late: late})
}

// SettleUnserved settles requests that are older than the snapshot and that no child
// has served. One of a commit is marked as missed if the snapshot may differ from the
// commit.
func (rq *Requests) SettleUnserved(ctx context.Context, held *bands.Held, taken capture.Taken, list []Request) error {
	if len(list) == 0 {
		return nil
	}
	runs, err := rq.alone(ctx)
	if err != nil {
		return nil // a child serves them
	}
	defer func() { _ = runs.Unlock() }()
	since := rq.server.lastChange(ctx, held.Store, taken)
	var done []Request
	for _, q := range list {
		if _, err := os.Lstat(q.path); err != nil {
			continue // a child has served it
		}
		exact := !q.Late && (taken.Unchanged && taken.Snapshot.Created.Before(q.asked) || !taken.Unchanged && since.Before(q.asked))
		switch {
		case q.Pair == "":
			done = append(done, q)
		case exact:
			if err := rq.pair(held, taken.Snapshot, q, false); err != nil {
				return err
			}
			done = append(done, q)
		default:
			rq.Log.WarnContext(ctx, "checkpoint has no snapshot: no child took it", "checkpoint_id", q.Pair)
			if err := markMissed(q); err != nil {
				return err
			}
		}
	}
	return removeRequests(done)
}
