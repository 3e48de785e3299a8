package disk

import (
	"errors"
	"io/fs"
	"syscall"
	"time"
)

// Identity returns "": it is not known on this system.
func Identity(string) string { return "" }

// Changed returns the time of the file's last change of content or attributes (ctime).
func Changed(info fs.FileInfo) time.Time {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.ModTime()
	}
	return time.Unix(stat.Ctimespec.Sec, stat.Ctimespec.Nsec)
}

// Clock returns an error: this system has no files without a name.
func Clock(string) (time.Time, error) { return time.Time{}, errors.ErrUnsupported }
