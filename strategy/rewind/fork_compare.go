package rewind

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// ForkChanges holds the two sides of a comparison of a fork with its beginning.
type ForkChanges struct {
	Old, Now diff.Side

	present *capture.Present
	repo    *git.Repo
}

// Close closes both sides.
func (c *ForkChanges) Close() error {
	return errors.Join(c.Old.Close(), c.Now.Close(), c.present.Close(), c.repo.Close())
}

// CompareFork reads a fork's tree, and opens the snapshot that the fork was made of. The error is
// [bands.ErrNoSnapshot] if there was none or it no longer exists.
func CompareFork(ctx context.Context, w *workspace.Workspace, f Fork, progress func(bands.Progress)) (_ *ForkChanges, err error) {
	if f.Snapshot == 0 {
		return nil, bands.ErrNoSnapshot
	}
	store, err := tracking.OpenStore(w)
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
	c := &ForkChanges{repo: there.Repo}
	if c.present, err = capture.ScanReporting(ctx, store, tracking.TreeOptions(there), progress); err != nil {
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
