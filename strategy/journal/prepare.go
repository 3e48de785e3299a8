package journal

import (
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
)

// Declined is the decision without the checkpoint that it would have made.
func (d Decision) Declined() Decision {
	d.Keep = slices.DeleteFunc(d.Keep, func(id checkpoint.ID) bool { return id == d.ID })
	d.ID, d.Shares = "", nil
	return d
}
