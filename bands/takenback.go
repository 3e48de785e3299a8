package bands

import (
	"cmp"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// InEffect returns those of a lineage's snapshots, ascending, whose work the tree has after the last
// of them, by the restores of the whole tree: a restore takes back what was done after its target, and
// an undo brings that back; what was done between the two stays. Rescues are left out.
func InEffect(all []Snapshot) []Snapshot {
	type effect struct{ removed, added []Snapshot }
	effects := map[Version]effect{} // of restores, by their rescues
	at := map[Version][]Snapshot{}  // what is in effect in the tree of a snapshot
	var now []Snapshot
	for _, s := range all {
		if s.Cause != Rescue {
			now = append(now, s)
		}
		at[s.Version] = slices.Clip(now) // what is appended later is not written into it
		then, found := at[s.Causality.Restores]
		if s.Cause != Rescue || s.Causality.RestoresPaths || !found {
			continue
		}
		if undone, is := effects[s.Causality.Restores]; is && s.Causality.Undoes {
			then = slices.Concat(without(now, undone.added), undone.removed)
			slices.SortFunc(then, func(a, b Snapshot) int { return cmp.Compare(a.Version, b.Version) })
			then = slices.CompactFunc(then, func(a, b Snapshot) bool { return a.Version == b.Version })
		}
		effects[s.Version] = effect{without(now, then), without(then, now)}
		now = slices.Clip(then)
	}
	return now
}

// without returns the snapshots of an ascending list that another one doesn't have.
func without(list, other []Snapshot) (rest []Snapshot) {
	for _, s := range list {
		if _, found := slices.BinarySearchFunc(other, s.Version, func(s Snapshot, v Version) int { return cmp.Compare(s.Version, v) }); !found {
			rest = append(rest, s)
		}
	}
	return rest
}

// TakenBack returns the snapshots of all lineages whose work a restore took back, see [InEffect]. What
// was taken back before the restores in the histories isn't known, and unreadable histories and
// snapshots are left out.
func (s *Store) TakenBack() map[Version]bool {
	histories := disk.Glob(s.Dir(), "history-*.json")
	if len(histories) == 0 {
		return nil
	}
	oldest := Version(math.MaxInt)
	for _, name := range histories {
		lineage := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(name), "history-"), ".json")
		past, _ := ReadHistory(s, lineage)
		for _, t := range slices.Concat(past.Undo, past.Redo) {
			oldest = min(oldest, t.Rescue)
			for v := t.Target; v > 0; { // that of an undo is the rescue of what it undid
				oldest = min(oldest, v)
				snap, err := s.Snapshot(v)
				if err != nil || snap.Causality.Restores >= v {
					break
				}
				v = snap.Causality.Restores
			}
		}
	}
	versions, _ := s.Versions()
	of := map[string][]Snapshot{}
	for _, v := range versions {
		if v < oldest {
			continue
		}
		if snap, err := s.Snapshot(v); err == nil && len(snap.Only) == 0 {
			of[snap.Lineage] = append(of[snap.Lineage], snap)
		}
	}
	taken := map[Version]bool{}
	for _, all := range of {
		for _, snap := range all {
			if snap.Cause != Rescue {
				taken[snap.Version] = true
			}
		}
		for _, snap := range InEffect(all) {
			delete(taken, snap.Version)
		}
	}
	return taken
}
