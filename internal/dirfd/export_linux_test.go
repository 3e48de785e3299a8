package dirfd

// What a system with newer calls doesn't come to.
var ChmodByPath = fchmodByPath

// Fd is the descriptor.
func (d *Dir) Fd() int { return d.fd }
