package disk

// What a system with newer calls doesn't come to.
var ChmodByPath = fchmodByPath

// Fd is the descriptor.
func (d *DirFD) Fd() int { return d.fd }
