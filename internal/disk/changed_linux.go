package disk

import (
	"io/fs"
	"syscall"
	"time"
)

// Changed is when the file's content or attributes last changed (ctime).
func Changed(info fs.FileInfo) time.Time {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.ModTime()
	}
	return time.Unix(int64(stat.Ctim.Sec), int64(stat.Ctim.Nsec)) //nolint:unconvert // int32 on 32-bit systems
}
