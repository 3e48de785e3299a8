package tracking

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// TakePairs takes the snapshots that commits have requested: in this process if the
// last walk was short, else in a child.
func TakePairs(ctx context.Context, w *workspace.Workspace) {
	store, err := SnapshotStore(w)
	if err != nil || len(UnservedRequests(ctx, w)) == 0 {
		return
	}
	if took, known := LastWalk(w); !known || took >= quickWalk {
		StartServer(ctx, w)
		return
	}
	runs, err := alone(ctx, w)
	if err == nil {
		if list := UnservedRequests(ctx, w); len(list) > 0 {
			err = serve(ctx, w, store, list)
		}
		err = errors.Join(err, runs.Unlock())
	}
	if err != nil {
		StartServer(ctx, w)
	}
}

// alone takes the lock of the process that serves requests, if it is free.
func alone(ctx context.Context, w *workspace.Workspace) (*disk.Lock, error) {
	soon, cancel := context.WithTimeout(ctx, HookWait)
	defer cancel()
	return disk.AcquireLock(soon, filepath.Join(StoreDir(w), "child-"+Lineage(w)))
}

// SettleUnserved settles requests that are older than the snapshot and were not served by a
// child. A commit's request is marked as missed if the snapshot may differ from the commit.
func SettleUnserved(ctx context.Context, w *workspace.Workspace, held *bands.Held, taken capture.Taken, list []SnapshotRequest) error {
	if len(list) == 0 {
		return nil
	}
	runs, err := alone(ctx, w)
	if err != nil {
		return nil // a child serves them
	}
	defer func() { _ = runs.Unlock() }()
	since := lastChange(ctx, w, held.Store, taken)
	var done []SnapshotRequest
	for _, q := range list {
		if _, err := os.Lstat(q.path); err != nil {
			continue // a child has served it
		}
		exact := !q.Late && (taken.Unchanged && taken.Snapshot.Created.Before(q.asked) || !taken.Unchanged && since.Before(q.asked))
		switch {
		case q.Pair == "":
			done = append(done, q)
		case exact:
			if err := pair(w, held, taken.Snapshot, q, false); err != nil {
				return err
			}
			done = append(done, q)
		default:
			w.Log.WarnContext(ctx, "checkpoint has no snapshot: no child took it", "checkpoint_id", q.Pair)
			if err := markMissed(q); err != nil {
				return err
			}
		}
	}
	return removeRequests(done)
}
