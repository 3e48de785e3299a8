package capture

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// statNode is a new block of a directory. The blocks of its subdirectories are written before it;
// the distances to them are set when it is written.
type statNode struct {
	Block []byte
	Kids  []statSubdirectory
}

// statSubdirectory is a subdirectory: a new block, or one of the former cache.
type statSubdirectory struct {
	at   int // offset of the distance in the parent's block
	Node *statNode
	Old  StatDirectory
}

// newStatNode begins the block of a directory that was stored as r. lines is the expected size of
// its lines in bytes.
func newStatNode(own StatLine, r band.StoredDirectory, lines int) *statNode {
	b := make([]byte, 0, blockLength+4*len(r.Bands)+lines)
	le := binary.LittleEndian
	b = le.AppendUint32(b, 0) // the length, see Add
	b = le.AppendUint32(b, 0) // the count
	b = le.AppendUint64(b, 0) // the length of the blocks below
	b = le.AppendUint64(b, own.Ino)
	b = le.AppendUint64(b, uint64(own.Mtime))
	b = le.AppendUint64(b, uint64(own.Ctime))
	b = le.AppendUint32(b, own.Mode)
	b = le.AppendUint32(b, uint32(len(r.Bands)))
	b = append(b, r.Ref.Hash[:]...)
	b = le.AppendUint32(b, r.Ref.Band)
	b = le.AppendUint32(b, r.Ref.Offset)
	for _, n := range []int64{r.Totals.Files, r.Totals.Dirs, r.Totals.Unknown, r.Totals.Bytes} {
		b = le.AppendUint64(b, uint64(n))
	}
	for _, n := range r.Bands {
		b = le.AppendUint32(b, n)
	}
	return &statNode{Block: b}
}

// Add appends an entry.
func (n *statNode) Add(e *StatLine) {
	le := binary.LittleEndian
	b := n.Block
	b = append(b, byte(len(e.Name)), byte(len(e.Name)>>8), e.Kind, byte(e.Reason))
	b = le.AppendUint32(b, e.Mode)
	b = le.AppendUint64(b, e.Ino)
	b = le.AppendUint64(b, uint64(e.Mtime))
	b = le.AppendUint64(b, uint64(e.Ctime))
	b = le.AppendUint64(b, uint64(e.Size))
	b = append(b, e.Name...)
	n.Block = b
	le.PutUint32(n.Block, uint32(len(n.Block)))
	le.PutUint32(n.Block[4:], le.Uint32(n.Block[4:])+1)
}

// AddText appends an entry in the form of statIndex.Text.
func (n *statNode) AddText(text string) {
	le := binary.LittleEndian
	n.Block = append(n.Block, text...)
	le.PutUint32(n.Block, uint32(len(n.Block)))
	le.PutUint32(n.Block[4:], le.Uint32(n.Block[4:])+1)
}

// AddDir appends an entry for a subdirectory.
func (n *statNode) AddDir(name string, kid statSubdirectory) {
	kid.at = len(n.Block) + statLineLength - 8
	n.Kids = append(n.Kids, kid)
	n.Add(&StatLine{Name: name, Kind: statDir})
}

// statWriter writes blocks in order.
type statWriter struct {
	to    *bufio.Writer
	pos   uint64
	old   *StatCache
	apart bool // the blocks of old keep their places
	err   error
}

func (w *statWriter) write(data []byte) {
	if w.err != nil {
		return
	}
	w.pos += uint64(len(data))
	_, w.err = w.to.Write(data)
}

// put writes the block of a directory after the missing blocks below it, and returns its offset.
func (w *statWriter) put(n *statNode) uint64 {
	le := binary.LittleEndian
	first := w.pos
	starts := make([]uint64, len(n.Kids))
	for i, kid := range n.Kids {
		switch {
		case kid.Node != nil:
			starts[i] = w.put(kid.Node)
		case w.apart:
			starts[i] = kid.Old.at
		default:
			starts[i] = w.copy(kid.Old)
		}
	}
	own := w.pos
	le.PutUint32(n.Block, uint32(len(n.Block)))
	le.PutUint64(n.Block[8:], own-first)
	if w.apart {
		le.PutUint64(n.Block[8:], math.MaxUint64)
	}
	for i, kid := range n.Kids {
		le.PutUint64(n.Block[kid.at:], own-starts[i])
	}
	w.write(n.Block)
	return own
}

// copy writes the blocks of a directory of old and below it, and returns the offset of its own.
func (w *statWriter) copy(d StatDirectory) uint64 {
	if d.apart() {
		kids, ok := w.old.kids(d)
		if !ok {
			w.err = errUnusable
			return 0
		}
		return w.put(&statNode{Block: []byte(d.Block), Kids: kids})
	}
	const most = 1 << 20
	for at, end := d.at-d.below(), d.at+uint64(len(d.Block)); at < end && w.err == nil; {
		part, ok := w.old.text(at, min(end-at, most))
		if !ok {
			w.err = errUnusable
			return 0
		}
		w.write([]byte(part))
		at += uint64(len(part))
	}
	return w.pos - uint64(len(d.Block))
}

// saveStatCache writes the cache whose last directory is root; unchanged blocks are taken from old,
// nil for none. If old was opened by openStatCache, and its updates are few, it appends an update
// to the file; else it replaces the file. It returns the end of the file, and its checksum.
func saveStatCache(path string, meta StatMeta, root *statNode, old *StatCache) (end uint64, sum uint32, err error) {
	if err := disk.Step("write", path); err != nil {
		return 0, 0, err
	}
	if old != nil && old.file != nil && old.End-old.base < max(old.base/updatesPart, leastUpdates) {
		end, sum, err = updateStatCache(path, meta, root, old)
	} else {
		end, sum, err = replaceStatCache(path, meta, root, old)
	}
	if err != nil {
		return 0, 0, fmt.Errorf("write stat cache: %w", err)
	}
	return end, sum, nil
}

const (
	// updatesPart limits updates to 1/updatesPart of the file.
	updatesPart = 8
	// leastUpdates is the size of updates that any file may have, in bytes.
	leastUpdates = 256 << 10
)

// replaceStatCache writes the whole file.
func replaceStatCache(path string, meta StatMeta, root *statNode, old *StatCache) (end uint64, sum uint32, err error) {
	temp := path + bands.TempSuffix
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, 0, err
	}
	le := binary.LittleEndian
	hash := crc32.New(castagnoli)
	w := &statWriter{to: bufio.NewWriterSize(io.MultiWriter(f, hash), 256<<10), old: old}
	w.write(meta.encode())
	w.write(le.AppendUint64(nil, w.put(root)))
	if err = errors.Join(w.err, w.to.Flush()); err == nil {
		_, err = f.Write(le.AppendUint32(nil, hash.Sum32()))
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = disk.Rename(temp, path)
	}
	if err != nil {
		return 0, 0, errors.Join(err, os.Remove(temp))
	}
	return w.pos + sumLength, hash.Sum32(), nil
}

// updateStatCache appends the changes to the file of old.
func updateStatCache(path string, meta StatMeta, root *statNode, old *StatCache) (end uint64, sum uint32, err error) {
	le := binary.LittleEndian
	var added bytes.Buffer
	w := &statWriter{to: bufio.NewWriter(&added), pos: old.End, old: old, apart: true}
	at := w.put(root)
	w.write(meta.encode())
	var rest []byte
	for _, n := range []uint64{old.End, old.base, at} {
		rest = le.AppendUint64(rest, n)
	}
	w.write(le.AppendUint32(rest, old.Sum))
	if err := errors.Join(w.err, w.to.Flush()); err != nil {
		return 0, 0, err
	}
	sum = checksum(old.Sum, added.String())
	added.Write(append(le.AppendUint32(nil, sum), updateMagic...))
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return 0, 0, err
	}
	end = old.End + uint64(added.Len())
	_, err = f.WriteAt(added.Bytes(), int64(old.End))
	if err != nil {
		end = old.End
	}
	err = errors.Join(err, f.Truncate(int64(end))) // also removes data of a killed process
	return end, sum, errors.Join(err, f.Close())
}

// encode encodes the header.
func (m StatMeta) encode() []byte {
	le := binary.LittleEndian
	head := append(make([]byte, 0, headerLength), magic...)
	head = le.AppendUint32(head, uint32(m.Version))
	head = le.AppendUint32(head, 0)
	for _, n := range []int64{m.Fit.Capacity, m.Fit.At, m.Fit.Weight} {
		head = le.AppendUint64(head, uint64(n))
	}
	return append(head, m.Rules[:]...)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli) //nolint:gochecknoglobals // a constant

// checksum returns the CRC-32C of data appended to bytes with the checksum before.
func checksum(before uint32, data string) uint32 {
	var part [32 << 10]byte
	for len(data) > 0 {
		n := copy(part[:], data)
		before = crc32.Update(before, castagnoli, part[:n])
		data = data[n:]
	}
	return before
}
