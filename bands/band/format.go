package band

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/klauspost/compress/zstd"
)

const (
	// Limit is the maximum length of a band: a record that would exceed it begins a new band.
	// Only a record that is larger itself has a longer band, of its own.
	Limit = 8 << 20
	// MaxRecord is the maximum length of a record's content.
	MaxRecord = 64 << 20
)

// The errors that callers distinguish; they come wrapped.
var (
	// ErrDamaged means that a band doesn't hold the record that a reference names.
	ErrDamaged = errors.New("damaged band")
	// ErrTooLarge means that a content is larger than MaxRecord.
	ErrTooLarge = errors.New("content too large for a record")
	// ErrChanged means that a large file changed while it was stored.
	ErrChanged = errors.New("file changed while it was stored")
)

// DamageError is an ErrDamaged with its location.
type DamageError struct {
	Band   uint32
	Offset uint32
	What   string
}

// Error describes the damage and its location.
func (e *DamageError) Error() string {
	return fmt.Sprintf("band %d, record at %d: %s", e.Band, e.Offset, e.What)
}

// Is reports whether target is ErrDamaged, which every DamageError is.
func (e *DamageError) Is(target error) bool { return target == ErrDamaged }

const (
	bandMagic   = "ENTBAND1"
	bandHeader  = 16
	recordMagic = "REC1"
	lastMagic   = "REC9" // of future versions
	// recordHeader is the length of a record's header, before its stored bytes.
	recordHeader = 52
	// checkedHeader is the part of the header that the checksum covers.
	checkedHeader = 48
)

const (
	// least is the minimum length of content that is compressed.
	least = 64
	// window bounds the memory of an encoder; parts of large files are no longer.
	window = 1 << 20
)

// codec is the encoding of a record's content.
type codec byte

const (
	plain      codec = 0
	compressed codec = 1
)

// header is the header of a record.
type header struct {
	kind   RecordKind
	codec  codec
	stored uint32
	raw    uint32
	hash   Hash
	sum    uint32
}

// checksum returns the CRC-32C of the concatenated parts.
func checksum(parts ...[]byte) uint32 {
	// MakeTable builds this table only once.
	table := crc32.MakeTable(crc32.Castagnoli)
	var sum uint32
	for _, p := range parts {
		sum = crc32.Update(sum, table, p)
	}
	return sum
}

// appendTo appends the header with its checksum, which also covers stored.
func (h header) appendTo(buf, stored []byte) []byte {
	start := len(buf)
	buf = append(buf, recordMagic...)
	buf = append(buf, byte(h.kind), byte(h.codec), 0, 0)
	buf = binary.LittleEndian.AppendUint32(buf, h.stored)
	buf = binary.LittleEndian.AppendUint32(buf, h.raw)
	buf = append(buf, h.hash[:]...)
	return binary.LittleEndian.AppendUint32(buf, checksum(buf[start:], stored))
}

// parseHeader parses a header; what describes an error, or is empty.
func parseHeader(data []byte) (h header, what string) {
	if len(data) < recordHeader {
		return h, "the band ends before this record"
	}
	if magic := string(data[:4]); magic != recordMagic {
		if magic > recordMagic && magic <= lastMagic {
			return h, "made by a newer version"
		}
		return h, "no record starts there"
	}
	h.kind, h.codec = RecordKind(data[4]), codec(data[5])
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

// appendBandHeader appends the header of a band file.
func appendBandHeader(buf []byte, number uint32) []byte {
	start := len(buf)
	buf = append(buf, bandMagic...)
	buf = binary.LittleEndian.AppendUint32(buf, number)
	return binary.LittleEndian.AppendUint32(buf, checksum(buf[start:]))
}

// compress returns content in its stored form: compressed into buf[:0] if that saves at least an
// eighth, else content itself.
func compress(enc *zstd.Encoder, content, buf []byte) ([]byte, codec) {
	if len(content) < least {
		return content, plain
	}
	if packed := enc.EncodeAll(content, buf[:0]); len(packed) <= len(content)-len(content)/8 {
		return packed, compressed
	}
	return content, plain
}
