// Package statcache reads and writes the stat cache of a lineage: what stat(2)
// returned for a tree when a snapshot was taken, so that the next one reads only
// what differs. It is disposable and holds no content; its format is in
// docs/formats/bands.md.
package statcache

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// The parts of the file.
const (
	magic = "ENTSTAT1"
	// headerLength is the magic, the snapshot's version (4 bytes), four that are
	// 0, the cap (8), when it was last compared with the tree (8), how large the
	// tree may have become since (8) and the hash of the rules (32).
	headerLength = 8 + 4 + 4 + 8 + 8 + 8 + 32
	// footerLength is where the root's block begins (8) and the CRC-32C of all
	// that is before itself (4).
	footerLength = 8 + 4
	// blockLength is the fixed beginning of a directory's block.
	blockLength = 4 + 4 + 8 + 8 + 8 + 8 + 4 + 4 + 32 + 4 + 4 + 4*8
	// EntryLength is the fixed beginning of an entry, before its name.
	EntryLength = 2 + 1 + 1 + 4 + 4*8
)

// The kinds of entries in the stat cache.
const (
	File    = 1 // anything that is compared by its own data
	Dir     = 2 // a directory with a block of its own
	Skipped = 3 // not looked at: its reason says why
	Part    = 4 // a database's shared memory: there, but no entry of the tree

	Pending = 0 // in a walk only: still to be read
)

// ErrUnusable means that the stat cache can't be used; it never leaves the
// package.
var ErrUnusable = errors.New("unusable stat cache")

// Cache is a stat cache in memory. A string, so that the names in it cost
// nothing.
type Cache struct {
	Meta

	data string
	Root Directory
}

// Meta is the header of a stat cache.
type Meta struct {
	Version bands.Version
	Fit     Fit
	Rules   band.Hash
}

// Fit describes how a tree was made to fit its cap.
type Fit struct {
	Capacity int64
	At       int64 // when, in seconds
	Weight   int64 // the bytes of the tree then, and all that were read since
}

// Read reads the file and checks it as a whole.
func Read(path string) (*Cache, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var data strings.Builder
	data.Grow(int(info.Size()))
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	body := info.Size() - 4
	if _, err := io.Copy(io.MultiWriter(&data, sum), io.LimitReader(f, body)); err != nil {
		return nil, fmt.Errorf("read stat cache: %w", err)
	}
	var trailer [4]byte
	if _, err := io.ReadFull(f, trailer[:]); err != nil {
		return nil, ErrUnusable
	}
	if data.Len() != int(body) || u32(string(trailer[:]), 0) != sum.Sum32() {
		return nil, ErrUnusable
	}
	return parse(data.String())
}

// parse takes what is before the checksum.
func parse(data string) (*Cache, error) {
	if len(data) < headerLength+footerLength-4 || data[:8] != magic {
		return nil, ErrUnusable
	}
	c := &Cache{data: data}
	c.Version = bands.Version(u32(data, 8))
	c.Fit = Fit{Capacity: i64(data, 16), At: i64(data, 24), Weight: i64(data, 32)}
	copy(c.Rules[:], data[40:headerLength])
	root, ok := c.directory(u64(data, len(data)-8))
	if !ok {
		return nil, ErrUnusable
	}
	c.Root = root
	return c, nil
}

// Directory is a directory's block in the cache. The zero value is none.
type Directory struct {
	Block string // the whole block
	at    uint64 // where it begins
}

// Known reports whether the cache has the directory.
func (d Directory) Known() bool { return d.Block != "" }

// directory is the block at a place; false if there can be none.
func (c *Cache) directory(at uint64) (Directory, bool) {
	end := uint64(len(c.data) - 8)
	if at < headerLength || at > end || end-at < blockLength {
		return Directory{}, false
	}
	length := uint64(u32(c.data, int(at)))
	if length < blockLength || length > end-at {
		return Directory{}, false
	}
	d := Directory{Block: c.data[at : at+length], at: at}
	if d.below() > at-headerLength || uint64(d.bandCount())*4 > length-blockLength {
		return Directory{}, false
	}
	return d, true
}

// Child is the block that a statDir entry of d names.
func (c *Cache) Child(d Directory, e Line) (Directory, bool) {
	distance := uint64(e.Size)
	if distance == 0 || distance > d.below() {
		return Directory{}, false
	}
	child, ok := c.directory(d.at - distance)
	if !ok || child.at+uint64(len(child.Block)) > d.at || child.below() > child.at-(d.at-d.below()) {
		return Directory{}, false
	}
	return child, true
}

// Each visits the directory and all below it.
func (c *Cache) Each(d Directory, visit func(Directory)) {
	visit(d)
	var e Line
	for lines := d.Lines(); lines.Next(&e); {
		if e.Kind != Dir {
			continue
		}
		if kid, ok := c.Child(d, e); ok {
			c.Each(kid, visit)
		}
	}
}

// Kids are the root's subdirectories, for a new root block.
func (c *Cache) Kids() []Subdirectory {
	var kids []Subdirectory
	var e Line
	at := len(c.Root.Block)
	lines := c.Root.Lines()
	at -= len(lines.rest)
	for lines.Next(&e) {
		if e.Kind == Dir {
			if old, ok := c.Child(c.Root, e); ok {
				kids = append(kids, Subdirectory{at: at + EntryLength - 8, Old: old})
			}
		}
		at = len(c.Root.Block) - len(lines.rest)
	}
	return kids
}

// subtree is the blocks of the directory and of all below it.
func (c *Cache) subtree(d Directory) string {
	return c.data[d.at-d.below() : d.at+uint64(len(d.Block))]
}

// Count returns the number of entries.
func (d Directory) Count() int    { return int(u32(d.Block, 4)) }
func (d Directory) below() uint64 { return u64(d.Block, 8) }

// Ino returns the directory's inode number.
func (d Directory) Ino() uint64       { return u64(d.Block, 16) }
func (d Directory) mode() uint32      { return u32(d.Block, 40) }
func (d Directory) bandCount() uint32 { return u32(d.Block, 44) }

// Same reports whether the directory's own data is as it was: then no name in it
// came or went.
func (d Directory) Same(st *dirfd.Stat) bool {
	return st.Ino == u64(d.Block, 16) && st.Mtime == i64(d.Block, 24) && st.Ctime == i64(d.Block, 32) && st.Mode == d.mode()
}

// Own is the directory's own data.
func (d Directory) Own() Line {
	return Line{Kind: Dir, Ino: d.Ino(), Mtime: i64(d.Block, 24), Ctime: i64(d.Block, 32), Mode: d.mode()}
}

// Record is what the directory was stored as.
func (d Directory) Record() tree.Stored {
	if !d.Known() {
		return tree.Stored{}
	}
	r := tree.Stored{
		Ref:    band.Ref{Band: u32(d.Block, 80), Offset: u32(d.Block, 84)},
		Totals: tree.Totals{Files: i64(d.Block, 88), Dirs: i64(d.Block, 96), Unknown: i64(d.Block, 104), Bytes: i64(d.Block, 112)},
	}
	copy(r.Ref.Hash[:], d.Block[48:80])
	if n := int(d.bandCount()); n > 0 {
		r.Bands = make([]uint32, n)
		for i := range r.Bands {
			r.Bands[i] = u32(d.Block, blockLength+4*i)
		}
	}
	return r
}

// Lines begins to read the entries.
func (d Directory) Lines() Lines {
	return Lines{rest: d.Block[blockLength+4*int(d.bandCount()):], left: d.Count()}
}

// Lines reads the entries of a block one after the other.
type Lines struct {
	rest string
	left int
	Bad  bool // the block is damaged: what was read doesn't count
}

// Line is one entry.
type Line struct {
	Name         string
	Kind         byte
	Reason       tree.Reason // of a statSkip
	Mode         uint32
	Ino          uint64 // 0 matches nothing: to be read anew
	Mtime, Ctime int64
	Size         int64 // of a statDir the distance from its block to this one
}

// Next fills in the next entry; false at the end, or where the block is no
// good.
func (l *Lines) Next(e *Line) bool {
	if l.left == 0 {
		return false
	}
	s, end := l.rest, EntryLength
	if len(s) >= EntryLength {
		end += int(s[0]) | int(s[1])<<8
	}
	if end > len(s) {
		l.left, l.Bad = 0, true
		return false
	}
	l.left--
	l.rest = s[end:]
	*e = Line{
		Name: s[EntryLength:end], Kind: s[2], Reason: tree.Reason(s[3]), Mode: u32(s, 4),
		Ino: u64(s, 8), Mtime: i64(s, 16), Ctime: i64(s, 24), Size: i64(s, 32),
	}
	return true
}

// Same reports whether the file is as it was.
func (e *Line) Same(st *dirfd.Stat) bool {
	return st.Ino == e.Ino && st.Ctime == e.Ctime && st.Mtime == e.Mtime && st.Size == e.Size && st.Mode == e.Mode
}

// Unsure reports whether the file is as it was, but for a change that its data may
// not show.
func (e *Line) Unsure(st *dirfd.Stat) bool {
	was := *e
	was.Ino = st.Ino
	return e.Kind == File && e.Ino == 0 && was.Same(st)
}

func u32(s string, at int) uint32 {
	b := s[at : at+4]
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func u64(s string, at int) uint64 {
	b := s[at : at+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

func i64(s string, at int) int64 { return int64(u64(s, at)) }
