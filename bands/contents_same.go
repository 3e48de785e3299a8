package bands

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/seed-3aff656d/entire/bands/band"
)

// errDiffers stops a comparison.
var errDiffers = errors.New("the file has another content")

// Same reports whether the file has the content of the entry, which is read from the store. f
// must be at its beginning.
func (c *ContentReader) Same(f *os.File, e *band.Entry) bool {
	return c.CopyTo(&comparer{f: f}, e) == nil
}

// comparer is a writer that fails unless the written data equals the content of a file.
type comparer struct {
	f   *os.File
	buf []byte
}

// Write compares data with the file.
func (c *comparer) Write(data []byte) (int, error) {
	if cap(c.buf) < len(data) {
		c.buf = make([]byte, len(data))
	}
	if _, err := io.ReadFull(c.f, c.buf[:len(data)]); err != nil {
		return 0, err
	}
	if !bytes.Equal(c.buf[:len(data)], data) {
		return 0, errDiffers
	}
	return len(data), nil
}
