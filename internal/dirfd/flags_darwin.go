package dirfd

import "os"

// CopyFlags does nothing: flags differ on this system.
func CopyFlags(_, _ *os.File) error { return nil }

// AppendOnly returns false: directories have no such flag.
func AppendOnly(*Dir) bool { return false }
