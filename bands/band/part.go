package band

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// PartKind is the kind of a part of a file.
type PartKind byte

// The kinds of parts.
const (
	// HolePart is a hole of a sparse file: zeros that use no disk space.
	HolePart PartKind = 1
	// DataPart is the content of a DataRecord.
	DataPart PartKind = 2
	// RawPart is a whole raw band, and the only part of its file: Ref.Band is its number,
	// Ref.Hash the SHA-256 of the band, Ref.Offset 0.
	RawPart PartKind = 3
	// PiecePart is a range of a raw band, at the offset that the part has in its file: Ref.Band
	// is the band, Ref.Hash the SHA-256 of the range, Ref.Offset its offset in units of
	// PieceUnit.
	PiecePart PartKind = 4
)

// PieceUnit is the alignment of pieces in bytes.
const PieceUnit = 4096

// Part is one of the parts that make up a large or a sparse file, in order.
type Part struct {
	Kind   PartKind
	Length int64
	Ref    Ref // unless Kind is HolePart
}

// ErrBadParts means that the bytes are not a valid list of parts.
var ErrBadParts = errors.New("bad list of parts")

// partsVersion begins an encoded list, piecesVersion one with pieces.
const (
	partsVersion  = 1
	piecesVersion = 2
)

// Same reports whether two parts have the same content, wherever it is stored.
func (p Part) Same(other Part) bool {
	return p.Length == other.Length && p.Ref.Hash == other.Ref.Hash &&
		(p.Kind == HolePart) == (other.Kind == HolePart)
}

// EncodeParts returns the content of a ListRecord.
func EncodeParts(parts []Part) []byte {
	buf := make([]byte, 0, 8+len(parts)*48)
	version := byte(partsVersion)
	if hasPieces(parts) {
		version = piecesVersion
	}
	buf = append(buf, version)
	buf = binary.AppendUvarint(buf, uint64(len(parts)))
	for _, p := range parts {
		buf = append(buf, byte(p.Kind))
		buf = binary.AppendUvarint(buf, uint64(p.Length))
		if p.Kind == HolePart {
			continue
		}
		buf = append(buf, p.Ref.Hash[:]...)
		buf = binary.AppendUvarint(buf, uint64(p.Ref.Band))
		if p.Kind == DataPart {
			buf = binary.AppendUvarint(buf, uint64(p.Ref.Offset))
		}
	}
	return buf
}

func hasPieces(parts []Part) bool {
	return slices.ContainsFunc(parts, func(p Part) bool { return p.Kind == PiecePart })
}

// DecodeParts decodes the content of a ListRecord. It accepts exactly the encoding of parts that
// follow the rules: none is empty, no two holes are adjacent, data parts and pieces are no longer
// than a record, pieces begin at multiples of PieceUnit, and a raw part is the only one.
func DecodeParts(data []byte) ([]Part, error) {
	d := decoder{Data: data}
	version := d.Byte()
	switch {
	case version > piecesVersion:
		return nil, fmt.Errorf("%w: made by a newer version", ErrBadParts)
	case version < partsVersion:
		return nil, ErrBadParts
	}
	count := d.Uvarint(uint64(len(data)))
	parts := make([]Part, 0, min(count, uint64(len(data))/2))
	var total int64
	for range count {
		if d.Bad {
			break
		}
		p := d.part(total)
		if p.Length > math.MaxInt64-total || p.Kind == HolePart && len(parts) > 0 && parts[len(parts)-1].Kind == HolePart {
			d.Bad = true
		}
		total += p.Length
		parts = append(parts, p)
	}
	if d.Bad || len(d.Data) > 0 || len(parts) == 0 || hasPieces(parts) != (version == piecesVersion) {
		return nil, ErrBadParts
	}
	if len(parts) > 1 {
		for _, p := range parts {
			if p.Kind == RawPart {
				return nil, fmt.Errorf("%w: a raw part among others", ErrBadParts)
			}
		}
	}
	return parts, nil
}

// part consumes the part that begins at that offset of the file.
func (d *decoder) part(at int64) Part {
	p := Part{Kind: PartKind(d.Byte()), Length: int64(d.Uvarint(math.MaxInt64))}
	switch p.Kind {
	case HolePart:
	case DataPart, RawPart, PiecePart:
		copy(p.Ref.Hash[:], d.Take(len(p.Ref.Hash)))
		p.Ref.Band = uint32(d.Uvarint(math.MaxUint32))
	default:
		d.Bad = true
	}
	if p.Kind == DataPart {
		p.Ref.Offset = uint32(d.Uvarint(math.MaxUint32))
		d.Bad = d.Bad || p.Length > MaxRecord
	}
	if p.Kind == PiecePart {
		d.Bad = d.Bad || p.Length > MaxRecord || at%PieceUnit != 0 || at/PieceUnit > math.MaxUint32
		p.Ref.Offset = uint32(at / PieceUnit)
	}
	d.Bad = d.Bad || p.Length == 0
	return p
}
