package statcache

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Node is a directory's block that is new. The blocks of its
// subdirectories stand before it; how far away is only known when it is
// written.
type Node struct {
	Block []byte
	Kids  []Subdirectory
}

// Subdirectory is a subdirectory: a new block, or one of the cache before.
type Subdirectory struct {
	at   int // where in the parent's block the distance goes
	Node *Node
	Old  Directory
}

// NewNode begins the block of a directory that was stored as r.
// Its lines have about so many bytes.
func NewNode(own Line, r tree.Stored, lines int) *Node {
	b := make([]byte, 0, blockLength+4*len(r.Bands)+lines)
	le := binary.LittleEndian
	b = le.AppendUint32(b, 0) // the length, see add
	b = le.AppendUint32(b, 0) // the count
	b = le.AppendUint64(b, 0) // what is below
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
	return &Node{Block: b}
}

// Add appends an entry.
func (n *Node) Add(e *Line) {
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

// AddText appends an entry as another block has it.
func (n *Node) AddText(text string) {
	le := binary.LittleEndian
	n.Block = append(n.Block, text...)
	le.PutUint32(n.Block, uint32(len(n.Block)))
	le.PutUint32(n.Block[4:], le.Uint32(n.Block[4:])+1)
}

// AddDir appends an entry for a subdirectory.
func (n *Node) AddDir(name string, kid Subdirectory) {
	kid.at = len(n.Block) + EntryLength - 8
	n.Kids = append(n.Kids, kid)
	n.Add(&Line{Name: name, Kind: Dir})
}

// writer writes a stat cache from front to back.
type writer struct {
	to  *bufio.Writer
	pos uint64
	old *Cache
	err error
}

func (w *writer) write(data string) {
	if w.err != nil {
		return
	}
	w.pos += uint64(len(data))
	_, w.err = w.to.WriteString(data)
}

// put writes the blocks of a directory and of all below it, and returns where
// its own begins.
func (w *writer) put(n *Node) uint64 {
	le := binary.LittleEndian
	first := w.pos
	starts := make([]uint64, len(n.Kids))
	for i, kid := range n.Kids {
		if kid.Node != nil {
			starts[i] = w.put(kid.Node)
			continue
		}
		w.write(w.old.subtree(kid.Old))
		starts[i] = w.pos - uint64(len(kid.Old.Block))
	}
	own := w.pos
	le.PutUint32(n.Block, uint32(len(n.Block)))
	le.PutUint64(n.Block[8:], own-first)
	for i, kid := range n.Kids {
		le.PutUint64(n.Block[kid.at:], own-starts[i])
	}
	if w.err == nil {
		w.pos += uint64(len(n.Block))
		_, w.err = w.to.Write(n.Block)
	}
	return own
}

// Write writes the cache whose last directory is root; blocks that
// haven't changed come from old.
func Write(path string, meta Meta, root *Node, old *Cache) (err error) {
	if err := disk.Step("write", path); err != nil {
		return err
	}
	temp := path + bands.TempSuffix
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("write stat cache: %w", err)
	}
	err = errors.Join(writeStat(f, meta, root, old), f.Close())
	if err == nil {
		err = disk.Step("rename", path)
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write stat cache: %w", err), os.Remove(temp))
	}
	return nil
}

func writeStat(f io.Writer, meta Meta, root *Node, old *Cache) error {
	le := binary.LittleEndian
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	w := &writer{to: bufio.NewWriterSize(io.MultiWriter(f, sum), 256<<10), old: old}
	head := append(make([]byte, 0, headerLength), magic...)
	head = le.AppendUint32(head, uint32(meta.Version))
	head = le.AppendUint32(head, 0)
	for _, n := range []int64{meta.Fit.Capacity, meta.Fit.At, meta.Fit.Weight} {
		head = le.AppendUint64(head, uint64(n))
	}
	head = append(head, meta.Rules[:]...)
	w.write(string(head))
	w.write(string(le.AppendUint64(nil, w.put(root))))
	if w.err != nil {
		return w.err
	}
	if err := w.to.Flush(); err != nil {
		return err
	}
	_, err := f.Write(le.AppendUint32(nil, sum.Sum32()))
	return err
}
