package dirfd

// ChmodByPath is the fallback for systems without the newer call.
var ChmodByPath = fchmodByPath

// Fd returns the descriptor.
func (d *Dir) Fd() int { return d.fd }
