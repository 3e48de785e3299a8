package setup

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// installBands creates the repository's store and takes the first snapshot of this worktree, unless
// it has one. If snapshots are impossible, it prints a note; the rest is installed all the same.
func (e *enabling) installBands(ctx context.Context, p *Project) error {
	if e.opts.noBands {
		return p.Set(settings.LocalFile(e.repo.Root), settings.Change{Key: settings.KeyBands, Value: false})
	}
	if !e.Settings(e.repo).Bands.Enabled {
		return nil
	}
	w := e.Workspace(e.repo)
	store, err := tracking.MakeStore(ctx, w)
	found := false
	if err == nil {
		_, found, err = store.Lineage(tracking.Lineage(w)).Latest()
	}
	var taken capture.Taken
	if err == nil && !found {
		err = e.Streams.Sized("Taking the first snapshot", func(reach func(string, ui.Amount)) (err error) {
			taken, err = tracking.TakeFirstSnapshot(ctx, w, store, format.ProgressOnly(reach))
			return err
		})
		if err != nil {
			err = fmt.Errorf("first snapshot: %w", err)
		}
	}
	switch {
	case ctx.Err() != nil:
		return err
	case err != nil:
		e.Streams.Notef("No snapshots of the working tree: %v", err)
		if errors.Is(err, bands.ErrRefusedRoot) {
			e.Streams.Hint("a home directory is too much for one store; `entire enable --no-bands` is silent about it")
		}
	case taken.Snapshot.Version != 0 && !taken.Unchanged:
		e.Streams.Printf("First snapshot: %s, %s, %s\n", taken.Snapshot.Version,
			ui.Plural(int(taken.Snapshot.Totals.Files), "file"), format.Size(taken.Snapshot.Totals.Bytes))
	}
	return nil
}
