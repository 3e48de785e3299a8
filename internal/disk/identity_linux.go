package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Identity distinguishes a directory from every other one that its file system has ever had at any
// path: it consists of its inode number and creation time. It is "" if that isn't known or may
// change. A symbolic link is not followed. The device number is not included, as it can change with
// a restart.
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

// Changed returns the time of the file's last change of content or attributes (ctime).
func Changed(info fs.FileInfo) time.Time {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.ModTime()
	}
	return time.Unix(int64(stat.Ctim.Sec), int64(stat.Ctim.Nsec)) //nolint:unconvert // int32 on 32-bit systems
}

// Created returns when a file was created, zero if the file system doesn't record it. A symbolic link is not
// followed.
func Created(path string) time.Time {
	var st unix.Statx_t
	if err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &st); err != nil || st.Mask&unix.STATX_BTIME == 0 {
		return time.Time{}
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec))
}

// Clock returns the present time by the clock of the file system that contains the directory dir: that
// of a file without a name, which leaves nothing there. It returns an error if the file system has no
// such files.
func Clock(dir string) (time.Time, error) {
	fd, err := unix.Open(dir, unix.O_TMPFILE|unix.O_WRONLY|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return time.Time{}, fmt.Errorf("file without a name in %s: %w", dir, err)
	}
	var st unix.Stat_t
	err = errors.Join(unix.Fstat(fd, &st), unix.Close(fd))
	return time.Unix(st.Ctim.Unix()), err
}
