package disk

import (
	"io/fs"
	"syscall"
	"time"
)

// Identity is not known here.
func Identity(string) string { return "" }

// Changed is when the file's content or attributes last changed (ctime).
func Changed(info fs.FileInfo) time.Time {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.ModTime()
	}
	return time.Unix(stat.Ctimespec.Sec, stat.Ctimespec.Nsec)
}
