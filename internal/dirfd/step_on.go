//go:build faults

package dirfd

import "github.com/seed-3aff656d/entire/internal/disk"

// step is disk.Step for an entry.
func step(d *Dir, op, name string) error { return disk.Step(op, d.join(name)) }
