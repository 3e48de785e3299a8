package checkpoint

import (
	"encoding/hex"
	"fmt"
	"io"

	"github.com/seed-3aff656d/entire/internal/plain"
)

// shardLen is the number of digits of an id that name the parent of its directory.
const shardLen = 2

// idBytes is the length of an id in bytes, before hex encoding.
const idBytes = 6

// ID names a checkpoint: 12 lowercase hex digits.
type ID string

// NewID returns an id made of the next bytes of r, which is crypto/rand.Reader outside tests.
func NewID(r io.Reader) (ID, error) {
	var b [idBytes]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return "", fmt.Errorf("new checkpoint id: %w", err)
	}
	return ID(hex.EncodeToString(b[:])), nil
}

// ParseID returns s as an id, or ErrInvalid.
func ParseID(s string) (ID, error) {
	if len(s) != 2*idBytes || !plain.IsHex(s) {
		return "", fmt.Errorf("%w: %.40q", ErrInvalid, s)
	}
	return ID(s), nil
}

// Dir returns the checkpoint's directory on the metadata branch, "ab/cdef123456". The id must be
// valid.
func (id ID) Dir() string { return string(id[:shardLen]) + "/" + string(id[shardLen:]) }
