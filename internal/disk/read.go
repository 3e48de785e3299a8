package disk

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// ErrNotRegular means that a path is not a regular file.
var ErrNotRegular = errors.New("not a regular file")

// ReadFile is like os.ReadFile but does not block on a pipe. For anything but a regular file, or a
// link to one, the error is ErrNotRegular in a *fs.PathError.
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

// ReadJSON decodes the JSON of a file into v. It returns false without an error if there is no such
// file.
func ReadJSON(path string, v any) (found bool, err error) {
	data, err := ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	return err == nil, err
}

// Digest returns the SHA-256 of data in hexadecimal.
func Digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
