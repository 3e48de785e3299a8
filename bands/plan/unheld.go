package plan

import (
	"slices"
)

// AddUnheld names what isn't held now, in directories that are the same on both
// sides too.
func (p *Plan) AddUnheld(in *Selection, paths []string) {
	for _, path := range paths {
		listed := slices.Contains(p.Nested, path) || slices.Contains(p.Unnamed, path) || slices.Contains(p.Busy, path) ||
			slices.Contains(p.Kept, path)
		if in.Relate(path) == Inside && !in.Hides(path) && !listed {
			p.Unknown = append(p.Unknown, path)
		}
	}
	slices.Sort(p.Unknown)
	p.Unknown = slices.Compact(p.Unknown)
}
