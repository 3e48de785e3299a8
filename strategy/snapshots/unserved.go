package snapshots

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/filelock"
)

// TakePairs takes the snapshots that commits have requested: in this process if the
// last walk was short, else in a child.
func (sv *Server) TakePairs(ctx context.Context) {
	store, err := sv.snapshots.Store()
	if err != nil || len(sv.requests.Unserved(ctx)) == 0 {
		return
	}
	if took, known := sv.snapshots.LastWalk(); !known || took >= quickWalk {
		sv.StartServer(ctx)
		return
	}
	runs, err := sv.alone(ctx)
	if err == nil {
		if list := sv.requests.Unserved(ctx); len(list) > 0 {
			err = sv.serve(ctx, store, list)
		}
		err = errors.Join(err, runs.Unlock())
	}
	if err != nil {
		sv.StartServer(ctx)
	}
}

// alone takes the lock of the process that serves requests, if it is free.
func (sv *Server) alone(ctx context.Context) (*filelock.Lock, error) {
	soon, cancel := context.WithTimeout(ctx, HookWait)
	defer cancel()
	return filelock.Acquire(soon, filepath.Join(sv.snapshots.StoreDir(), "child-"+sv.snapshots.Lineage()))
}

// SettleUnserved settles requests that are older than the snapshot and were not served by a
// child. A commit's request is marked as missed if the snapshot may differ from the commit.
func (sv *Server) SettleUnserved(ctx context.Context, held *bands.Held, taken capture.Taken, list []Request) error {
	if len(list) == 0 {
		return nil
	}
	runs, err := sv.alone(ctx)
	if err != nil {
		return nil // a child serves them
	}
	defer func() { _ = runs.Unlock() }()
	since := sv.lastChange(ctx, held.Store, taken)
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
			if err := sv.requests.pair(held, taken.Snapshot, q, false); err != nil {
				return err
			}
			done = append(done, q)
		default:
			sv.Log.WarnContext(ctx, "checkpoint has no snapshot: no child took it", "checkpoint_id", q.Pair)
			if err := markMissed(q); err != nil {
				return err
			}
		}
	}
	return removeRequests(done)
}
