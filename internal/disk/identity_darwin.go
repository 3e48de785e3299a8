package disk

import (
	"errors"
	"io/fs"
	"os"
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

// Created returns when a file was created, zero if that isn't known. A symbolic link is not followed.
func Created(path string) time.Time {
	info, err := os.Lstat(path)
	if err != nil {
		return time.Time{}
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}
	}
	return time.Unix(stat.Birthtimespec.Sec, stat.Birthtimespec.Nsec)
}

// Clock returns an error: this system has no files without a name.
func Clock(string) (time.Time, error) { return time.Time{}, errors.ErrUnsupported }
