package band

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// AddRaw stores the first size bytes of a large file as a raw band and returns its number: as a
// reflink if how says so, else as a copy that keeps holes. If the band doesn't have the hash, the
// file changed meanwhile: the band is removed, and the error is ErrChanged. With a zero hash the
// caller checks the band, which can't change any more. It moves the position of f.
func (w *Writer) AddRaw(f *os.File, size int64, hash Hash, how disk.Linking) (number uint32, err error) {
	w.mu.Lock()
	number = w.next
	w.next++
	failed := w.err
	w.mu.Unlock()
	if failed != nil {
		return 0, failed
	}
	path := filepath.Join(w.dir, RawName(number))
	took, err := storeRaw(path, f, size, how)
	if err == nil {
		err = checkRaw(path, size, hash)
	}
	if err != nil {
		return 0, fmt.Errorf("store %s: %w", f.Name(), errors.Join(err, disk.Remove(path)))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = append(w.pending, RawName(number))
	w.lengths[number] = size
	w.created = true
	w.added += took
	return number, nil
}

// storeRaw creates path from the file and returns the number of bytes of data.
func storeRaw(path string, f *os.File, size int64, how disk.Linking) (took int64, err error) {
	if how == disk.Reflink {
		err := disk.CloneFile(f, path)
		if err == nil {
			return dataLength(f, size), os.Chmod(path, 0o600)
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			return 0, err
		}
	}
	if err := disk.Step("create", path); err != nil {
		return 0, err
	}
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	err = disk.Segments(f, size, func(off, n int64, hole bool) error {
		if hole {
			return nil
		}
		took += n
		_, err := io.Copy(io.NewOffsetWriter(out, off), io.NewSectionReader(f, off, n))
		return err
	})
	if err != nil {
		return 0, err
	}
	return took, out.Truncate(size)
}

// dataLength returns the length of the file without its holes, or size if they can't be found.
func dataLength(f *os.File, size int64) (length int64) {
	err := disk.Segments(f, size, func(_, n int64, hole bool) error {
		if !hole {
			length += n
		}
		return nil
	})
	if err != nil {
		return size
	}
	return length
}

// checkRaw checks the size and the hash of a raw band; a zero hash matches everything.
func checkRaw(path string, size int64, hash Hash) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() != size {
		return ErrChanged
	}
	if hash == (Hash{}) {
		return nil
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err
	}
	if Hash(sum.Sum(nil)) != hash {
		return ErrChanged
	}
	return nil
}
