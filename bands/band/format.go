package band

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/zstd"
)

const (
	// Limit is the length over which no band grows: a record that would take it
	// there begins a new one. Only a record that is larger itself has a longer
	// band, of its own.
	Limit = 8 << 20
	// MaxRecord is the length of the largest content that a record holds.
	MaxRecord = 64 << 20
)

// The errors that callers distinguish; they come wrapped.
var (
	// ErrDamaged means that a band doesn't hold what a reference names.
	ErrDamaged = errors.New("damaged band")
	// ErrTooLarge means that a content is larger than MaxRecord.
	ErrTooLarge = errors.New("content too large for a record")
	// ErrChanged means that a large file changed while it was stored.
	ErrChanged = errors.New("file changed while it was stored")
)

// DamageError is an ErrDamaged with its place.
type DamageError struct {
	Band   uint32
	Offset uint32
	What   string
}

// Error describes what is wrong, and where.
func (e *DamageError) Error() string {
	return fmt.Sprintf("band %d, record at %d: %s", e.Band, e.Offset, e.What)
}

// Is reports that every DamageError is an ErrDamaged.
func (e *DamageError) Is(target error) bool { return target == ErrDamaged }

const (
	bandMagic   = "ENTBAND1"
	bandHeader  = 16
	recordMagic = "REC1"
	lastMagic   = "REC9" // of versions to come
	// recordHeader is the length of what is before a record's stored bytes.
	recordHeader = 52
	// checkedHeader is the part of it that the checksum covers.
	checkedHeader = 48
)

const (
	// least is the length under which compressing isn't tried.
	least = 64
	// window bounds the memory of an encoder; parts of large files are no longer.
	window = 1 << 20
)

// codec is how a record's content is stored.
type codec byte

const (
	plain      codec = 0
	compressed codec = 1
)

// header is what is before a record's stored bytes.
type header struct {
	kind   Kind
	codec  codec
	stored uint32
	raw    uint32
	hash   Hash
	sum    uint32
}

// checksum is the CRC-32C of the parts in their order.
func checksum(parts ...[]byte) uint32 {
	// The standard library makes the table once and returns the same one.
	table := crc32.MakeTable(crc32.Castagnoli)
	var sum uint32
	for _, p := range parts {
		sum = crc32.Update(sum, table, p)
	}
	return sum
}

// appendTo appends the header with its checksum, which covers stored too.
func (h header) appendTo(buf, stored []byte) []byte {
	start := len(buf)
	buf = append(buf, recordMagic...)
	buf = append(buf, byte(h.kind), byte(h.codec), 0, 0)
	buf = binary.LittleEndian.AppendUint32(buf, h.stored)
	buf = binary.LittleEndian.AppendUint32(buf, h.raw)
	buf = append(buf, h.hash[:]...)
	return binary.LittleEndian.AppendUint32(buf, checksum(buf[start:], stored))
}

// parseHeader reads a header; what is empty, or describes what is wrong with it.
func parseHeader(data []byte) (h header, what string) {
	if len(data) < recordHeader {
		return h, "the band ends before it"
	}
	if magic := string(data[:4]); magic != recordMagic {
		if magic > recordMagic && magic <= lastMagic {
			return h, "made by a newer version"
		}
		return h, "no record begins there"
	}
	h.kind, h.codec = Kind(data[4]), codec(data[5])
	h.stored = binary.LittleEndian.Uint32(data[8:])
	h.raw = binary.LittleEndian.Uint32(data[12:])
	copy(h.hash[:], data[16:])
	h.sum = binary.LittleEndian.Uint32(data[checkedHeader:])
	switch {
	case data[6] != 0 || data[7] != 0, h.raw > MaxRecord:
		return h, "bad header"
	case h.codec == plain && h.stored == h.raw, h.codec == compressed && h.stored < h.raw:
		return h, ""
	default:
		return h, "bad header"
	}
}

// appendBandHeader appends what a band file begins with.
func appendBandHeader(buf []byte, number uint32) []byte {
	start := len(buf)
	buf = append(buf, bandMagic...)
	buf = binary.LittleEndian.AppendUint32(buf, number)
	return binary.LittleEndian.AppendUint32(buf, checksum(buf[start:]))
}

// compress returns content as it is stored: compressed into buf[:0] if that
// saves an eighth, else itself.
func compress(enc *zstd.Encoder, content, buf []byte) ([]byte, codec) {
	if len(content) < least {
		return content, plain
	}
	if packed := enc.EncodeAll(content, buf[:0]); len(packed) <= len(content)-len(content)/8 {
		return packed, compressed
	}
	return content, plain
}
