package disk

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// iocFiemap is FS_IOC_FIEMAP of linux/fs.h.
const iocFiemap = 0xc020660b

// Flags of linux/fiemap.h.
const (
	fiemapSync    = 1
	extentLast    = 1
	extentUnknown = 2
	extentInline  = 0x200
	extentShared  = 0x2000
)

// fiemap is struct fiemap with room for extents.
type fiemap struct {
	start, length        uint64
	flags, mapped, count uint32
	_                    uint32
	extents              [256]struct {
		logical, physical, length uint64
		_                         [2]uint64
		flags                     uint32
		_                         [3]uint32
	}
}

// Extents calls visit with the extents of a file that are allocated on the disk. Place is 0 for
// those without an address of their own. Shared ones belong to other files, too.
func Extents(f *os.File, visit func(e Extent)) error {
	args := &fiemap{}
	for {
		args.length, args.flags, args.mapped, args.count = ^uint64(0)-args.start, fiemapSync, 0, uint32(len(args.extents))
		err := IgnoreEINTR(func() error {
			if _, _, errno := unix.Syscall(unix.SYS_IOCTL, f.Fd(), iocFiemap, uintptr(unsafe.Pointer(args))); errno != 0 { //nolint:gosec // the kernel's structure
				return errno
			}
			return nil
		})
		if err != nil {
			return &os.PathError{Op: "fiemap", Path: f.Name(), Err: err}
		}
		for _, e := range args.extents[:args.mapped] {
			found := Extent{Place: e.physical, Length: int64(e.length), Shared: e.flags&extentShared != 0}
			if e.flags&(extentUnknown|extentInline) != 0 {
				found.Place = 0
			}
			visit(found)
			if e.flags&extentLast != 0 {
				return nil
			}
			args.start = e.logical + e.length
		}
		if args.mapped == 0 {
			return nil
		}
	}
}
