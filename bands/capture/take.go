// Package capture reads a working tree: Take stores it as a snapshot, Scan compares it with the
// last one and writes nothing. Rules decide which paths are captured. Only files that changed since
// the last snapshot are read: the stat cache has what stat(2) returned for each, and Btrfs finds
// those that may have changed, if root asks. Large files and databases are read in parts. It
// removes no snapshots: package retention does.
package capture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Take takes a snapshot. If it is killed at any moment, the store either has the complete snapshot
// or doesn't have it; records appended for an incomplete one stay unused.
func Take(ctx context.Context, h *bands.Held, o TakeOptions) (Taken, error) {
	if o.Refuse != nil {
		return Taken{}, fmt.Errorf("take snapshot: %w", o.Refuse)
	}
	set, err := h.ResolveOptions(o.Options)
	if err != nil {
		return Taken{}, fmt.Errorf("take snapshot: %w", err)
	}
	t := &taking{Held: h, o: o, set: set}
	taken, err := t.run(ctx)
	if err != nil {
		return Taken{}, fmt.Errorf("take snapshot of %s: %w", o.Root, err)
	}
	return taken, nil
}

// taking is the state of one Take.
type taking struct {
	*bands.Held

	o      TakeOptions
	set    bands.Settings
	parent bands.Snapshot // the zero one if there is none
	stamp  bands.Stamp
	base   *base
	fit    CapFit
	keep   *Keeper
	walk   *walk
	top    *node
}

func (t *taking) run(ctx context.Context) (taken Taken, err error) {
	if !t.o.Force {
		if err := t.set.CheckFloor(); err != nil {
			return Taken{}, err
		}
	}
	if err := t.prepare(); err != nil {
		return Taken{}, err
	}
	defer func() { err = errors.Join(err, t.base.close()) }()
	room := int64(-1)
	if !t.o.Force {
		size, err := t.QuickSize()
		if err != nil {
			return Taken{}, err
		}
		room = max(t.set.Cap-size, 0)
	}
	t.keep = NewKeeper(t.Store, t.Reserved().Band, room)
	t.keep.Lengths = t.parent.BandLengths()
	defer func() { err = errors.Join(err, t.keep.Close()) }()
	if err := t.read(ctx); err != nil {
		return Taken{}, err
	}
	notes := t.walk.sortedNotes()
	taken = Taken{
		Entries: t.walk.examined(t.base), Walk: t.walk.took + t.base.took,
		Moving: notes.moving, Unreadable: notes.unreadable,
	}
	ref, ok := t.parent.Tree.Ref()
	if t.o.SkipUnchanged && t.parent.Version != 0 && ok && ref.Hash == t.top.settled().Ref.Hash {
		if repaired := t.keep.repaired(); len(repaired) > 0 {
			if err := errors.Join(t.keep.Finish(), t.NoteRepaired(repaired)); err != nil {
				return Taken{}, err
			}
		}
		t.remember(t.parent.Version)
		taken.Snapshot, taken.Unchanged = t.parent, true
		return taken, nil
	}
	if taken.Snapshot, err = t.publish(); err != nil {
		return Taken{}, err
	}
	if t.parent.Version != 0 {
		// Unreadable records aren't counted.
		_ = t.Changes(ctx, t.parent, taken.Snapshot, func(band.Change) error {
			taken.Changes++
			return nil
		})
	}
	return taken, nil
}

// prepare opens the base that the tree is compared with.
func (t *taking) prepare() error {
	if err := t.Sweep(); err != nil {
		return err
	}
	// The last snapshot has no link if its process was killed before it made it.
	last := t.Reserved()
	if last.Version != 0 && t.Has(last.Version) && t.Lineage(last.Lineage).Linked() < last.Version {
		if err := t.Link(last.Lineage, last.Version); err != nil {
			return err
		}
	}
	parent, _, err := t.Lineage(t.set.Lineage).Latest()
	if err != nil {
		return err
	}
	t.parent = parent
	if t.stamp, err = t.Stamp(t.set); err != nil {
		return err
	}
	began := t.set.Now()
	t.base = openBase(t.Store, t.set)
	t.base.took = t.set.Now().Sub(began)
	return nil
}

// read walks the tree, once unless the cache or one of its records is damaged, or more changed than
// there is room for.
func (t *taking) read(ctx context.Context) error {
	left, err := t.leftOut(ctx)
	if err != nil {
		return err
	}
	for {
		w := t.base.walk(t.set, t.keep)
		w.stamp, w.coarse = t.stamp.At, t.stamp.Coarse
		w.most = most{files: t.o.MostFiles, bytes: t.o.MostBytes}
		w.keepLeft, w.leave, w.room = !t.o.Force, left.paths, left.room
		if left.paths != nil {
			w.touched = nil // other directories may be left out now
		}
		at := bands.Progress{Total: left.entries}
		if left.entries > 0 {
			at.Size = left.fit.Weight
		} else {
			at.Total = t.base.entries()
		}
		w.reportTo(t.o.Progress, at)
		began := t.set.Now()
		top, err := w.run(ctx, t.set.Workers)
		switch {
		case err == nil:
			w.took = t.set.Now().Sub(began)
			t.walk, t.top, t.fit = w, top, left.fit
			if !left.exact {
				t.fit.Weight += w.fresh.Load()
			}
			return nil
		case errors.Is(err, errUnusable) && t.base.cache != nil:
			t.base.cache = nil
		case errors.Is(err, errOverRoom):
			if left, err = t.makeFit(ctx); err != nil {
				return err
			}
		default:
			return err
		}
	}
}

// remember writes the stat cache for the snapshot v. Errors are ignored: the former cache is still
// valid.
func (t *taking) remember(v bands.Version) {
	ref, _ := t.parent.Tree.Ref()
	cache, same := t.base.cache, t.top.out.state == asBefore
	again := t.walk.sortedNotes().again
	switch {
	case len(t.set.Only) > 0:
		return // see openBase
	case v == t.parent.Version && !same && t.top.out.record.Ref != ref:
		return // it would refer to records of no snapshot
	case same && cache == nil:
		return
	case same && v == t.parent.Version:
		t.record(cache.End, cache.Sum, again)
		return
	}
	root := t.top.out.stat
	if root == nil {
		kids, ok := cache.kids(cache.Root)
		if !ok {
			return
		}
		root = &statNode{Block: []byte(cache.Root.Block), Kids: kids}
	}
	meta := StatMeta{Version: v, Fit: t.fit, Rules: t.walk.rules.Print}
	if end, sum, err := saveStatCache(t.Path(bands.StatPrefix+t.set.Lineage), meta, root, cache); err == nil {
		t.record(end, sum, again)
	}
}

// publish completes the snapshot.
func (t *taking) publish() (bands.Snapshot, error) {
	var batch disk.Batch
	written, err := t.keep.unsynced()
	if err != nil {
		return bands.Snapshot{}, err
	}
	batch.Sync(written...)
	rec := t.top.settled()
	numbers := band.UnionBands(rec.Bands, []uint32{rec.Ref.Band})
	known := t.parent.BandLengths()
	files := make([]band.FileInfo, 0, len(numbers))
	for _, n := range numbers {
		f, err := t.bandFile(n, known[n])
		if err != nil {
			return bands.Snapshot{}, err
		}
		files = append(files, f)
		// The parent's bands were synced up to their length at that time. Other data may be
		// unsynced, such as records that an earlier writer appended and didn't sync.
		if length, ok := known[n]; !ok || f.Length != length {
			batch.Sync(filepath.Join(t.BandsDir(), f.Name()), t.BandsDir())
		}
	}
	next, err := t.Next(t.set.Lineage, slices.Max(numbers)+1)
	if err != nil {
		return bands.Snapshot{}, err
	}
	snap := bands.Snapshot{
		Message: t.o.Message, Cause: t.o.Cause, Created: t.set.Now().UTC(), Parent: t.parent.Version,
		Root: t.set.Root, Lineage: t.set.Lineage,
		Tree:   bands.TreeRef{Hash: rec.Ref.Hash.String(), Band: rec.Ref.Band, Offset: rec.Ref.Offset},
		Totals: rec.Totals, Added: t.keep.added(), Late: t.o.Late,
		Only: t.set.Only, LeftOut: t.walk.sortedNotes().leftOut, Causality: t.o.Causality,
	}
	for _, f := range files {
		snap.Bands = append(snap.Bands, bands.BandLength{Number: f.Number, Length: f.Length})
	}
	if t.o.Beside != nil {
		var wait sync.WaitGroup
		described := snap // without a version
		wait.Go(func() { t.o.Beside(described) })
		defer wait.Wait()
	}
	snap.Version = next.Version
	if err := t.commit(snap, files, next, &batch); err != nil {
		return bands.Snapshot{}, err
	}
	t.remember(snap.Version)
	// Records that remain listed by mistake are found to be intact the next time.
	_ = t.NoteRepaired(t.keep.repaired())
	// Readers of the link read the reservation first. If the link can't be made here, the next
	// snapshot makes it.
	_ = t.Link(t.set.Lineage, snap.Version)
	return snap, nil
}

// commit fills the snapshot's folder under a temporary name, and renames it after the reservation
// of its version; the batch has the bands that the snapshot refers to.
func (t *taking) commit(snap bands.Snapshot, files []band.FileInfo, next bands.Reservation, batch *disk.Batch) (err error) {
	making := t.Path(bands.MakingPrefix + snap.Version.String())
	if err := disk.Step("mkdir", making); err != nil {
		return err
	}
	if err := os.Mkdir(making, 0o700); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, batch.Discard(), os.RemoveAll(making))
		}
	}()
	for _, f := range files {
		if err := t.place(f, making, batch); err != nil {
			return fmt.Errorf("link band %d: %w", f.Number, err)
		}
	}
	return t.Publish(bands.Described{Format: bands.SnapshotFormat, Snapshot: snap}, next, making, batch)
}

// TakeOptions describe a snapshot to take.
type TakeOptions struct {
	bands.Options
	Message   string
	Cause     bands.Cause
	Causality bands.Causality
	// SkipUnchanged takes no snapshot if nothing differs from the parent.
	SkipUnchanged bool
	// Late is recorded in the snapshot.
	Late bool
	// Force ignores floor and cap: for snapshots requested by the user, and rescues.
	Force bool
	// MostFiles and MostBytes limit how much is read, 0 for no limit; beyond them the error is
	// ErrTooMuch. For snapshots that a user waits for.
	MostFiles, MostBytes int64
	// Progress is called with the progress of the walk, unless it is nil.
	Progress func(bands.Progress)
	// Beside runs during the waits for the disk. Its snapshot has no version yet and may never be
	// completed; its records can be read. Take waits for it. It isn't called if the tree is
	// unchanged. nil: nothing runs.
	Beside func(bands.Snapshot)
}

// Taken is the result of Take.
type Taken struct {
	// Snapshot is the new one; the parent if it is Unchanged.
	Snapshot  bands.Snapshot
	Unchanged bool
	// Changes is the number of paths that differ from the parent; 0 for a first snapshot.
	Changes int
	// Entries is the number of paths that the walk visited, or knows to be unchanged. Walk is its
	// duration, with the reading of files.
	Entries int64
	Walk    time.Duration
	// Moving are files that changed during each attempt to read them, and
	// databases that could not be read at one point in time: they are unknown.
	Moving []string
	// Unreadable are paths that could not be read.
	Unreadable []string
}

// Unheld returns the paths whose content should be in the snapshot and isn't: they can't be read,
// kept changing, or had no room.
func (t *Taken) Unheld() []string { return union(t.Unreadable, t.Moving, t.Snapshot.LeftOut) }

// union returns the paths of all lists, sorted, each once.
func union(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// bandFile finds a band. If it is missing, or shorter than in the parent, it is replaced by the
// parent's.
func (t *taking) bandFile(n uint32, length int64) (band.FileInfo, error) {
	f, err := band.StatFile(t.BandsDir(), n)
	if length == 0 || err == nil && f.Length >= length {
		return f, err
	}
	own, missing := band.StatFile(t.SnapshotDir(t.parent.Version), n)
	if missing != nil || own.Length < length {
		return f, err
	}
	to := filepath.Join(t.BandsDir(), own.Name())
	fresh := to + bands.TempSuffix
	if err := disk.Remove(fresh); err != nil {
		return f, err
	}
	if err := disk.LinkOrCopy(t.Linking(), filepath.Join(t.SnapshotDir(t.parent.Version), own.Name()), fresh); err != nil {
		return f, err
	}
	if err := disk.SyncFiles([]string{fresh}, nil); err != nil {
		return f, err
	}
	if err := disk.Rename(fresh, to); err != nil {
		return f, err
	}
	return own, disk.SyncDir(t.BandsDir())
}

// place puts the band into the folder of a new snapshot, and adds it to the batch if its content
// isn't synced along with the store's band. If the file system can clone, a band that has not grown
// since the parent becomes a hard link to the parent's clone.
func (t *taking) place(f band.FileInfo, dir string, batch *disk.Batch) error {
	from, to := filepath.Join(t.BandsDir(), f.Name()), filepath.Join(dir, f.Name())
	switch t.Linking() {
	case disk.Hardlink:
		return t.Hardlink(from, to)
	case disk.Reflink:
		length, ok := t.parent.BandLengths()[f.Number]
		repaired := slices.ContainsFunc(t.keep.repaired(), func(d band.Damaged) bool { return d.Ref.Band == f.Number })
		if !ok || length != f.Length || repaired {
			break
		}
		own := filepath.Join(t.SnapshotDir(t.parent.Version), f.Name())
		if info, err := os.Lstat(own); err != nil || info.Size() < f.Length {
			break // it is missing or truncated there
		}
		if err := disk.Step("link", to); err != nil {
			return err
		}
		if os.Link(own, to) == nil {
			return nil
		}
	default: // a copy
	}
	if err := disk.LinkOrCopy(t.Linking(), from, to); err != nil {
		return err
	}
	batch.Sync(to)
	return nil
}
