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

// allocationUnit is the allocation size in bytes set for an image.
const allocationUnit = 1 << 20

// AllocateInUnits makes the file system allocate an image in large extents, even when it unshares
// blocks from a copy. This keeps copying by reflink cheap, as it costs a record per extent. f must
// be empty. Only XFS supports it; elsewhere it does nothing.
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
	_ = call(iocSetAttributes) // optional
}
