package disk

import (
	"errors"
	"os"
	"syscall"
)

// Segments hands over the first size bytes of f in order: stretches of data,
// and holes, which read as zeros and need no room. Where the file system
// doesn't tell, all is data. It moves the file's position. An error of yield
// ends it and is returned as it is.
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
	if seekData < 0 {
		return off, nil
	}
	at, err := f.Seek(off, seekData)
	switch {
	case err == nil:
		return min(max(at, off), size), nil
	case errors.Is(err, syscall.ENXIO):
		return size, nil
	case untold(err):
		return off, nil
	}
	return 0, err
}

// nextHole is where the data at off ends.
func nextHole(f *os.File, off, size int64) (int64, error) {
	if seekData < 0 {
		return size, nil
	}
	at, err := f.Seek(off, seekHole)
	switch {
	case err == nil && at > off:
		return min(at, size), nil
	case err == nil, errors.Is(err, syscall.ENXIO), untold(err):
		// The file was cut meanwhile, or the system doesn't tell.
		return size, nil
	}
	return 0, err
}

// untold says whether the error means that the file system knows no holes.
func untold(err error) bool {
	return errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported)
}
