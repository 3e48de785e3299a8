package tracking

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// MaxRequestTimes bounds the changed paths whose times are read.
const MaxRequestTimes = 10_000

// ErrTooMany stops the listing of changes beyond [MaxTimes].
var ErrTooMany = errors.New("too many changes")

// TreeChangesSince calls visit for each difference between an older snapshot and s.
func TreeChangesSince(ctx context.Context, store *bands.Store, s bands.Snapshot, older bands.Version, visit func(band.Change) error) error {
	before, err := store.Snapshot(older)
	if err != nil {
		return err
	}
	return store.Changes(ctx, before, s, visit)
}

// lastChange returns the time of the newest change that a snapshot recorded, by the
// file system's clock; a time in the future if there are too many changes or none.
func lastChange(ctx context.Context, w *workspace.Workspace, store *bands.Store, taken capture.Taken) time.Time {
	future := w.Env.Now().Add(time.Hour)
	if taken.Unchanged || taken.Snapshot.Parent == 0 {
		return future
	}
	var latest time.Time
	seen := 0
	err := TreeChangesSince(ctx, store, taken.Snapshot, taken.Snapshot.Parent, func(c band.Change) error {
		if seen++; seen > MaxRequestTimes {
			return ErrTooMany
		}
		for _, p := range []string{c.Path, filepath.Dir(c.Path)} {
			if info, err := os.Lstat(filepath.Join(w.Repo.Root, p)); err == nil && disk.Changed(info).After(latest) {
				latest = disk.Changed(info)
			}
		}
		return nil
	})
	if err != nil {
		return future
	}
	return latest
}
