//go:build !linux

package disk

// AppendOnly reports that the directory has no such flag.
func (d *DirFD) AppendOnly() bool { return false }
