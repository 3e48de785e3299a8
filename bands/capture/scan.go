package capture

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Present is the present state of a tree, beside the snapshots of a store. The content that it
// shares with its base can be read there; of the rest only the hashes are known, for comparisons.
// The caller closes it.
type Present struct {
	Loader band.Loader
	Tree   band.Ref
	// Base is the snapshot that the tree was compared with, 0 if there is none.
	Base   bands.Version
	Totals band.Totals
	// Entries is the number of paths that the walk visited, Walk its duration.
	Entries int64
	Walk    time.Duration
	// Moving and Unreadable are as in Taken, LeftOut as in Snapshot.
	Moving, Unreadable, LeftOut []string

	overlay overlay
	base    *base
}

// Scan reads a tree as Take does, but writes nothing and needs no lock.
func Scan(ctx context.Context, s *bands.Store, o bands.Options) (*Present, error) {
	return ScanReporting(ctx, s, o, nil)
}

// ScanReporting is Scan, and reports its progress, unless progress is nil.
func ScanReporting(ctx context.Context, s *bands.Store, o bands.Options, progress func(bands.Progress)) (*Present, error) {
	set, err := s.ResolveOptions(o)
	if err != nil {
		return nil, fmt.Errorf("scan: %w", err)
	}
	b := openBase(s, set)
	p, err := scan(ctx, s, set, b, progress)
	if errors.Is(err, errUnusable) {
		b.cache = nil
		p, err = scan(ctx, s, set, b, progress)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("scan %s: %w", o.Root, err), b.close())
	}
	return p, nil
}

func scan(ctx context.Context, s *bands.Store, set bands.Settings, b *base, progress func(bands.Progress)) (*Present, error) {
	seen := &observer{cloning: s.Linking() == disk.Reflink, records: map[band.Hash][]byte{}}
	w := b.walk(set, seen)
	w.reportTo(progress, bands.Progress{Total: b.entries()})
	began := set.Now()
	top, err := w.run(ctx, set.Workers)
	if err != nil {
		return nil, err
	}
	rec, notes := top.settled(), w.sortedNotes()
	p := &Present{
		Tree: rec.Ref, Totals: rec.Totals, Entries: w.examined(b), Walk: set.Now().Sub(began),
		Moving: notes.moving, Unreadable: notes.unreadable, LeftOut: notes.leftOut,
		overlay: overlay{observer: seen, base: b.records}, base: b,
	}
	if b.cache != nil {
		p.Base = b.snap.Version
	}
	p.Loader = p.overlay
	return p, nil
}

// Close closes the files of the base.
func (p *Present) Close() error { return p.base.close() }

// Unheld is Taken.Unheld of the present tree.
func (p *Present) Unheld() []string { return union(p.Unreadable, p.Moving, p.LeftOut) }
