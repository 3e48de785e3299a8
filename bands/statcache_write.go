package bands

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// dirRecord is a directory as the store has it.
type dirRecord struct {
	ref    band.Ref
	totals tree.Totals
	bands  []uint32
}

// statNode is a directory's block that is new. The blocks of its
// subdirectories stand before it; how far away is only known when it is
// written.
type statNode struct {
	block []byte
	kids  []statKid
}

// statKid is a subdirectory: a new block, or one of the cache before.
type statKid struct {
	at   int // where in the parent's block the distance goes
	node *statNode
	old  statDirectory
}

// newStatNode begins the block of a directory that was stored as r.
// Its lines have about so many bytes.
func newStatNode(own statLine, r dirRecord, lines int) *statNode {
	b := make([]byte, 0, statBlock+4*len(r.bands)+lines)
	le := binary.LittleEndian
	b = le.AppendUint32(b, 0) // the length, see add
	b = le.AppendUint32(b, 0) // the count
	b = le.AppendUint64(b, 0) // what is below
	b = le.AppendUint64(b, own.ino)
	b = le.AppendUint64(b, uint64(own.mtime))
	b = le.AppendUint64(b, uint64(own.ctime))
	b = le.AppendUint32(b, own.mode)
	b = le.AppendUint32(b, uint32(len(r.bands)))
	b = append(b, r.ref.Hash[:]...)
	b = le.AppendUint32(b, r.ref.Band)
	b = le.AppendUint32(b, r.ref.Offset)
	for _, n := range []int64{r.totals.Files, r.totals.Dirs, r.totals.Unknown, r.totals.Bytes} {
		b = le.AppendUint64(b, uint64(n))
	}
	for _, n := range r.bands {
		b = le.AppendUint32(b, n)
	}
	return &statNode{block: b}
}

// add appends an entry.
func (n *statNode) add(e *statLine) {
	le := binary.LittleEndian
	b := n.block
	b = append(b, byte(len(e.name)), byte(len(e.name)>>8), e.kind, byte(e.reason))
	b = le.AppendUint32(b, e.mode)
	b = le.AppendUint64(b, e.ino)
	b = le.AppendUint64(b, uint64(e.mtime))
	b = le.AppendUint64(b, uint64(e.ctime))
	b = le.AppendUint64(b, uint64(e.size))
	b = append(b, e.name...)
	n.block = b
	le.PutUint32(n.block, uint32(len(n.block)))
	le.PutUint32(n.block[4:], le.Uint32(n.block[4:])+1)
}

// addText appends an entry as another block has it.
func (n *statNode) addText(text string) {
	le := binary.LittleEndian
	n.block = append(n.block, text...)
	le.PutUint32(n.block, uint32(len(n.block)))
	le.PutUint32(n.block[4:], le.Uint32(n.block[4:])+1)
}

// addKid appends an entry for a subdirectory that was entered.
func (n *statNode) addKid(kid *node) {
	switch kid.out.state {
	case asBefore:
		n.addDir(kid.name, statKid{old: kid.old})
	case storedAnew:
		n.addDir(kid.name, statKid{node: kid.out.stat})
	case unknown:
		// No inode: the next walk tries again.
		n.add(&statLine{name: kid.name, kind: statFile, mode: kid.st.Mode})
	case gone:
	}
}

// addDir appends an entry for a subdirectory.
func (n *statNode) addDir(name string, kid statKid) {
	kid.at = len(n.block) + statEntry - 8
	n.kids = append(n.kids, kid)
	n.add(&statLine{name: name, kind: statDir})
}

// statWriter writes a stat cache from front to back.
type statWriter struct {
	to  *bufio.Writer
	pos uint64
	old *statCache
	err error
}

func (w *statWriter) write(data string) {
	if w.err != nil {
		return
	}
	w.pos += uint64(len(data))
	_, w.err = w.to.WriteString(data)
}

// put writes the blocks of a directory and of all below it, and returns where
// its own begins.
func (w *statWriter) put(n *statNode) uint64 {
	le := binary.LittleEndian
	first := w.pos
	starts := make([]uint64, len(n.kids))
	for i, kid := range n.kids {
		if kid.node != nil {
			starts[i] = w.put(kid.node)
			continue
		}
		w.write(w.old.subtree(kid.old))
		starts[i] = w.pos - uint64(len(kid.old.block))
	}
	own := w.pos
	le.PutUint32(n.block, uint32(len(n.block)))
	le.PutUint64(n.block[8:], own-first)
	for i, kid := range n.kids {
		le.PutUint64(n.block[kid.at:], own-starts[i])
	}
	if w.err == nil {
		w.pos += uint64(len(n.block))
		_, w.err = w.to.Write(n.block)
	}
	return own
}

// writeStatCache writes the cache whose last directory is root; blocks that
// haven't changed come from old.
func writeStatCache(path string, meta statMeta, root *statNode, old *statCache) (err error) {
	if err := disk.Step("write", path); err != nil {
		return err
	}
	temp := path + tempSuffix
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

func writeStat(f io.Writer, meta statMeta, root *statNode, old *statCache) error {
	le := binary.LittleEndian
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	w := &statWriter{to: bufio.NewWriterSize(io.MultiWriter(f, sum), 256<<10), old: old}
	head := append(make([]byte, 0, statHeader), statMagic...)
	head = le.AppendUint32(head, uint32(meta.version))
	head = le.AppendUint32(head, 0)
	for _, n := range []int64{meta.fit.capacity, meta.fit.at, meta.fit.weight} {
		head = le.AppendUint64(head, uint64(n))
	}
	head = append(head, meta.rules[:]...)
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
