package dirfd

// AppendOnly reports that the directory has no such flag.
func (d *Dir) AppendOnly() bool { return false }
