package dirfd

import "os"

// CopyFlags does nothing: flags are those of another kind here.
func CopyFlags(_, _ *os.File) error { return nil }

// AppendOnly reports that the directory has no such flag.
func AppendOnly(*Dir) bool { return false }
