//go:build linux && (amd64 || arm64 || ppc64le || riscv64 || s390x)

package dirfd

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// longestName is the maximum length of a name on any file system in use, in bytes.
const longestName = 255

// statx is unix.Statx for one name, without its allocation.
func statx(dir int, name string, st *unix.Statx_t) error {
	if len(name) > longestName {
		return unix.ENAMETOOLONG
	}
	var text [longestName + 1]byte
	copy(text[:], name)
	if err := checkName(name); err != nil {
		return err
	}
	for {
		//nolint:gosec // as unix.Statx does it, but for the copy of the name on the stack
		_, _, errno := unix.Syscall6(unix.SYS_STATX, uintptr(dir), uintptr(unsafe.Pointer(&text[0])),
			statxFlags, unix.STATX_BASIC_STATS, uintptr(unsafe.Pointer(st)), 0)
		switch errno {
		case 0:
			return nil
		case unix.EINTR:
		default:
			return errno
		}
	}
}
