package capture

import (
	"crypto/sha256"
	"errors"
	"io"
	"math"
	"os"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// partLength is the length of the parts of a large file. They begin at its multiples, so that a
// change in one part leaves the others as they are.
const partLength = 1 << 20

// readLarge reads a file that is large or has holes.
func (fr *fileReader) readLarge(name string) (c content, err error) {
	f, err := fr.n.dir.OpenFile(name)
	if err != nil {
		return content{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := dirfd.StatFile(f, &fr.st); err != nil {
		return content{}, err
	}
	disk.WaitForWriters(f)
	xattrs, err := dirfd.FileXattrs(f).List()
	if err != nil {
		return content{}, err
	}
	if name != fr.plain && IsDatabase(f) {
		return content{}, errDatabase
	}
	src := source{file: f, size: fr.st.Size, before: fr.partsBefore(name)}
	var parts []band.Part
	if fr.st.Size > smallFile && !sparse(&fr.st) && fr.to.clones() {
		parts, err = fr.whole(src)
	} else {
		parts, err = fr.parts(src)
	}
	if err == nil {
		err = dirfd.StatFile(f, &fr.after)
	}
	if err != nil {
		return content{}, err
	}
	if !unmoved(&fr.st, &fr.after) {
		return content{}, ErrMoved
	}
	c, err = fr.listed(parts, fr.entryBefore(name))
	c.xattrs = xattrs
	return c, err
}

// source is a large file, with its former parts.
type source struct {
	file   *os.File
	size   int64
	before []band.Part
	layout []segment // the holes; nil: as the file has them
	most   int64     // limit of bytes that differ from before, 0: none; beyond it: errMuch
}

// segment is a part of a file that is all data or all hole.
type segment struct {
	off, n int64
	hole   bool
}

// partsBefore returns the parts that were stored under the name before.
func (fr *fileReader) partsBefore(name string) []band.Part {
	e := fr.entryBefore(name)
	if e == nil || e.Kind != band.File || !e.Parts {
		return nil
	}
	parts, err := fr.base.Parts(e.Content)
	if err != nil {
		return nil // it is stored again
	}
	return parts
}

// listed stores a list of parts.
func (fr *fileReader) listed(parts []band.Part, before *band.Entry) (content, error) {
	if len(parts) == 0 {
		return content{}, nil
	}
	if len(parts) == 1 && parts[0].Kind == band.DataPart {
		return content{ref: parts[0].Ref}, nil
	}
	data := band.EncodeParts(parts)
	c := content{parts: true, bands: BandsOf(parts)}
	if before != nil && before.Parts && before.Content.Hash == sha256.Sum256(data) {
		ref, err := fr.to.keep(before.Content, band.ListRecord, data)
		c.ref = ref
		return c, kept(err)
	}
	ref, err := fr.to.Add(band.ListRecord, data)
	c.ref = ref
	return c, kept(err)
}

// BandsOf returns the bands that the parts refer to.
func BandsOf(parts []band.Part) []uint32 {
	var bands []uint32
	for _, p := range parts {
		if p.Kind != band.HolePart && (len(bands) == 0 || bands[len(bands)-1] != p.Ref.Band) {
			bands = append(bands, p.Ref.Band)
		}
	}
	return band.UnionBands(bands)
}

// parts stores a file in parts, without its holes.
func (fr *fileReader) parts(src source) ([]band.Part, error) {
	before := map[int64]band.Part{}
	var at int64
	for _, p := range src.before {
		before[at] = p
		at += p.Length
	}
	var parts []band.Part
	var differ int64
	add := func(off, n int64, hole bool) error {
		if hole {
			if last := len(parts) - 1; last >= 0 && parts[last].Kind == band.HolePart {
				parts[last].Length += n
				return nil
			}
			parts = append(parts, band.Part{Kind: band.HolePart, Length: n})
			return nil
		}
		for end := off + n; off < end; {
			length := min(end, (off/partLength+1)*partLength) - off
			p, err := fr.part(io.NewSectionReader(src.file, off, length), before[off])
			if err != nil {
				return err
			}
			if p.Ref.Hash != before[off].Ref.Hash {
				differ += length
			}
			if src.most > 0 && differ > src.most {
				return errMuch
			}
			parts = append(parts, p)
			off += length
		}
		return nil
	}
	var err error
	if src.layout == nil {
		err = disk.Segments(src.file, src.size, add)
	}
	for _, s := range src.layout {
		if err = add(s.off, s.n, s.hole); err != nil {
			break
		}
	}
	return parts, err
}

// part stores one part; before is the former part at its offset.
func (fr *fileReader) part(from *io.SectionReader, before band.Part) (band.Part, error) {
	if fr.buf == nil {
		fr.buf = make([]byte, smallFile)
	}
	data := fr.buf[:from.Size()]
	if _, err := io.ReadFull(from, data); err != nil {
		return band.Part{}, cut(err)
	}
	if before.Length == int64(len(data)) && before.Ref.Hash == sha256.Sum256(data) {
		if before.Kind == band.PiecePart {
			return before, nil // the content is in the file's own band
		}
		ref, err := fr.to.keep(before.Ref, band.DataRecord, data)
		before.Ref = ref
		return before, kept(err)
	}
	ref, err := fr.to.Add(band.DataRecord, data)
	return band.Part{Kind: band.DataPart, Length: int64(len(data)), Ref: ref}, kept(err)
}

const (
	// fewChanged is the number of bytes of a large file that may always be stored again before the
	// whole file is cloned again; 1/changedShare of a larger file may be.
	fewChanged   = 16 << 20
	changedShare = 8
)

// whole stores a large file on a file system that can clone: as a band of its own, or, if little of
// it changed, as pieces of that band and records of the rest.
func (fr *fileReader) whole(src source) ([]band.Part, error) {
	if len(src.before) == 1 && src.before[0].Kind == band.RawPart && src.before[0].Length == src.size {
		hash, err := hashOf(src.file, src.size)
		if err != nil {
			return nil, err
		}
		if hash == src.before[0].Ref.Hash {
			return src.before, nil
		}
	} else if len(src.before) > 0 {
		src.most = max(fewChanged, src.size/changedShare)
		parts, err := fr.parts(src)
		if !errors.Is(err, errMuch) {
			return parts, err
		}
	}
	parts, err := fr.to.raw(src.file, src.size)
	switch {
	case errors.Is(err, band.ErrChanged):
		return nil, ErrMoved
	case err != nil && !errors.Is(err, ErrMoved):
		return nil, kept(err)
	}
	return parts, err
}

// errMuch means that so much of a file changed that it should be cloned.
var errMuch = errors.New("much of the file changed")

// piecesOf returns the pieces of a file of that size, which is or becomes the raw band of that
// number.
func piecesOf(f *os.File, size int64, number uint32) ([]band.Part, error) {
	if size/band.PieceUnit > math.MaxUint32 {
		hash, err := hashOf(f, size)
		return []band.Part{{Kind: band.RawPart, Length: size, Ref: band.Ref{Hash: hash, Band: number}}}, err
	}
	parts := make([]band.Part, 0, size/partLength+1)
	buf := make([]byte, min(size, partLength))
	for off := int64(0); off < size; off += partLength {
		data := buf[:min(size-off, partLength)]
		if _, err := io.ReadFull(io.NewSectionReader(f, off, int64(len(data))), data); err != nil {
			return nil, cut(err)
		}
		ref := band.Ref{Hash: sha256.Sum256(data), Band: number, Offset: uint32(off / band.PieceUnit)}
		parts = append(parts, band.Part{Kind: band.PiecePart, Length: int64(len(data)), Ref: ref})
	}
	return parts, nil
}

// hashOf returns the hash of the first size bytes.
func hashOf(f *os.File, size int64) (h band.Hash, err error) {
	sum := sha256.New()
	n, err := io.Copy(sum, io.NewSectionReader(f, 0, size))
	if err == nil && n < size {
		err = ErrMoved
	}
	sum.Sum(h[:0])
	return h, err
}

// cut replaces the error for an unexpected end of a file by ErrMoved.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrMoved
	}
	return err
}
