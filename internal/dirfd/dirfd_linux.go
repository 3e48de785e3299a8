package dirfd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	noAtime   = unix.O_NOATIME
	utimeOmit = unix.UTIME_OMIT
)

// direntName is the offset of the name in a linux_dirent64: after the inode (8 bytes), the offset
// (8), the record's length (2) and the type (1).
const direntName = 19

// names is Dir.Names.
func names(d *Dir, buf []byte, yield func(name []byte, dtype byte) error) error {
	if _, err := unix.Seek(d.fd, 0, 0); err != nil {
		return &fs.PathError{Op: "readdir", Path: d.path, Err: err}
	}
	for {
		n, err := unix.Getdents(d.fd, buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return &fs.PathError{Op: "readdir", Path: d.path, Err: err}
		}
		if n == 0 {
			return nil
		}
		if err := dirents(buf[:n], yield); err != nil {
			return err
		}
	}
}

// dirents decodes the entries in a buffer filled by getdents.
func dirents(buf []byte, yield func(name []byte, dtype byte) error) error {
	for len(buf) > direntName {
		length := int(binary.NativeEndian.Uint16(buf[16:]))
		if length <= direntName || length > len(buf) {
			return errors.New("the system returned a damaged directory")
		}
		name := buf[direntName:length]
		if end := bytes.IndexByte(name, 0); end >= 0 {
			name = name[:end]
		}
		dtype := buf[direntName-1]
		buf = buf[length:]
		if string(name) == "." || string(name) == ".." {
			continue
		}
		if err := yield(name, dtype); err != nil {
			return err
		}
	}
	return nil
}

// fill converts st, whose field types differ between processors.
func fill(st *unix.Stat_t, to *Stat) {
	*to = Stat{
		Dev: uint64(st.Dev), Ino: st.Ino, Nlink: uint64(st.Nlink), //nolint:unconvert // 32 bits on some
		Mode: st.Mode, UID: st.Uid, GID: st.Gid,
		Size: st.Size, Blocks: st.Blocks, Rdev: uint64(st.Rdev), //nolint:unconvert // 32 bits on some
	}
	to.setTimes(int64(st.Mtim.Sec), int64(st.Mtim.Nsec), int64(st.Ctim.Sec), int64(st.Ctim.Nsec)) //nolint:unconvert // 32 bits on some
}

// statxFlags make statx behave as lstat.
const statxFlags = unix.AT_SYMLINK_NOFOLLOW | unix.AT_NO_AUTOMOUNT

// statAt fills to with the metadata of an entry. If statx is missing or forbidden, Mounted isn't
// set.
func statAt(dir int, name string, to *Stat) error {
	var st unix.Statx_t
	switch err := statx(dir, name, &st); {
	case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
		return statByName(dir, name, to)
	case err != nil:
		return err
	}
	*to = Stat{
		Dev: unix.Mkdev(st.Dev_major, st.Dev_minor), Ino: st.Ino, Nlink: uint64(st.Nlink),
		Mode: uint32(st.Mode), UID: st.Uid, GID: st.Gid, Size: int64(st.Size), Blocks: int64(st.Blocks),
		Rdev:    unix.Mkdev(st.Rdev_major, st.Rdev_minor),
		Mounted: st.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0,
	}
	to.setTimes(st.Mtime.Sec, int64(st.Mtime.Nsec), st.Ctime.Sec, int64(st.Ctime.Nsec))
	return nil
}

// procPath returns a path to an entry through the descriptor of its directory: it works at any
// depth, and after renames above it.
func procPath(dir int, name string) string { return "/proc/self/fd/" + strconv.Itoa(dir) + "/" + name }

// fchmodat sets the permissions of an entry that is not a symbolic link. Linux has a call for that
// since 6.6; on older kernels it uses an O_PATH descriptor and its path in /proc.
func fchmodat(dir int, name string, mode uint32) error {
	err := unix.Fchmodat(dir, name, mode, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return fchmodByPath(dir, name, mode)
	}
	return err
}

func fchmodByPath(dir int, name string, mode uint32) error {
	fd, err := openatRetry(dir, name, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	var st Stat
	err = fstat(fd, &st)
	switch {
	case err != nil:
	case st.IsSymlink():
		err = unix.EOPNOTSUPP
	default:
		err = unix.Chmod("/proc/self/fd/"+strconv.Itoa(fd), mode)
	}
	return errors.Join(err, unix.Close(fd))
}

func exchange(dir int, a, b string) error {
	err := unix.Renameat2(dir, a, dir, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return errors.ErrUnsupported
	}
	return err
}

const errNoXattr = unix.ENODATA
