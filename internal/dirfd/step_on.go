//go:build faults

package dirfd

import (
	"github.com/seed-3aff656d/entire/internal/disk"
)

// step is Step for an entry.
func (d *Dir) step(op, name string) error { return disk.Step(op, d.join(name)) }
