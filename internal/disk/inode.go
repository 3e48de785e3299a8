package disk

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// Inode identifies the file within its file system. A replaced file has another inode than before,
// unless the old number was reused.
func Inode(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return "." + strconv.FormatUint(uint64(stat.Ino), 36) //nolint:unconvert // 32 bits on some systems
}

// Owned reports whether the file, or the link itself, belongs to the user of this process.
func Owned(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

// OnSameDevice reports whether two directories are on the same file system. False if one can't be
// read.
func OnSameDevice(a, b string) bool {
	var devices [2]uint64
	for i, dir := range []string{a, b} {
		info, err := os.Stat(dir)
		if err != nil {
			return false
		}
		stat, ok := info.Sys().(*syscall.Stat_t)
		if !ok {
			return false
		}
		devices[i] = uint64(stat.Dev) //nolint:unconvert // int32 on some systems
	}
	return devices[0] == devices[1]
}
