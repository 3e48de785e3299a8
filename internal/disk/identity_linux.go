package disk

import (
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Identity distinguishes a directory from every other that its file system has ever had
// at any path: its inode and when that was made. It is "" where that isn't known
// or may change, and of a symbolic link that of the link. A device's number is
// not in it: it can be another one after a restart.
func Identity(path string) string {
	switch space, err := SpaceAt(path); {
	case err != nil:
		return ""
	case space.Type != "ext4" && space.Type != "xfs" && space.Type != "btrfs" && space.Type != "tmpfs" && space.Type != "f2fs" && space.Type != "zfs":
		return ""
	}
	var st unix.Statx_t
	const want = unix.STATX_INO | unix.STATX_BTIME
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, want, &st); err != nil || st.Mask&want != want {
		return ""
	}
	return fmt.Sprintf("%d-%d.%09d", st.Ino, st.Btime.Sec, st.Btime.Nsec)
}

// Changed is when the file's content or attributes last changed (ctime).
func Changed(info fs.FileInfo) time.Time {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.ModTime()
	}
	return time.Unix(int64(stat.Ctim.Sec), int64(stat.Ctim.Nsec)) //nolint:unconvert // int32 on 32-bit systems
}
