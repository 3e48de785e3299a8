// Package band reads and writes bands: files of at most 8 MiB to which records are appended and
// from which none is ever removed. A record is a file's content, a part of it, or a directory,
// identified by the SHA-256 of its content. Directories form a Merkle tree whose entries refer to
// records: an unchanged directory is the same record in every snapshot. The format is in
// docs/formats/bands.md.
package band

import (
	"crypto/sha256"
	"encoding/hex"
)

// Hash is the SHA-256 of a record's content, before compression.
type Hash [sha256.Size]byte

// String returns the hash in lower case hex.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// RecordKind is the kind of a record's content.
type RecordKind byte

// The kinds of records.
const (
	// DataRecord is a file's content, or a part of it.
	DataRecord RecordKind = 1
	// ListRecord names the parts of a large or sparse file.
	ListRecord RecordKind = 2
	// DirectoryRecord is an encoded directory.
	DirectoryRecord RecordKind = 3
	// PageRecord is a part of the entries of a large directory.
	PageRecord RecordKind = 4
)

// Ref is the location of a record and the hash of its content.
type Ref struct {
	Hash   Hash
	Band   uint32
	Offset uint32
}

// IsZero reports whether the reference is the zero value.
func (r Ref) IsZero() bool { return r == Ref{} }

// ParseHash parses 64 hex digits.
func ParseHash(s string) (Hash, bool) {
	var h Hash
	if len(s) != hex.EncodedLen(len(h)) {
		return h, false
	}
	_, err := hex.Decode(h[:], []byte(s))
	return h, err == nil
}
