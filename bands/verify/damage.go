package verify

import (
	"github.com/seed-3aff656d/entire/bands/band"
)

// Damaged are the records of what Verify found.
func (d Damage) Damaged() []band.Damaged {
	all := make([]band.Damaged, 0, len(d.Bad))
	for i := range d.Bad {
		b := &d.Bad[i]
		all = append(all, band.Damaged{Kind: b.Kind, Ref: band.Ref{Hash: b.Hash, Band: b.Band, Offset: b.Offset}})
	}
	return all
}
