package tree

import (
	"github.com/seed-3aff656d/entire/bands/band"
)

// Stored is a directory as the store has it.
type Stored struct {
	Ref    band.Ref
	Totals Totals
	Bands  []uint32
}
