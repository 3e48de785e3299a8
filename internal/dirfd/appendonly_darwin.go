package dirfd

// AppendOnly reports that the directory has no such flag.
func AppendOnly(*Dir) bool { return false }
