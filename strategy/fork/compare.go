package fork

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/snapshots"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Changes holds the two sides of a comparison of a fork with its beginning.
type Changes struct {
	Old, Now diff.Side

	present *capture.Present
	repo    *git.Repo
}

// Close closes both sides.
func (c *Changes) Close() error {
	return errors.Join(c.Old.Close(), c.Now.Close(), c.present.Close(), c.repo.Close())
}

// Compare reads a fork's tree, and opens the snapshot that the fork was made of. The error is
// [bands.ErrNoSnapshot] if there was none or it no longer exists.
func Compare(ctx context.Context, w *workspace.Workspace, f Fork, progress func(bands.Progress)) (_ *Changes, err error) {
	if f.Snapshot == 0 {
		return nil, bands.ErrNoSnapshot
	}
	store, err := snapshots.OpenStore(w)
	if err != nil {
		return nil, err
	}
	began, err := store.Snapshot(f.Snapshot)
	if err != nil {
		return nil, err
	}
	there, err := at(w, f)
	if err != nil {
		return nil, err
	}
	c := &Changes{repo: there.Repo}
	if c.present, err = capture.ScanReporting(ctx, store, snapshots.TreeOptions(there), progress); err != nil {
		return nil, errors.Join(fmt.Errorf("read %s: %w", f.Dir, err), there.Repo.Close())
	}
	if c.Old, err = diff.SnapshotSide(store, began); err == nil {
		c.Now, err = diff.PresentSide(c.present, f.Dir)
	}
	if err != nil {
		return nil, errors.Join(err, c.present.Close(), there.Repo.Close())
	}
	return c, nil
}
