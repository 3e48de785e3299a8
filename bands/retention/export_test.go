package retention

import "github.com/seed-3aff656d/entire/bands"

// Thin returns the snapshots that a policy removes by age or number.
func Thin(snaps []bands.Snapshot, p Policy, kept ...bands.Version) []bands.Version {
	needed := map[bands.Version]bool{}
	for _, v := range kept {
		needed[v] = true
	}
	return thin(snaps, ranks(snaps, p.Now, needed), p)
}
