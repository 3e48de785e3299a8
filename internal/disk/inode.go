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
