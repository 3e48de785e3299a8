package disk

import (
	"errors"
	"os"
	"syscall"
)

// Segments calls yield for the segments of the first size bytes of f in order:
// data, and holes, which read as zeros and occupy no space. Where the file system
// doesn't report holes, all is data. It moves the file's position. An error of
// yield stops it and is returned unchanged.
func Segments(f *os.File, size int64, yield func(off, n int64, hole bool) error) error {
	for off := int64(0); off < size; {
		data, err := nextData(f, off, size)
		if err != nil {
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
		end, err := nextHole(f, data, size)
		if err != nil {
			return err
		}
		if err := yield(data, end-data, false); err != nil {
			return err
		}
		off = end
	}
	return nil
}

// nextData is where data begins, at off or later: size if there is none.
func nextData(f *os.File, off, size int64) (int64, error) {
	at, err := f.Seek(off, seekData)
	switch {
	case err == nil:
		return min(max(at, off), size), nil
	case errors.Is(err, syscall.ENXIO):
		return size, nil
	case noHoles(err):
		return off, nil
	}
	return 0, err
}

// nextHole is where the data at off ends.
func nextHole(f *os.File, off, size int64) (int64, error) {
	at, err := f.Seek(off, seekHole)
	switch {
	case err == nil && at > off:
		return min(at, size), nil
	case err == nil, errors.Is(err, syscall.ENXIO), noHoles(err):
		// The file was truncated meanwhile, or the system reports no holes.
		return size, nil
	}
	return 0, err
}

// noHoles reports whether the error means that the file system reports no holes.
func noHoles(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported)
}

// Extent is a stretch of a file that takes room on the disk.
type Extent struct {
	// Place is where on the disk it is; 0 if it has no place of its own.
	Place  uint64
	Length int64
	// Shared reports whether other files have it, too.
	Shared bool
}
