package bands

import (
	"io/fs"
	"syscall"
)

// LinkCount is how many names the file has.
func LinkCount(info fs.FileInfo) uint64 {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return uint64(stat.Nlink) //nolint:unconvert // 16 or 32 bits on some systems
}
