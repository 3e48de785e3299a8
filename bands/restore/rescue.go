package restore

import (
	"context"
	"fmt"
	"sync"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/bands/verify"
)

// rescued takes the rescue and plans the restore from it. As a rescue reuses the records of
// unchanged files, all content that the restore overwrites or deletes is first read from the rescue
// and compared with its hash. If a record is damaged, the rescue is taken once more by reading the
// whole tree.
func rescued(ctx context.Context, h *bands.Held, j job, content *bands.ContentReader, in *Selection, o Options, done *Result) error {
	for again := false; ; again = true {
		taken, err := rescue(ctx, h, j, content, in, o, done.Target)
		if err != nil {
			return err
		}
		done.Rescue = taken.Snapshot
		bad, err := planFrom(ctx, h, content, in, done)
		switch {
		case len(bad) == 0:
			if err == nil {
				done.Plan.AddUnheld(in, taken.Unheld())
			}
			return err
		case again:
			return fmt.Errorf("check rescue snapshot %s: %d records can't be read: %w", done.Rescue.Version, len(bad), bands.ErrDamaged)
		}
		if err := h.NoteDamage(bad); err != nil {
			return err
		}
		if err := retention.Delete(h, done.Rescue.Version); err != nil {
			return err
		}
	}
}

// planFrom plans a restore from its rescue and returns the damaged records that the rescue needs.
func planFrom(ctx context.Context, h *bands.Held, content *bands.ContentReader, in *Selection, done *Result) ([]band.Damaged, error) {
	rescue, err := bands.OpenContent(h.Store, done.Rescue)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rescue.Bands.Close() }()
	now, _ := done.Rescue.Tree.Ref()
	done.Plan, err = planBetween(ctx, h.Store, planSides{Now: rescue.Records, NowRef: now, Target: done.Target, Lists: true}, content, in)
	if band.IsDamaged(err) {
		// A directory, of the rescue or of the target.
		found, failed := verify.Run(ctx, h.Store, done.Rescue.Version, nil)
		if failed != nil {
			return nil, failed
		}
		return found.Damaged(), err
	}
	if err != nil {
		return nil, err
	}
	return unreadable(ctx, rescue, &done.Plan)
}

// unreadable reads all files that the steps overwrite or delete, and returns their damaged records.
func unreadable(ctx context.Context, c *bands.ContentReader, p *Plan) ([]band.Damaged, error) {
	work := make(chan *band.Entry, 256)
	var mu sync.Mutex
	var bad []band.Damaged
	var group sync.WaitGroup
	for range capture.Workers(0) {
		group.Go(func() {
			var buf []byte
			for e := range work {
				var found []band.Damaged
				found, buf = c.Damaged(e, buf)
				mu.Lock()
				bad = append(bad, found...)
				mu.Unlock()
			}
		})
	}
	err := overwritten(ctx, c, p, func(e *band.Entry) { work <- e })
	close(work)
	group.Wait()
	return bad, err
}

// overwritten visits the files that a plan overwrites or deletes.
func overwritten(ctx context.Context, c *bands.ContentReader, p *Plan, visit func(e *band.Entry)) error {
	replaced := func(_ *dirSteps, s *namedStep) bool {
		return s.Was == band.File && s.Kind != StepAttributes
	}
	for d := range p.Root.Dirs() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if d.Count(replaced) == 0 {
			continue
		}
		was, err := c.Records.Directory(d.Was)
		if err != nil {
			return err
		}
		for i := range d.List {
			if s := &d.List[i]; replaced(d, s) {
				e, err := entryIn(was, s.Name, band.File)
				if err != nil {
					return fmt.Errorf("%s: %w", d.PathOf(s), err)
				}
				if e.Size > 0 {
					visit(e)
				}
			}
		}
	}
	return ctx.Err()
}
