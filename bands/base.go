package bands

import (
	"math"
	"slices"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/tree"
)

// base is the snapshot that a tree is compared with, and its stat cache. Without
// one everything is read.
type base struct {
	snap    Snapshot
	cache   *statCache
	records *tree.Records
	reader  *band.Reader
	rules   *rules
}

// openBase finds the stat cache and checks that what it was written for is still
// there.
func (s *Store) openBase(set takeSettings) *base {
	b := &base{rules: newRules(set.Options, s.dir)}
	cache, err := readStatCache(s.path(statPrefix + set.Lineage))
	if err != nil {
		return b
	}
	snap, err := s.Snapshot(cache.version)
	if err != nil || snap.Lineage != set.Lineage || !s.whole(snap) {
		return b
	}
	if ref, _ := snap.Tree.Ref(); ref != cache.root.record().ref {
		return b
	}
	b.snap, b.cache = snap, cache
	b.records, b.reader = s.Loader(snap)
	return b
}

// whole says whether every band of the snapshot is there in its whole length.
func (s *Store) whole(snap Snapshot) bool {
	return !slices.ContainsFunc(snap.Bands, func(b BandLength) bool { return !s.hasBand(snap, b) })
}

// hasBand reports whether the snapshot's folder, or else the store's, has the
// band in its whole length.
func (s *Store) hasBand(snap Snapshot, b BandLength) bool {
	for _, dir := range []string{s.SnapshotDir(snap.Version), s.BandsDir()} {
		if f, err := band.StatFile(dir, b.Number); err == nil && f.Length >= b.Length {
			return true
		}
	}
	return false
}

func (b *base) close() error {
	if b.reader == nil {
		return nil
	}
	return b.reader.Close()
}

// walk prepares a walk that compares with the base.
func (b *base) walk(set takeSettings, to sink) *walk {
	w := &walk{
		root: set.Root, rules: b.rules, cache: b.cache, base: b.records, to: to, stamp: math.MaxInt64, keepLeft: true, room: -1,
	}
	w.strict = b.cache != nil && b.cache.rules != b.rules.print
	return w
}
