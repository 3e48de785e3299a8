//go:build faults

package disk

// step is Step for an entry.
func (d *DirFD) step(op, name string) error { return Step(op, d.join(name)) }
