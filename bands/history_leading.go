package bands

import (
	"cmp"
	"slices"
)

// LeadingSnapshots returns the snapshots of a lineage, ascending, that led to the newest of them.
// It omits those that a restore of the whole tree took back: the snapshots after its target, and
// its rescue. A restore of some paths takes no snapshot back; partly reports whether there was one.
func LeadingSnapshots(all []Snapshot) (list []Snapshot, partly bool) {
	for i := len(all) - 1; i >= 0; {
		list = append(list, all[i])
		if i > 0 && all[i-1].Causality.RestoresPaths {
			partly = true
		}
		i = present(all[:i])
	}
	slices.Reverse(list)
	return list, partly
}

// PresentSnapshot returns the snapshot with the tree as it was after the newest of some snapshots
// of a lineage, ascending: after a rescue that of the restore's target. It returns false if there
// is none.
func PresentSnapshot(all []Snapshot) (Snapshot, bool) {
	i := present(all)
	if i < 0 {
		return Snapshot{}, false
	}
	return all[i], true
}

func present(all []Snapshot) int {
	last := len(all) - 1
	if last < 0 || all[last].Cause != Rescue || all[last].Causality.RestoresPaths {
		return last
	}
	target, found := slices.BinarySearchFunc(all, all[last].Causality.Restores, func(s Snapshot, v Version) int { return cmp.Compare(s.Version, v) })
	if !found { // it was deleted, or isn't recorded
		return last
	}
	return target
}
