package band

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// ErrBadDirectory means that the bytes are not a valid directory or page.
var ErrBadDirectory = errors.New("bad directory record")

// DecodeDirectory decodes the content of a directory's record. It accepts the encoding of a valid
// directory; anything else is ErrBadDirectory. The result shares no memory with data. For a
// directory with pages it returns the header.
func DecodeDirectory(data []byte) (*Directory, error) {
	if len(data) > 0 && data[0] > pagedVersion {
		return nil, fmt.Errorf("%w: made by a newer version", ErrBadDirectory)
	}
	d := treeDecoder{decoder: decoder{Data: data}}
	var dir *Directory
	if version := d.Byte(); version == pagedVersion {
		dir = d.header()
	} else {
		d.Bad = version != flatVersion
		dir = &Directory{Totals: d.totals(), Bands: d.bands(), Attr: d.own()}
		dir.Entries = d.entries()
	}
	if d.Bad || len(d.Data) > 0 {
		return nil, ErrBadDirectory
	}
	return dir, nil
}

// DecodePage decodes the content of a page's record. It accepts the encoding of one or more valid
// entries; anything else is ErrBadDirectory. The result shares no memory with data.
func DecodePage(data []byte) ([]Entry, error) {
	if len(data) > 0 && data[0] > pageVersion {
		return nil, fmt.Errorf("%w: made by a newer version", ErrBadDirectory)
	}
	d := treeDecoder{decoder: decoder{Data: data}}
	d.Bad = d.Byte() != pageVersion
	entries := d.entries()
	if d.Bad || len(d.Data) > 0 || len(entries) == 0 {
		return nil, ErrBadDirectory
	}
	return entries, nil
}

// treeDecoder consumes values from Data. After an invalid value all following ones are zero.
type treeDecoder struct {
	decoder

	owners  []owner
	last    *owner
	text    string // names and targets, in order
	name    string // of the previous entry
	seconds int64
	ref     Ref
}

// header consumes a directory with pages, after the version.
func (d *treeDecoder) header() *Directory {
	dir := &Directory{Attr: d.own()}
	// A page has at least nine bytes besides its hash and its name.
	n := d.count(len(Hash{}) + 9)
	if n == 0 {
		d.Bad = true
		return nil
	}
	dir.Pages = make([]Page, n)
	for i := range dir.Pages {
		p := &dir.Pages[i]
		p.Count = int(d.Uvarint(math.MaxInt32))
		p.Last = string(d.Take(d.count(1)))
		p.Totals = d.totals()
		p.Bands = d.bands()
		d.content(&p.Ref)
		d.Bad = d.Bad || p.Count == 0 || !validName(p.Last) || i > 0 && dir.Pages[i-1].Last >= p.Last
		dir.Totals.Add(p.Totals)
		if t := dir.Totals; d.Bad || min(t.Files, t.Dirs, t.Unknown, t.Bytes) < 0 { // overflow
			d.Bad = true
			return nil
		}
	}
	dir.Bands = pageBands(dir.Pages)
	return dir
}

func (d *treeDecoder) totals() (t Totals) {
	for _, n := range []*int64{&t.Files, &t.Dirs, &t.Unknown, &t.Bytes} {
		*n = int64(d.Uvarint(math.MaxInt64))
	}
	return t
}

// own consumes a directory's own attributes.
func (d *treeDecoder) own() Attr {
	o := d.owner()
	d.seconds = d.varint()
	return o.attr(time.Unix(d.seconds, int64(d.nanos(d.Uvarint(math.MaxUint32)))).UTC())
}

// entries consumes owners, names and entries.
func (d *treeDecoder) entries() []Entry {
	d.owners = make([]owner, d.count(4))
	for i := range d.owners {
		d.owners[i] = d.owner()
	}
	if len(d.owners) > 0 {
		d.last = &d.owners[0]
	}
	count := d.count(2)
	d.text = string(d.Take(d.count(1)))
	// An entry has at least two bytes, besides its name.
	if count > len(d.Data)/2 {
		d.Bad = true
	}
	if d.Bad || count == 0 {
		d.Bad = d.Bad || len(d.text) > 0
		return nil
	}
	entries := make([]Entry, count)
	for i := range entries {
		if d.entry(&entries[i]); d.Bad {
			return nil
		}
	}
	d.Bad = len(d.text) > 0
	return entries
}

// attr combines an owner and a time.
func (o *owner) attr(mtime time.Time) Attr {
	return Attr{Mode: o.mode, UID: o.uid, GID: o.gid, Mtime: mtime, Xattrs: o.xattrs}
}

func (d *treeDecoder) bands() []uint32 {
	n := d.count(1)
	if n == 0 {
		return nil
	}
	bands := make([]uint32, n)
	last := uint64(0)
	for i := range bands {
		step := d.Uvarint(math.MaxUint32)
		d.Bad = d.Bad || i > 0 && step == 0 || last+step > math.MaxUint32
		last += step
		bands[i] = uint32(last)
	}
	return bands
}

func (d *treeDecoder) owner() owner {
	o := owner{
		mode: uint32(d.Uvarint(0o7777)),
		uid:  uint32(d.Uvarint(math.MaxUint32)),
		gid:  uint32(d.Uvarint(math.MaxUint32)),
	}
	n := d.count(2)
	if n == 0 {
		return o
	}
	o.xattrs = make([]Xattr, n)
	for i := range o.xattrs {
		x := Xattr{Name: string(d.Take(d.count(1)))}
		x.Value = append([]byte{}, d.Take(d.count(1))...)
		d.Bad = d.Bad || x.Name == "" || i > 0 && o.xattrs[i-1].Name >= x.Name
		o.xattrs[i] = x
	}
	return o
}

func (d *treeDecoder) entry(e *Entry) {
	bits := d.Byte()
	e.Kind = EntryKind(bits&kindBits) + 1
	allowed := byte(0xff) // the bits allowed for an entry of the kind
	switch e.Kind {
	case File:
	case Dir:
		allowed = kindBits | contentBit
	case Symlink, Unknown:
		allowed = kindBits | linkBit | ownerBit | nanosBit | secondsBit
	}
	d.Bad = d.Bad || bits&^allowed != 0
	e.Name = d.words(d.Uvarint(math.MaxUint32))
	d.Bad = d.Bad || e.Name <= d.name || !validName(e.Name)
	d.name = e.Name
	held := bits&contentBit != 0
	switch e.Kind {
	case File:
		e.Size = int64(d.Uvarint(math.MaxInt64))
		e.Parts = bits&partsBit != 0
		// Only an empty file has no content.
		d.Bad = d.Bad || held != (e.Size > 0) || e.Parts && !held
	case Dir:
		d.Bad = d.Bad || !held
	case Symlink:
		e.Target = d.words(d.Uvarint(math.MaxUint32))
		d.Bad = d.Bad || strings.IndexByte(e.Target, 0) >= 0
	case Unknown:
		e.Reason = UnknownReason(d.Byte())
		d.Bad = d.Bad || e.Reason == 0
	}
	if bits&linkBit != 0 {
		e.Link = d.Uvarint(math.MaxUint64)
		d.Bad = d.Bad || e.Link == 0
	}
	if e.Kind != Dir {
		d.attr(e, bits)
	}
	if held {
		d.content(&e.Content)
	}
}

func (d *treeDecoder) attr(e *Entry, bits byte) {
	if bits&ownerBit != 0 {
		n := d.Uvarint(math.MaxUint32)
		if n >= uint64(len(d.owners)) {
			d.Bad = true
			return
		}
		d.last = &d.owners[n]
	}
	if d.last == nil {
		d.Bad = true
		return
	}
	if bits&secondsBit != 0 {
		d.seconds += d.varint()
	}
	var nanos uint32
	if bits&nanosBit != 0 {
		if b := d.Take(4); b != nil {
			nanos = d.nanos(uint64(binary.LittleEndian.Uint32(b)))
		}
		d.Bad = d.Bad || nanos == 0
	}
	e.Attr = d.last.attr(time.Unix(d.seconds, int64(nanos)).UTC())
}

func (d *treeDecoder) nanos(n uint64) uint32 {
	if n >= uint64(time.Second) {
		d.Bad = true
		return 0
	}
	return uint32(n)
}

func (d *treeDecoder) content(r *Ref) {
	copy(r.Hash[:], d.Take(len(r.Hash)))
	number := int64(d.ref.Band) + d.difference()
	offset := int64(d.ref.Offset) + d.difference()
	if number < 0 || number > math.MaxUint32 || offset < 0 || offset > math.MaxUint32 {
		d.Bad = true
		return
	}
	r.Band, r.Offset = uint32(number), uint32(offset)
	d.Bad = d.Bad || r.IsZero()
	d.ref = *r
}

// difference consumes a difference of two 32-bit numbers.
func (d *treeDecoder) difference() int64 {
	v := d.varint()
	if v > math.MaxUint32 || v < -math.MaxUint32 {
		d.Bad = true
		return 0
	}
	return v
}

// words consumes n bytes of the text.
func (d *treeDecoder) words(n uint64) string {
	if d.Bad || n > uint64(len(d.text)) {
		d.Bad = true
		return ""
	}
	s := d.text[:n]
	d.text = d.text[n:]
	return s
}

// count consumes the number of elements that follow, of at least size bytes each. The number is
// limited by the remaining data.
func (d *treeDecoder) count(size int) int { return int(d.Uvarint(uint64(len(d.Data) / size))) }

func (d *treeDecoder) varint() int64 {
	v := d.Uvarint(math.MaxUint64)
	return int64(v>>1) ^ -int64(v&1)
}
