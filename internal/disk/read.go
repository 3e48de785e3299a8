package disk

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotRegular means that something else is in the place of a file.
var ErrNotRegular = errors.New("not a regular file")

// ReadFile is os.ReadFile that does not wait for a pipe in the place of the file: what
// isn't a regular file, or a link to one, is ErrNotRegular in a *fs.PathError.
func ReadFile(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it is only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: ErrNotRegular}
	}
	var b bytes.Buffer
	b.Grow(int(info.Size()) + bytes.MinRead)
	_, err = b.ReadFrom(f)
	return b.Bytes(), err
}
