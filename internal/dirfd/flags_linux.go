package dirfd

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// userFlags are the flags that chattr sets and that aren't reserved for the file system: s u c S d
// A m t D C P x. The flags that forbid writing, i and a, are not included.
const userFlags = 0x1 | 0x2 | 0x4 | 0x8 | 0x40 | 0x80 | 0x400 | 0x8000 | 0x10000 | 0x800000 | 0x20000000 | 0x2000000

// CopyFlags copies the flags set by chattr from one file to another. It does nothing if the file
// system has no flags.
func CopyFlags(from, to *os.File) error {
	want, err := flags(from)
	if err != nil || want&userFlags == 0 {
		return nil //nolint:nilerr // there are none
	}
	have, err := flags(to)
	if err == nil && (have^want)&userFlags == 0 {
		return nil
	}
	if err == nil {
		err = disk.Step("setflags", to.Name())
	}
	if err == nil {
		err = disk.Syscall("setflags", to, func(fd int) error {
			return unix.IoctlSetPointerInt(fd, unix.FS_IOC_SETFLAGS, int(have&^userFlags|want&userFlags))
		})
	}
	if err == nil {
		return nil
	}
	if errors.Is(err, unix.ENOTTY) || errors.Is(err, unix.EINVAL) {
		err = errors.ErrUnsupported // as for nodatacow of a file with content, on Btrfs
	}
	return &fs.PathError{Op: "flags", Path: to.Name(), Err: err}
}

func flags(f *os.File) (set uint32, err error) {
	err = disk.Syscall("getflags", f, func(fd int) error {
		set, err = unix.IoctlGetUint32(fd, unix.FS_IOC_GETFLAGS)
		return err
	})
	return set, err
}

// AppendOnly reports whether names can only be added to the directory, not removed or replaced
// (chattr +a).
func AppendOnly(d *Dir) bool {
	var st unix.Statx_t
	err := unix.Statx(d.fd, "", unix.AT_EMPTY_PATH|unix.AT_STATX_DONT_SYNC, 0, &st)
	return err == nil && st.Attributes&unix.STATX_ATTR_APPEND != 0
}
