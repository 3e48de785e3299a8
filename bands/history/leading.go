package history

import (
	"cmp"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
)

// Leading returns the snapshots of a lineage, ascending, that led to the newest of them. It omits
// those that a restore of the whole tree took back: the snapshots after its target, and its
// rescue. A restore of some paths takes no snapshot back; partly reports whether there was one.
func Leading(all []bands.Snapshot) (list []bands.Snapshot, partly bool) {
	for i := len(all) - 1; i >= 0; {
		list = append(list, all[i])
		i--
		if i < 0 || all[i].Cause != bands.Rescue || all[i].Causality.Restores == 0 {
			continue
		}
		if all[i].Causality.RestoresPaths {
			partly = true
			continue
		}
		target, found := slices.BinarySearchFunc(all[:i], all[i].Causality.Restores, func(s bands.Snapshot, v bands.Version) int { return cmp.Compare(s.Version, v) })
		if found { // else it was deleted
			i = target
		}
	}
	slices.Reverse(list)
	return list, partly
}
