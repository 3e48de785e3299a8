package band

import (
	"encoding/binary"
	"slices"
)

// These bytes begin an encoded directory and an encoded page.
const (
	flatVersion  = 1 // a directory with its entries
	pagedVersion = 2 // a directory with its pages
	pageVersion  = 1
)

// The bits of the byte that begins an entry.
const (
	kindBits   = 0x03 // the EntryKind less one
	partsBit   = 0x04 // Content is a ListRecord
	linkBit    = 0x08 // a link number follows
	ownerBit   = 0x10 // the number of an owner follows; else it is that of the previous entry
	nanosBit   = 0x20 // four bytes of nanoseconds follow; else there are none
	secondsBit = 0x40 // a difference in seconds follows; else there is none
	contentBit = 0x80 // a reference follows
)

// owner is the part of the attributes that many entries of a directory share.
type owner struct {
	mode, uid, gid uint32
	xattrs         []Xattr
}

func ownerOf(a *Attr) owner { return owner{mode: a.Mode, uid: a.UID, gid: a.GID, xattrs: a.Xattrs} }

func (o *owner) equal(p *owner) bool {
	return o.mode == p.mode && o.uid == p.uid && o.gid == p.gid && slices.EqualFunc(o.xattrs, p.xattrs, Xattr.equal)
}

func (x Xattr) equal(y Xattr) bool { return x.Name == y.Name && string(x.Value) == string(y.Value) }

// Encode appends the content of the directory's record to buf. Entries, attributes and bands must
// be sorted and unique. For a directory with pages it appends the header.
func (d *Directory) Encode(buf []byte) []byte {
	if len(d.Pages) == 0 {
		e := encoder{buf: append(buf, flatVersion), owners: map[string]uint64{}}
		e.totals(d.Totals)
		e.bands(d.Bands)
		e.attr(&d.Attr)
		e.entries(d.Entries)
		return e.buf
	}
	e := encoder{buf: append(buf, pagedVersion)}
	e.attr(&d.Attr)
	e.uvarint(uint64(len(d.Pages)))
	for i := range d.Pages {
		p := &d.Pages[i]
		e.uvarint(uint64(p.Count))
		e.uvarint(uint64(len(p.Last)))
		e.buf = append(e.buf, p.Last...)
		e.totals(p.Totals)
		e.bands(p.Bands)
		e.content(p.Ref)
	}
	return e.buf
}

// EncodePage appends the content of a page's record to buf.
func EncodePage(entries []Entry, buf []byte) []byte {
	e := encoder{buf: append(buf, pageVersion), owners: map[string]uint64{}}
	e.entries(entries)
	return e.buf
}

// entries appends the owners, the names and the entries.
func (e *encoder) entries(entries []Entry) {
	// Owners are in the order of their first use.
	var table []byte
	var last owner
	for i := range entries {
		if entries[i].Kind == Dir {
			continue
		}
		o := ownerOf(&entries[i].Attr)
		if len(e.owners) == 0 {
			e.last = o // the first entry is encoded relative to the first owner
		} else if o.equal(&last) {
			continue
		}
		e.scratch = o.append(e.scratch[:0])
		if _, ok := e.owners[string(e.scratch)]; !ok {
			e.owners[string(e.scratch)] = uint64(len(e.owners))
			table = append(table, e.scratch...)
		}
		last = o
	}
	e.uvarint(uint64(len(e.owners)))
	e.buf = append(e.buf, table...)
	e.uvarint(uint64(len(entries)))
	var text int
	for i := range entries {
		text += len(entries[i].Name) + len(entries[i].Target)
	}
	e.uvarint(uint64(text))
	for i := range entries {
		e.buf = append(e.buf, entries[i].Name...)
		e.buf = append(e.buf, entries[i].Target...)
	}
	for i := range entries {
		e.entry(&entries[i])
	}
}

// encoder appends values to buf. Entries are encoded relative to the previous one.
type encoder struct {
	buf     []byte
	owners  map[string]uint64 // encoded owner to its number
	scratch []byte

	last    owner
	seconds int64
	ref     Ref
}

func (e *encoder) uvarint(v uint64) { e.buf = binary.AppendUvarint(e.buf, v) }

func (e *encoder) varint(v int64) { e.buf = binary.AppendVarint(e.buf, v) }

func (e *encoder) totals(t Totals) {
	for _, n := range []int64{t.Files, t.Dirs, t.Unknown, t.Bytes} {
		e.uvarint(uint64(n))
	}
}

func (e *encoder) bands(bands []uint32) {
	e.uvarint(uint64(len(bands)))
	var last uint32
	for _, b := range bands {
		e.uvarint(uint64(b - last))
		last = b
	}
}

// attr appends the directory's own attributes.
func (e *encoder) attr(a *Attr) {
	o := ownerOf(a)
	e.buf = o.append(e.buf)
	e.seconds = a.Mtime.Unix()
	e.varint(e.seconds)
	e.uvarint(uint64(a.Mtime.Nanosecond()))
}

func (o *owner) append(buf []byte) []byte {
	buf = binary.AppendUvarint(buf, uint64(o.mode))
	buf = binary.AppendUvarint(buf, uint64(o.uid))
	buf = binary.AppendUvarint(buf, uint64(o.gid))
	buf = binary.AppendUvarint(buf, uint64(len(o.xattrs)))
	for _, x := range o.xattrs {
		buf = binary.AppendUvarint(buf, uint64(len(x.Name)))
		buf = append(buf, x.Name...)
		buf = binary.AppendUvarint(buf, uint64(len(x.Value)))
		buf = append(buf, x.Value...)
	}
	return buf
}

func (e *encoder) entry(n *Entry) {
	at := len(e.buf)
	bits := byte(n.Kind-1) & kindBits
	e.buf = append(e.buf, bits)
	e.uvarint(uint64(len(n.Name)))
	switch n.Kind {
	case File:
		e.uvarint(uint64(n.Size))
		if n.Parts {
			bits |= partsBit
		}
	case Symlink:
		e.uvarint(uint64(len(n.Target)))
	case Unknown:
		e.buf = append(e.buf, byte(n.Reason))
	case Dir:
	}
	if n.Link != 0 {
		bits |= linkBit
		e.uvarint(n.Link)
	}
	if n.Kind != Dir {
		if o := ownerOf(&n.Attr); !o.equal(&e.last) {
			bits |= ownerBit
			e.scratch = o.append(e.scratch[:0])
			e.uvarint(e.owners[string(e.scratch)])
			e.last = o
		}
		if seconds := n.Attr.Mtime.Unix(); seconds != e.seconds {
			bits |= secondsBit
			e.varint(seconds - e.seconds)
			e.seconds = seconds
		}
		if nanos := n.Attr.Mtime.Nanosecond(); nanos != 0 {
			bits |= nanosBit
			e.buf = binary.LittleEndian.AppendUint32(e.buf, uint32(nanos))
		}
	}
	if !n.Content.IsZero() {
		bits |= contentBit
		e.content(n.Content)
	}
	e.buf[at] = bits
}

func (e *encoder) content(r Ref) {
	e.buf = append(e.buf, r.Hash[:]...)
	e.varint(int64(r.Band) - int64(e.ref.Band))
	e.varint(int64(r.Offset) - int64(e.ref.Offset))
	e.ref = r
}
