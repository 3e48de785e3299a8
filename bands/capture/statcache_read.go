package capture

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// The parts of the file.
const (
	magic = "ENTSTAT1"
	// headerLength is the magic, the snapshot's version (4 bytes), four zero bytes, the cap (8),
	// the time when it was last compared with the tree (8), the maximum size of the tree since (8)
	// and the hash of the rules (32).
	headerLength = 8 + 4 + 4 + 8 + 8 + 8 + 32
	// footerLength is the offset of the root's block (8) and the CRC-32C of all bytes before the
	// checksum (4).
	footerLength = 8 + sumLength
	sumLength    = 4
	// updateMagic ends an update.
	updateMagic = "ENTSTATU"
	// trailerLength is a header, the offsets of this update (8), of the first one (8) and of the
	// root's block (8), the checksum of the file before this update (4), that of the update (4),
	// and the magic.
	trailerLength = headerLength + 8 + 8 + 8 + sumLength + sumLength + 8
	// blockLength is the fixed beginning of a directory's block.
	blockLength = 4 + 4 + 8 + 8 + 8 + 8 + 4 + 4 + 32 + 4 + 4 + 4*8
	// statLineLength is the fixed beginning of an entry, before its name.
	statLineLength = 2 + 1 + 1 + 4 + 4*8
)

// The kinds of entries in the stat cache.
const (
	statFile    = 1 // anything that is compared by its own stat data
	statDir     = 2 // a directory with a block of its own
	statSkipped = 3 // not read, for its reason
	statPart    = 4 // a database's shared memory: it exists, but is no entry of the tree

	statPending = 0 // only during a walk: still to be read
)

// errUnusable means that the stat cache can't be used. Package capture then reads the tree without
// it.
var errUnusable = errors.New("unusable stat cache")

// StatCache is a stat cache: completely in memory, or a file whose blocks are read on demand.
type StatCache struct {
	StatMeta

	// Sum identifies the content that was read, End is its end in the file.
	Sum uint32
	End uint64

	data string   // the part in memory; a string, so that names in it need no copy
	file *os.File // nil if data is complete
	base uint64   // offset of the first update
	Root StatDirectory
}

// StatMeta is the header of a stat cache.
type StatMeta struct {
	Version bands.Version
	Fit     CapFit
	Rules   band.Hash
}

// CapFit describes how a tree was made to fit its cap.
type CapFit struct {
	Capacity int64
	At       int64 // Unix time
	Weight   int64 // bytes of the tree then, and of all files read since
}

// ReadStatCache reads the whole file and checks it.
func ReadStatCache(path string) (*StatCache, error) {
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
	if _, err := io.Copy(&data, f); err != nil {
		return nil, fmt.Errorf("read stat cache: %w", err)
	}
	return parseStatCache(data.String())
}

// openStatCache opens the state of the file that ended at end, with the checksum sum. It checks
// only the updates since the file was replaced. The caller closes the cache.
func openStatCache(path string, end uint64, sum uint32) (*StatCache, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	c := &StatCache{file: f, End: end, Sum: sum}
	if err := c.open(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return c, nil
}

func (c *StatCache) open() error {
	head, ok := c.text(0, headerLength)
	if !ok || head[:8] != magic {
		return errUnusable
	}
	last, ok := c.trailer(c.End)
	if !ok || last.sum != c.Sum {
		return errUnusable
	}
	c.base = last.base
	if last.start > 0 {
		if head, ok = c.text(last.start, c.End-last.start); !ok || !last.holds(head) {
			return errUnusable
		}
		head = head[len(head)-trailerLength:]
	}
	return c.begin(head, last.root)
}

// Close closes the file of openStatCache.
func (c *StatCache) Close() error {
	if c == nil || c.file == nil {
		return nil
	}
	return c.file.Close()
}

// parseStatCache parses a whole file, and checks its checksums.
func parseStatCache(data string) (*StatCache, error) {
	c, last, err := loadStatCache(data)
	if err != nil {
		return nil, err
	}
	for t, end := last, c.End; ; {
		if !t.holds(data[t.start:end]) {
			return nil, errUnusable
		}
		if t.start == 0 {
			return c, nil
		}
		end = t.start
		before := t.before
		var ok bool
		if t, ok = c.trailer(end); !ok || t.sum != before {
			return nil, errUnusable
		}
	}
}

// loadStatCache parses a whole file without checking its checksums.
func loadStatCache(data string) (c *StatCache, last statTrailer, err error) {
	c = &StatCache{data: data, End: uint64(len(data))}
	last, ok := c.trailer(c.End)
	if !ok || data[:len(magic)] != magic {
		return nil, last, errUnusable
	}
	c.Sum, c.base = last.sum, last.base
	head := data
	if last.start > 0 {
		head = data[len(data)-trailerLength:]
	}
	return c, last, c.begin(head, last.root)
}

// begin parses the header and opens the root's block at the offset.
func (c *StatCache) begin(head string, root uint64) error {
	c.Version = bands.Version(u32(head, 8))
	c.Fit = CapFit{Capacity: i64(head, 16), At: i64(head, 24), Weight: i64(head, 32)}
	copy(c.Rules[:], head[40:headerLength])
	var ok bool
	if c.Root, ok = c.directory(root); !ok {
		return errUnusable
	}
	return nil
}

// text returns a part of the file.
func (c *StatCache) text(at, length uint64) (string, bool) {
	if at > c.End || length > c.End-at {
		return "", false
	}
	if c.file == nil {
		return c.data[at : at+length], true
	}
	buf := make([]byte, length)
	if _, err := c.file.ReadAt(buf, int64(at)); err != nil {
		return "", false
	}
	return string(buf), true
}

// statTrailer is the end of a completely written file, or of an update of it.
type statTrailer struct {
	start  uint64 // offset of the update that it ends; 0 if it ends no update
	base   uint64 // offset of the first update
	root   uint64 // offset of the root's block
	before uint32 // checksum of the file before start
	sum    uint32
}

// holds reports whether the checksum is that of data, which ends with the trailer.
func (t statTrailer) holds(data string) bool {
	end := len(data) - sumLength
	if t.start > 0 {
		end -= len(updateMagic)
	}
	return checksum(t.before, data[:end]) == t.sum
}

// trailer reads the trailer that ends at an offset.
func (c *StatCache) trailer(end uint64) (t statTrailer, ok bool) {
	if end < headerLength+footerLength {
		return t, false
	}
	foot, ok := c.text(end-footerLength, footerLength)
	if !ok {
		return t, false
	}
	if foot[footerLength-len(updateMagic):] != updateMagic {
		return statTrailer{base: end, root: u64(foot, 0), sum: u32(foot, 8)}, true
	}
	if end < headerLength+footerLength+trailerLength {
		return t, false
	}
	if foot, ok = c.text(end-trailerLength, trailerLength); !ok {
		return t, false
	}
	const at = headerLength
	t = statTrailer{start: u64(foot, at), base: u64(foot, at+8), root: u64(foot, at+16), before: u32(foot, at+24), sum: u32(foot, at+28)}
	return t, t.base >= headerLength+footerLength && t.start >= t.base && t.start <= end-trailerLength
}

// StatDirectory is a directory's block in the cache. The zero value is none.
type StatDirectory struct {
	Block string // the whole block
	at    uint64 // its offset
}

// Known reports whether the cache has the directory.
func (d StatDirectory) Known() bool { return d.Block != "" }

// directory returns the block at an offset; false if there can be none.
func (c *StatCache) directory(at uint64) (StatDirectory, bool) {
	if at < headerLength || at > c.End || c.End-at < blockLength+footerLength {
		return StatDirectory{}, false
	}
	head, ok := c.text(at, 4)
	if !ok {
		return StatDirectory{}, false
	}
	length := uint64(u32(head, 0))
	if length < blockLength || length > c.End-at-footerLength {
		return StatDirectory{}, false
	}
	d := StatDirectory{at: at}
	if d.Block, ok = c.text(at, length); !ok {
		return StatDirectory{}, false
	}
	if d.apart() != (at >= c.base) || !d.apart() && d.below() > at-headerLength || uint64(d.bandCount())*4 > length-blockLength {
		return StatDirectory{}, false
	}
	return d, true
}

// Child returns the block that the statDir entry e of d refers to.
func (c *StatCache) Child(d StatDirectory, e StatLine) (StatDirectory, bool) {
	distance := uint64(e.Size)
	if distance == 0 || distance > d.at || !d.apart() && distance > d.below() {
		return StatDirectory{}, false
	}
	child, ok := c.directory(d.at - distance)
	if !ok || child.at+uint64(len(child.Block)) > d.at || !d.apart() && child.below() > child.at-(d.at-d.below()) {
		return StatDirectory{}, false
	}
	return child, true
}

// Each visits the directory and all below it.
func (c *StatCache) Each(d StatDirectory, visit func(StatDirectory)) {
	visit(d)
	var e StatLine
	for lines := d.Lines(); lines.Next(&e); {
		if e.Kind != statDir {
			continue
		}
		if kid, ok := c.Child(d, e); ok {
			c.Each(kid, visit)
		}
	}
}

// kids returns the subdirectories of d, for a new block of it; false if the block is damaged.
func (c *StatCache) kids(d StatDirectory) ([]statSubdirectory, bool) {
	var kids []statSubdirectory
	var e StatLine
	lines := d.Lines()
	at := len(d.Block) - len(lines.rest)
	for lines.Next(&e) {
		if e.Kind == statDir {
			old, ok := c.Child(d, e)
			if !ok {
				return nil, false
			}
			kids = append(kids, statSubdirectory{at: at + statLineLength - 8, Old: old})
		}
		at = len(d.Block) - len(lines.rest)
	}
	return kids, !lines.Bad
}

// Count returns the number of entries.
func (d StatDirectory) Count() int    { return int(u32(d.Block, 4)) }
func (d StatDirectory) below() uint64 { return u64(d.Block, 8) }

// apart reports whether the block is part of an update: the blocks below it are anywhere before it.
func (d StatDirectory) apart() bool { return d.below() == math.MaxUint64 }

// Ino returns the directory's inode number.
func (d StatDirectory) Ino() uint64       { return u64(d.Block, 16) }
func (d StatDirectory) mode() uint32      { return u32(d.Block, 40) }
func (d StatDirectory) bandCount() uint32 { return u32(d.Block, 44) }

// Same reports whether the directory's own stat data is unchanged: then no name in it was added or
// removed.
func (d StatDirectory) Same(st *dirfd.Stat) bool {
	return st.Ino == u64(d.Block, 16) && st.Mtime == i64(d.Block, 24) && st.Ctime == i64(d.Block, 32) && st.Mode == d.mode()
}

// Stat returns the directory's own stat data.
func (d StatDirectory) Stat() StatLine {
	return StatLine{Kind: statDir, Ino: d.Ino(), Mtime: i64(d.Block, 24), Ctime: i64(d.Block, 32), Mode: d.mode()}
}

// Record returns the record that the directory was stored as.
func (d StatDirectory) Record() band.StoredDirectory {
	if !d.Known() {
		return band.StoredDirectory{}
	}
	r := band.StoredDirectory{
		Ref:    band.Ref{Band: u32(d.Block, 80), Offset: u32(d.Block, 84)},
		Totals: band.Totals{Files: i64(d.Block, 88), Dirs: i64(d.Block, 96), Unknown: i64(d.Block, 104), Bytes: i64(d.Block, 112)},
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

// Lines returns a reader of the entries.
func (d StatDirectory) Lines() StatLines {
	return StatLines{rest: d.Block[blockLength+4*int(d.bandCount()):], left: d.Count()}
}

// StatLines reads the entries of a block one after the other.
type StatLines struct {
	rest string
	left int
	Bad  bool // the block is damaged: entries read from it are invalid
}

// StatLine is one entry.
type StatLine struct {
	Name         string
	Kind         byte
	Reason       band.UnknownReason // of a statSkipped entry
	Mode         uint32
	Ino          uint64 // 0 matches no file: it has to be read again
	Mtime, Ctime int64
	Size         int64 // of a statDir entry the distance from its block to this one
}

// Next sets e to the next entry; it returns false at the end, or if the block is damaged.
func (l *StatLines) Next(e *StatLine) bool {
	if l.left == 0 {
		return false
	}
	s, end := l.rest, statLineLength
	if len(s) >= statLineLength {
		end += int(s[0]) | int(s[1])<<8
	}
	if end > len(s) {
		l.left, l.Bad = 0, true
		return false
	}
	l.left--
	l.rest = s[end:]
	*e = StatLine{
		Name: s[statLineLength:end], Kind: s[2], Reason: band.UnknownReason(s[3]), Mode: u32(s, 4),
		Ino: u64(s, 8), Mtime: i64(s, 16), Ctime: i64(s, 24), Size: i64(s, 32),
	}
	return true
}

// Same reports whether the file is unchanged.
func (e *StatLine) Same(st *dirfd.Stat) bool {
	return st.Ino == e.Ino && st.Ctime == e.Ctime && st.Mtime == e.Mtime && st.Size == e.Size && st.Mode == e.Mode
}

// Unsure reports whether the file is unchanged, except for a change that its stat data may not
// show.
func (e *StatLine) Unsure(st *dirfd.Stat) bool {
	was := *e
	was.Ino = st.Ino
	return e.Kind == statFile && e.Ino == 0 && was.Same(st)
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
