package bands

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"strings"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/tree"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// The stat cache tells what a tree looked like to stat(2) when a snapshot was
// taken, so that the next one reads only what differs. It is one file for each
// lineage, disposable, and holds no content: docs/formats/bands.md.
const (
	statMagic = "ENTSTAT1"
	// statHeader is the magic, the snapshot's version (4 bytes), four that are
	// 0, the cap (8), when it was last compared with the tree (8), how large the
	// tree may have become since (8) and the hash of the rules (32).
	statHeader = 8 + 4 + 4 + 8 + 8 + 8 + 32
	// statFooter is where the root's block begins (8) and the CRC-32C of all
	// that is before itself (4).
	statFooter = 8 + 4
	// statBlock is the fixed beginning of a directory's block.
	statBlock = 4 + 4 + 8 + 8 + 8 + 8 + 4 + 4 + 32 + 4 + 4 + 4*8
	// statEntry is the fixed beginning of an entry, before its name.
	statEntry = 2 + 1 + 1 + 4 + 4*8
)

// The kinds of entries in the stat cache.
const (
	statFile = 1 // anything that is compared by its own data
	statDir  = 2 // a directory with a block of its own
	statSkip = 3 // not looked at: its reason says why
	statPart = 4 // a database's shared memory: there, but no entry of the tree

	statPending = 0 // in a walk only: still to be read
)

// errBadCache means that the stat cache can't be used; it never leaves the
// package.
var errBadCache = errors.New("unusable stat cache")

// statCache is a stat cache in memory. A string, so that the names in it cost
// nothing.
type statCache struct {
	statMeta

	data string
	root statDirectory
}

// statMeta is the header of a stat cache.
type statMeta struct {
	version Version
	fit     fit
	rules   band.Hash
}

// fit says how a tree was made to fit its cap.
type fit struct {
	capacity int64
	at       int64 // when, in seconds
	weight   int64 // the bytes of the tree then, and all that were read since
}

// readStatCache reads the file and checks it as a whole.
func readStatCache(path string) (*statCache, error) {
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
		return nil, errBadCache
	}
	if data.Len() != int(body) || u32(string(trailer[:]), 0) != sum.Sum32() {
		return nil, errBadCache
	}
	return parseStatCache(data.String())
}

// parseStatCache takes what is before the checksum.
func parseStatCache(data string) (*statCache, error) {
	if len(data) < statHeader+statFooter-4 || data[:8] != statMagic {
		return nil, errBadCache
	}
	c := &statCache{data: data}
	c.version = Version(u32(data, 8))
	c.fit = fit{capacity: i64(data, 16), at: i64(data, 24), weight: i64(data, 32)}
	copy(c.rules[:], data[40:statHeader])
	root, ok := c.directory(u64(data, len(data)-8))
	if !ok {
		return nil, errBadCache
	}
	c.root = root
	return c, nil
}

// statDirectory is a directory's block in the cache. The zero value is none.
type statDirectory struct {
	block string // the whole block
	at    uint64 // where it begins
}

// known says whether the cache has the directory.
func (d statDirectory) known() bool { return d.block != "" }

// directory is the block at a place; false if there can be none.
func (c *statCache) directory(at uint64) (statDirectory, bool) {
	end := uint64(len(c.data) - 8)
	if at < statHeader || at > end || end-at < statBlock {
		return statDirectory{}, false
	}
	length := uint64(u32(c.data, int(at)))
	if length < statBlock || length > end-at {
		return statDirectory{}, false
	}
	d := statDirectory{block: c.data[at : at+length], at: at}
	if d.below() > at-statHeader || uint64(d.bandCount())*4 > length-statBlock {
		return statDirectory{}, false
	}
	return d, true
}

// child is the block that a statDir entry of d names.
func (c *statCache) child(d statDirectory, e statLine) (statDirectory, bool) {
	distance := uint64(e.size)
	if distance == 0 || distance > d.below() {
		return statDirectory{}, false
	}
	child, ok := c.directory(d.at - distance)
	if !ok || child.at+uint64(len(child.block)) > d.at || child.below() > child.at-(d.at-d.below()) {
		return statDirectory{}, false
	}
	return child, true
}

// each visits the directory and all below it.
func (c *statCache) each(d statDirectory, visit func(statDirectory)) {
	visit(d)
	var e statLine
	for lines := d.lines(); lines.next(&e); {
		if e.kind != statDir {
			continue
		}
		if kid, ok := c.child(d, e); ok {
			c.each(kid, visit)
		}
	}
}

// kids are the root's subdirectories, for a new root block.
func (c *statCache) kids() []statKid {
	var kids []statKid
	var e statLine
	at := len(c.root.block)
	lines := c.root.lines()
	at -= len(lines.rest)
	for lines.next(&e) {
		if e.kind == statDir {
			if old, ok := c.child(c.root, e); ok {
				kids = append(kids, statKid{at: at + statEntry - 8, old: old})
			}
		}
		at = len(c.root.block) - len(lines.rest)
	}
	return kids
}

// subtree is the blocks of the directory and of all below it.
func (c *statCache) subtree(d statDirectory) string {
	return c.data[d.at-d.below() : d.at+uint64(len(d.block))]
}

func (d statDirectory) count() int        { return int(u32(d.block, 4)) }
func (d statDirectory) below() uint64     { return u64(d.block, 8) }
func (d statDirectory) ino() uint64       { return u64(d.block, 16) }
func (d statDirectory) mode() uint32      { return u32(d.block, 40) }
func (d statDirectory) bandCount() uint32 { return u32(d.block, 44) }

// same says whether the directory's own data is as it was: then no name in it
// came or went.
func (d statDirectory) same(st *dirfd.Stat) bool {
	return st.Ino == u64(d.block, 16) && st.Mtime == i64(d.block, 24) && st.Ctime == i64(d.block, 32) && st.Mode == d.mode()
}

// own is the directory's own data.
func (d statDirectory) own() statLine {
	return statLine{kind: statDir, ino: d.ino(), mtime: i64(d.block, 24), ctime: i64(d.block, 32), mode: d.mode()}
}

// record is what the directory was stored as.
func (d statDirectory) record() dirRecord {
	if !d.known() {
		return dirRecord{}
	}
	r := dirRecord{
		ref:    band.Ref{Band: u32(d.block, 80), Offset: u32(d.block, 84)},
		totals: tree.Totals{Files: i64(d.block, 88), Dirs: i64(d.block, 96), Unknown: i64(d.block, 104), Bytes: i64(d.block, 112)},
	}
	copy(r.ref.Hash[:], d.block[48:80])
	if n := int(d.bandCount()); n > 0 {
		r.bands = make([]uint32, n)
		for i := range r.bands {
			r.bands[i] = u32(d.block, statBlock+4*i)
		}
	}
	return r
}

// lines begins to read the entries.
func (d statDirectory) lines() statLines {
	return statLines{rest: d.block[statBlock+4*int(d.bandCount()):], left: d.count()}
}

// statLines reads the entries of a block one after the other.
type statLines struct {
	rest string
	left int
	bad  bool // the block is damaged: what was read doesn't count
}

// statLine is one entry.
type statLine struct {
	name         string
	kind         byte
	reason       tree.Reason // of a statSkip
	mode         uint32
	ino          uint64 // 0 matches nothing: to be read anew
	mtime, ctime int64
	size         int64 // of a statDir the distance from its block to this one
}

// next fills in the next entry; false at the end, or where the block is no
// good.
func (l *statLines) next(e *statLine) bool {
	if l.left == 0 {
		return false
	}
	s, end := l.rest, statEntry
	if len(s) >= statEntry {
		end += int(s[0]) | int(s[1])<<8
	}
	if end > len(s) {
		l.left, l.bad = 0, true
		return false
	}
	l.left--
	l.rest = s[end:]
	*e = statLine{
		name: s[statEntry:end], kind: s[2], reason: tree.Reason(s[3]), mode: u32(s, 4),
		ino: u64(s, 8), mtime: i64(s, 16), ctime: i64(s, 24), size: i64(s, 32),
	}
	return true
}

// same says whether the file is as it was.
func (e *statLine) same(st *dirfd.Stat) bool {
	return st.Ino == e.ino && st.Ctime == e.ctime && st.Mtime == e.mtime && st.Size == e.size && st.Mode == e.mode
}

// unsure says whether the file is as it was, but for a change that its data may
// not show.
func (e *statLine) unsure(st *dirfd.Stat) bool {
	was := *e
	was.ino = st.Ino
	return e.kind == statFile && e.ino == 0 && was.same(st)
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
