package loopfs

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// The requests and flags of linux/fs.h for a file's attributes.
const (
	iocGetAttributes = 0x801c581f // FS_IOC_FSGETXATTR
	iocSetAttributes = 0x401c5820 // FS_IOC_FSSETXATTR
	unitFlag         = 0x800      // FS_XFLAG_EXTSIZE
	copiedUnitFlag   = 0x10000    // FS_XFLAG_COWEXTSIZE
)

// attributes is struct fsxattr.
type attributes struct {
	flags, unit, _, _, copiedUnit uint32
	_                             [8]byte
}

// allocationUnit is the length of stretches that an image gets.
const allocationUnit = 1 << 20

// AllocateInUnits lets the file system allocate an image in long stretches, also where it stops to share
// blocks with a copy: XFS can. Copying it by reflink costs a record of each stretch. f is still empty;
// where it can't be done nothing happens.
func AllocateInUnits(f *os.File) {
	var a attributes
	call := func(request uintptr) error {
		return disk.Syscall("allocate", f, func(fd int) error {
			if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), request, uintptr(unsafe.Pointer(&a))); errno != 0 { //nolint:gosec // the kernel's structure
				return errno
			}
			return nil
		})
	}
	if call(iocGetAttributes) != nil {
		return
	}
	a.flags |= unitFlag | copiedUnitFlag
	a.unit, a.copiedUnit = allocationUnit, allocationUnit
	_ = call(iocSetAttributes) // the file can be used without
}
