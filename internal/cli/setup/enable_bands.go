package setup

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/cli/install"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/internal/ui"
)

// installBands makes the repository's store and takes the first snapshot of
// this worktree. That there can be no snapshots is printed and doesn't keep the
// rest from working.
func (e *enabling) installBands(ctx context.Context, p *install.Project) error {
	if e.opts.noBands {
		return p.Set(settings.LocalFile(e.repo.Root), settings.Change{Key: settings.KeyBands, Value: false})
	}
	if !e.Settings(e.repo).Bands.Enabled {
		return nil
	}
	taken, err := e.firstSnapshot(ctx)
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

// firstSnapshot takes a snapshot unless this worktree has one already.
func (e *enabling) firstSnapshot(ctx context.Context) (taken capture.Taken, err error) {
	r := e.Recorder(e.repo, e.Settings(e.repo), slog.New(slog.DiscardHandler))
	store, err := r.Snapshots().Snapshots.MakeStore(ctx)
	if err != nil {
		return taken, err
	}
	if _, found, err := store.Lineage(r.Snapshots().Snapshots.Lineage()).Latest(); err != nil || found {
		return taken, err
	}
	err = e.Streams.Sized("Taking the first snapshot", func(reach func(string, ui.Amount)) (err error) {
		taken, err = r.Snapshots().Snapshots.TakeFirst(ctx, store, format.ProgressOnly(reach))
		return err
	})
	if err != nil {
		return taken, fmt.Errorf("first snapshot: %w", err)
	}
	return taken, nil
}
