package bands

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// damageFile lists the records that are known to be damaged: docs/formats/bands.md.
const damageFile = "damage.json"

// damageFormat is the format of that file.
const damageFormat = 1

type damageList struct {
	Format  int             `json:"format"`
	Records []damagedRecord `json:"records"`
}

type damagedRecord struct {
	Kind   band.Kind `json:"kind"`
	Hash   string    `json:"sha256"`
	Band   uint32    `json:"band"`
	Offset uint32    `json:"offset"`
}

// Damaged are the records that were found damaged, and that no snapshot has
// repaired since.
func (s *Store) Damaged() ([]band.Damaged, error) {
	data, err := os.ReadFile(s.path(damageFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read list of damage: %w", err)
	}
	var list damageList
	if json.Unmarshal(data, &list) != nil || list.Format > damageFormat {
		return nil, nil //nolint:nilerr // verify makes it anew
	}
	var all []band.Damaged
	for _, r := range list.Records {
		if hash, ok := band.ParseHash(r.Hash); ok {
			all = append(all, band.Damaged{Kind: r.Kind, Ref: band.Ref{Hash: hash, Band: r.Band, Offset: r.Offset}})
		}
	}
	return all, nil
}

// NoteDamage remembers damaged records, and forgets by what the next snapshots
// would take them over unread: these read the whole tree, and repair or store
// anew what is still in it.
func (h *Held) NoteDamage(found []band.Damaged) error {
	if len(found) == 0 {
		return nil
	}
	had, err := h.Damaged()
	if err != nil {
		return err
	}
	for _, d := range found {
		if !slices.Contains(had, d) {
			had = append(had, d)
		}
	}
	if err := h.writeDamage(had); err != nil {
		return err
	}
	return h.dropStatCaches()
}

// ClearDamage forgets the damage: everything was read and found to be right.
func (h *Held) ClearDamage() error { return h.writeDamage(nil) }

// noteRepaired takes what a snapshot has repaired off the list.
func (h *Held) noteRepaired(repaired []band.Damaged) error {
	if len(repaired) == 0 {
		return nil
	}
	had, err := h.Damaged()
	if err != nil {
		return err
	}
	return h.writeDamage(slices.DeleteFunc(had, func(d band.Damaged) bool { return slices.Contains(repaired, d) }))
}

func (h *Held) writeDamage(all []band.Damaged) error {
	if len(all) == 0 {
		return removeFile(h.path(damageFile))
	}
	list := damageList{Format: damageFormat}
	for _, d := range all {
		list.Records = append(list.Records, damagedRecord{d.Kind, d.Ref.Hash.String(), d.Ref.Band, d.Ref.Offset})
	}
	data, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return fmt.Errorf("write list of damage: %w", err)
	}
	return disk.WriteDurable(h.path(damageFile), append(data, '\n'), 0o600)
}

// Damaged are the records of what Verify found.
func (d Damage) Damaged() []band.Damaged {
	all := make([]band.Damaged, 0, len(d.Bad))
	for i := range d.Bad {
		b := &d.Bad[i]
		all = append(all, band.Damaged{Kind: b.Kind, Ref: band.Ref{Hash: b.Hash, Band: b.Band, Offset: b.Offset}})
	}
	return all
}

// rescued takes the rescue and plans the restore from it. Everything that the
// restore overwrites or deletes is read in the rescue and compared with its hash
// first, as a rescue takes over the records of what didn't change. If one is
// damaged, the rescue is taken once more by reading the whole tree.
func (h *Held) rescued(ctx context.Context, j job, content *contents, in *scope, o RestoreOptions, done *Restored) error {
	for again := false; ; again = true {
		taken, err := h.rescue(ctx, j, content, in, o)
		if err != nil {
			return err
		}
		done.Rescue = taken.Snapshot
		bad, err := h.planFrom(ctx, content, in, done)
		switch {
		case len(bad) == 0:
			if err == nil {
				done.Plan.addUnheld(in, taken.Unheld())
			}
			return err
		case again:
			return fmt.Errorf("rescue %s: %d records can't be read back: %w", done.Rescue.Version, len(bad), ErrDamaged)
		}
		if err := h.NoteDamage(bad); err != nil {
			return err
		}
		if err := h.Delete(done.Rescue.Version); err != nil {
			return err
		}
	}
}

// planFrom plans a restore from its rescue and returns the damaged records that
// the rescue needs.
func (h *Held) planFrom(ctx context.Context, content *contents, in *scope, done *Restored) ([]band.Damaged, error) {
	rescue, err := h.contents(done.Rescue)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rescue.reader.Close() }()
	now, _ := done.Rescue.Tree.Ref()
	done.Plan, err = h.plan(ctx, sides{rescue.records, now, done.Target, true}, content, in)
	if damaged(err) {
		// A directory, of the rescue or of the target.
		found, failed := h.Verify(ctx, done.Rescue.Version, nil)
		if failed != nil {
			return nil, failed
		}
		return found.Damaged(), err
	}
	if err != nil {
		return nil, err
	}
	return rescue.unreadable(ctx, &done.Plan)
}

// unreadable reads all that the steps overwrite or delete, and returns the
// records that aren't what they must be.
func (c *contents) unreadable(ctx context.Context, p *Plan) ([]band.Damaged, error) {
	work := make(chan *tree.Entry, 256)
	var mu sync.Mutex
	var bad []band.Damaged
	var group sync.WaitGroup
	for range crew(0) {
		group.Go(func() {
			var buf []byte
			for e := range work {
				var found []band.Damaged
				found, buf = c.damagedIn(e, buf)
				mu.Lock()
				bad = append(bad, found...)
				mu.Unlock()
			}
		})
	}
	err := c.overwritten(ctx, p, func(e *tree.Entry) { work <- e })
	close(work)
	group.Wait()
	return bad, err
}

// overwritten visits the files that a plan overwrites or deletes.
func (c *contents) overwritten(ctx context.Context, p *Plan, visit func(e *tree.Entry)) error {
	goes := func(_ *dirSteps, s *step) bool { return s.was == tree.File && s.kind != StepAttributes }
	for d := range p.steps.dirs() {
		if err := ctx.Err(); err != nil {
			return err
		}
		if d.count(goes) == 0 {
			continue
		}
		was, err := c.records.Directory(d.was)
		if err != nil {
			return err
		}
		for i := range d.list {
			if s := &d.list[i]; goes(d, s) {
				e, err := entryIn(was, s.name, tree.File)
				if err != nil {
					return fmt.Errorf("%s: %w", d.pathOf(s), err)
				}
				if e.Size > 0 {
					visit(e)
				}
			}
		}
	}
	return ctx.Err()
}

// damagedIn returns the damaged records of a file, and the buffer to go on with.
func (c *contents) damagedIn(e *tree.Entry, buf []byte) (bad []band.Damaged, _ []byte) {
	list, err := c.parts(e)
	if err != nil {
		return []band.Damaged{{Kind: band.List, Ref: e.Content}}, buf
	}
	for i := range list {
		p := &list[i]
		switch p.Kind {
		case band.HolePart:
		case band.RawPart:
			if readRaw(c, need{ref: p.Ref, raw: p.Length}) != nil {
				bad = append(bad, band.Damaged{Ref: p.Ref})
			}
		default:
			data, err := c.data(p, buf)
			if err != nil {
				what := band.Damaged{Kind: band.Data, Ref: p.Ref}
				if p.Kind == band.PiecePart {
					what.Kind = 0
				}
				bad = append(bad, what)
				continue
			}
			buf = data
		}
	}
	return bad, buf
}
