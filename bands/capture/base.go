package capture

import (
	"errors"
	"math"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/rules"
	"github.com/seed-3aff656d/entire/bands/statcache"
	"github.com/seed-3aff656d/entire/bands/touched"
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
	// now is the moment from which on the file system's record of changes is read the next time; nil
	// where there is none, or the tree is small.
	now     *touched.Moment
	touched touched.Folders // what may have changed since the cache was written; nil: anything
	opened  *statcache.Cache
	took    time.Duration // to open it and to ask the file system
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
	path := s.Path(bands.StatPrefix + set.Lineage)
	b.follow(s, set, path)
	if b.cache == nil || !b.load(s, set) {
		b.touched = nil
		b.cache, _ = statcache.Read(path) // an unusable one is as good as none
		if b.cache != nil && !b.load(s, set) {
			b.cache = nil
		}
	}
	if b.now == nil && (b.cache == nil || b.entries() >= set.AskFrom) {
		b.now = moment(set.Root)
	}
	return b
}

// load finds the snapshot that the cache was written for, and reports whether it is there with all its bands.
func (b *base) load(s *bands.Store, set bands.Settings) bool {
	snap, err := s.Snapshot(b.cache.Version)
	if err != nil || snap.Lineage != set.Lineage {
		return false
	}
	for _, length := range snap.Bands {
		if !s.HasBand(snap, length) {
			return false
		}
	}
	if ref, _ := snap.Tree.Ref(); ref != b.cache.Root.Record().Ref {
		return false
	}
	b.snap = snap
	b.records, b.reader = s.Loader(snap)
	if b.touched != nil {
		b.touched.Add(touched.Paths{Files: snap.LeftOut}) // each walk lists them
	}
	return true
}

func (b *base) close() error {
	err := b.opened.Close()
	if b.reader != nil {
		err = errors.Join(err, b.reader.Close())
	}
	return err
}

// walk prepares a walk that compares with the base.
func (b *base) walk(set bands.Settings, to sink) *walk {
	w := &walk{
		root: set.Root, rules: b.rules, cache: b.cache, base: b.records, to: to, stamp: math.MaxInt64, keepLeft: true, room: -1,
		notesAgain: b.now != nil,
	}
	w.strict = b.cache != nil && b.cache.Rules != b.rules.Print
	if b.cache != nil && !w.strict {
		w.touched = b.touched
	}
	return w
}
