package checkpoint

import (
	"encoding/hex"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/plain"
)

const (
	// shardLen is the number of characters of an id that name the parent of its directory or ref.
	shardLen = 2
	// hexLen and ulidLen are the lengths of the two forms of ids.
	hexLen, ulidLen = 12, 26
	// timeLen is the number of letters of a ULID that are its time in milliseconds.
	timeLen = 10
	// letterBits is the number of bits in a letter of a ULID.
	letterBits = 5
)

// letters are the digits of a ULID: Crockford's base 32, without I, L, O and U.
const letters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// ID names a checkpoint. It has one of two forms: 12 lowercase hex digits, or a ULID of 26 letters,
// whose first ten are a time. A checkpoint with the first form is on a metadata branch or has a ref
// of its own, one with the second always has a ref.
type ID string

// NewHexID returns an id of the first form made of the next bytes of r, which is crypto/rand.Reader
// outside tests.
func NewHexID(r io.Reader) (ID, error) {
	var b [hexLen / 2]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return "", fmt.Errorf("new checkpoint id: %w", err)
	}
	return ID(hex.EncodeToString(b[:])), nil
}

// NewULID returns an id of the second form with the time at in milliseconds and the next ten bytes
// of r.
func NewULID(at time.Time, r io.Reader) (ID, error) {
	const randomBytes = 10
	var b [randomBytes]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return "", fmt.Errorf("new checkpoint id: %w", err)
	}
	var id [ulidLen]byte
	ms := uint64(max(at.UnixMilli(), 0))
	for i := timeLen - 1; i >= 0; i-- {
		id[i] = letters[ms%uint64(len(letters))]
		ms >>= letterBits
	}
	bits, n, next := uint(0), 0, 0
	for i := timeLen; i < ulidLen; i++ {
		if n < letterBits {
			bits, n, next = bits<<8|uint(b[next]), n+8, next+1 //nolint:mnd // bits of a byte
		}
		n -= letterBits
		id[i] = letters[bits>>n&uint(len(letters)-1)]
	}
	return ID(id[:]), nil
}

// ParseID returns s as an id, or ErrInvalid.
func ParseID(s string) (ID, error) {
	if len(s) == hexLen && plain.IsHex(s) || isULID(s) {
		return ID(s), nil
	}
	return "", fmt.Errorf("%w: %.40q", ErrInvalid, s)
}

// isULID reports whether s is a ULID as it is written: upper case, and a time of 48 bits.
func isULID(s string) bool {
	return len(s) == ulidLen && s[0] <= '7' && isULIDPrefix(s)
}

func isULIDPrefix(s string) bool {
	return len(s) <= ulidLen && strings.Trim(s, letters) == ""
}

// IsULID reports whether the id has the second form. The id must be valid.
func (id ID) IsULID() bool { return len(id) == ulidLen }

// Time returns the time in a ULID; false for the other form, which has none.
func (id ID) Time() (time.Time, bool) {
	if !id.IsULID() {
		return time.Time{}, false
	}
	ms := int64(0)
	for _, c := range id[:timeLen] {
		ms = ms<<letterBits | int64(strings.IndexRune(letters, c))
	}
	return time.UnixMilli(ms), true
}

// Prefix returns a prefix of ids that a user typed in the case in which ids of its form are written,
// false if no id begins with it.
func Prefix(typed string) (string, bool) {
	switch lower, upper := strings.ToLower(typed), strings.ToUpper(typed); {
	case len(typed) <= hexLen && plain.IsHex(lower) && lower == typed:
		return lower, true
	case isULIDPrefix(upper) && (upper == "" || upper[0] <= '7'):
		return upper, true
	}
	return "", false
}

// Dir returns the checkpoint's directory on the metadata branch, "ab/cdef123456". The id must be
// valid.
func (id ID) Dir() string { return string(id[:shardLen]) + "/" + string(id[shardLen:]) }

// Ref returns the name of the checkpoint's own ref. The id must be valid.
func (id ID) Ref() string {
	return CheckpointRefs + string(id[len(id)-shardLen:]) + "/" + string(id)
}

// ParseRef returns the checkpoint to which a ref belongs, false for any other ref.
func ParseRef(name string) (ID, bool) {
	rest, found := strings.CutPrefix(name, CheckpointRefs)
	_, last, cut := strings.Cut(rest, "/")
	id, err := ParseID(last)
	if !found || !cut || err != nil || id.Ref() != name {
		return "", false
	}
	return id, true
}
