package disk

import (
	"os"
	"syscall"
)

// Owned reports whether the file, or the link itself, belongs to the user that
// this process runs as.
func Owned(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
