package capture

import (
	"math"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/rules"
	"github.com/seed-3aff656d/entire/bands/statcache"
	"github.com/seed-3aff656d/entire/bands/tree"
)

// base is the snapshot that a tree is compared with, and its stat cache. Without
// one everything is read.
type base struct {
	snap    bands.Snapshot
	cache   *statcache.Cache
	records *tree.Records
	reader  *band.Reader
	rules   *rules.Rules
}

// entries is about how many entries the tree has: as many as at the last snapshot; 0 if that
// isn't known.
func (b *base) entries() int64 {
	if b.cache == nil {
		return 0
	}
	return b.snap.Totals.Files + b.snap.Totals.Dirs
}

// openBase finds the stat cache and checks that what it was written for is still
// there. A partial snapshot has none.
func openBase(s *bands.Store, set bands.Settings) *base {
	b := &base{rules: rules.New(set.Options, s.Dir())}
	if len(set.Only) > 0 {
		return b
	}
	cache, err := statcache.Read(s.Path(bands.StatPrefix + set.Lineage))
	if err != nil {
		return b
	}
	snap, err := s.Snapshot(cache.Version)
	if err != nil || snap.Lineage != set.Lineage || !whole(s, snap) {
		return b
	}
	if ref, _ := snap.Tree.Ref(); ref != cache.Root.Record().Ref {
		return b
	}
	b.snap, b.cache = snap, cache
	b.records, b.reader = s.Loader(snap)
	return b
}

// whole reports whether every band of the snapshot is there in its whole length.
func whole(s *bands.Store, snap bands.Snapshot) bool {
	return !slices.ContainsFunc(snap.Bands, func(b bands.BandLength) bool { return !s.HasBand(snap, b) })
}

func (b *base) close() error {
	if b.reader == nil {
		return nil
	}
	return b.reader.Close()
}

// walk prepares a walk that compares with the base.
func (b *base) walk(set bands.Settings, to sink) *walk {
	w := &walk{
		root: set.Root, rules: b.rules, cache: b.cache, base: b.records, to: to, stamp: math.MaxInt64, keepLeft: true, room: -1,
	}
	w.strict = b.cache != nil && b.cache.Rules != b.rules.Print
	return w
}
