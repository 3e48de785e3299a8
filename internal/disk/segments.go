package disk

import (
	"errors"
	"os"
	"syscall"
)

// Segments calls yield for the segments of the first size bytes of f in order: data, and holes,
// which read as zeros and occupy no space. If the file system doesn't report holes, all is data. It
// moves the offset of f. An error of yield stops it and is returned unchanged.
func Segments(f *os.File, size int64, yield func(off, n int64, hole bool) error) error {
	for off := int64(0); off < size; {
		data, err := f.Seek(off, seekData)
		switch {
		case err == nil:
			data = min(max(data, off), size)
		case errors.Is(err, syscall.ENXIO): // no more data
			data = size
		case noHoles(err):
			data = off
		default:
			return err
		}
		if data > off {
			if err := yield(off, data-off, true); err != nil {
				return err
			}
		}
		if data >= size {
			return nil
		}
		end, err := f.Seek(data, seekHole)
		switch {
		case err == nil && end > data:
			end = min(end, size)
		case err == nil, errors.Is(err, syscall.ENXIO), noHoles(err):
			// The file was truncated meanwhile, or the system reports no holes.
			end = size
		default:
			return err
		}
		if err := yield(data, end-data, false); err != nil {
			return err
		}
		off = end
	}
	return nil
}

// noHoles reports whether the error means that the file system reports no holes.
func noHoles(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported)
}

// Extent is a contiguous part of a file on the disk.
type Extent struct {
	// Place is its address on the disk; 0 if it has no address of its own.
	Place  uint64
	Length int64
	// Shared reports whether other files share it.
	Shared bool
}
