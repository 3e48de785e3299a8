package capture

import (
	"errors"
	"math"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
)

// base is the snapshot that a tree is compared with, and its stat cache. Without a base every file
// is read.
type base struct {
	snap    bands.Snapshot
	cache   *StatCache
	records *band.DirectoryLoader
	reader  *band.Reader
	rules   *Rules
	// now is the moment from which the next walk will read the file system's record of changes; nil
	// if there is no such record, or the tree is small.
	now     *treeMoment
	touched TouchedFolders // may have changed since the cache was written; nil: anything may have
	opened  *StatCache
	took    time.Duration // by opening it and asking the file system
}

// entries returns the approximate number of entries of the tree: that of the last snapshot; 0 if it
// isn't known.
func (b *base) entries() int64 {
	if b.cache == nil {
		return 0
	}
	return b.snap.Totals.Files + b.snap.Totals.Dirs
}

// openBase opens the stat cache and checks that its snapshot still exists. A partial snapshot has
// no base.
func openBase(s *bands.Store, set bands.Settings) *base {
	b := &base{rules: NewRules(set.Options, s.Dir())}
	if len(set.Only) > 0 {
		return b
	}
	path := s.Path(bands.StatPrefix + set.Lineage)
	b.follow(s, set, path)
	if b.cache == nil || !b.load(s, set) {
		b.touched = nil
		b.cache, _ = ReadStatCache(path) // an unusable one counts as none
		if b.cache != nil && !b.load(s, set) {
			b.cache = nil
		}
	}
	if b.now == nil && (b.cache == nil || b.entries() >= set.AskFrom) {
		b.now = moment(set.Root)
	}
	return b
}

// load finds the cache's snapshot and reports whether it exists with all its bands.
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
		b.touched.Add(TouchedPaths{Files: snap.LeftOut}) // each walk lists them
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
