package git

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

const (
	// maxPackReads is the number of packed objects read before git's process is started: reading
	// them takes about as long as its start. The process reads further ones faster, as it keeps the
	// bases of deltas.
	maxPackReads = 24
	// maxPacks is the number of packs searched. A repository with more of them usually has an index
	// over all packs, which is not read here.
	maxPacks = 16
	// maxPackedObject bounds the size of an object, and of each base of its deltas, in memory.
	maxPackedObject = 4 << 20
	// maxDeltas is the length of the longest chain of deltas that is resolved.
	maxDeltas = 64
)

// packedObjects reads single objects from a repository's packs. All unusual cases are left to git.
// Its methods are safe for concurrent use.
type packedObjects struct {
	loose *LooseObjects // its directory, format and inflaters

	mu     sync.Mutex // guards the fields below
	listed bool
	packs  []*packFile
	reads  int
}

// packFile is an open pack with its index.
type packFile struct {
	index *PackIndex
	pack  *os.File
	size  int64 // of the pack
	hash  int   // bytes of an object's name
}

// read reads an object of at most limit bytes and verifies its checksum. The error is errAskGit if
// no pack has the object, and in all cases that are left to git.
func (p *packedObjects) read(oid OID, limit int64) (Object, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.reads++; p.reads > maxPackReads {
		return Object{}, errAskGit
	}
	name, err := hex.DecodeString(string(oid))
	if err != nil {
		return Object{}, errAskGit
	}
	for _, f := range p.list() {
		offset, err := f.find(name)
		if err != nil {
			continue
		}
		kind, data, err := p.inflate(f, offset, min(limit, maxPackedObject))
		if err != nil || p.loose.format.hashObject(kind, data) != oid {
			return Object{}, errAskGit
		}
		return Object{OID: oid, Type: kind, Data: data}, nil
	}
	return Object{}, errAskGit
}

// close closes the packs. A later read lists and opens the packs again.
func (p *packedObjects) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, f := range p.packs {
		f.close()
	}
	p.packs, p.listed, p.reads = nil, false, 0
}

// list opens the packs on the first call and skips those that can't be opened. It returns none if
// there are more than maxPacks. The caller holds the lock.
func (p *packedObjects) list() []*packFile {
	if p.listed {
		return p.packs
	}
	p.listed = true
	dir := filepath.Join(p.loose.dir, "pack")
	names, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	names = slices.DeleteFunc(names, func(e os.DirEntry) bool { return !strings.HasSuffix(e.Name(), ".idx") })
	if len(names) > maxPacks {
		return nil
	}
	for _, e := range names {
		if f, err := openPack(filepath.Join(dir, strings.TrimSuffix(e.Name(), ".idx")), p.loose.format.size()); err == nil {
			p.packs = append(p.packs, f)
		}
	}
	return p.packs
}

// openPack opens the pack path.pack and its index.
func openPack(path string, hash int) (_ *packFile, err error) {
	f := &packFile{hash: hash}
	defer func() {
		if err != nil {
			f.close()
		}
	}()
	if f.index, err = OpenPackIndex(path+".idx", hash); err != nil {
		return nil, err
	}
	if f.pack, err = os.Open(path + ".pack"); err != nil {
		return nil, err
	}
	info, err := f.pack.Stat()
	if err != nil {
		return nil, err
	}
	f.size = info.Size()
	return f, nil
}

func (f *packFile) close() {
	if f.index != nil {
		_ = f.index.Close() // it was only read, like the pack
	}
	if f.pack != nil {
		_ = f.pack.Close()
	}
}

// find returns the offset of the object with that name, or errAskGit if the pack doesn't have it.
func (f *packFile) find(name []byte) (int64, error) {
	n, found, err := f.index.Find(name)
	if err != nil {
		return 0, err
	}
	if !found {
		return 0, errAskGit
	}
	return f.index.Offset(n)
}

// The types of pack entries that are deltas, not objects.
const (
	packOffsetDelta = 6 // its base is given by a distance back in the pack
	packNameDelta   = 7 // its base is given by its object name
)

// packEntryStart is the header of a pack entry.
type packEntryStart struct {
	kind int   // type of an object or of a delta
	size int64 // of the data after decompression
	data int64 // offset of the compressed data
	base int64 // of a delta: offset of its base
}

// inflate reads the object at an offset: it follows the deltas to the object at their end and
// applies them to it. The error is also errAskGit if an object or delta exceeds limit bytes.
func (p *packedObjects) inflate(f *packFile, offset, limit int64) (kind string, data []byte, err error) {
	var deltas [][]byte
	for range maxDeltas {
		at, err := f.entry(offset)
		if err != nil || at.size > limit {
			return "", nil, errAskGit
		}
		data, err := p.decompress(f, at)
		if err != nil {
			return "", nil, err
		}
		if at.kind == packOffsetDelta || at.kind == packNameDelta {
			deltas = append(deltas, data)
			offset = at.base
			continue
		}
		kinds := []string{1: "commit", 2: "tree", 3: "blob", 4: "tag"}
		if at.kind < 1 || at.kind >= len(kinds) {
			return "", nil, errAskGit
		}
		for _, delta := range slices.Backward(deltas) {
			if data, err = applyDelta(data, delta, limit); err != nil {
				return "", nil, err
			}
		}
		return kinds[at.kind], data, nil
	}
	return "", nil, errAskGit
}

// entry reads the header of the entry at an offset.
func (f *packFile) entry(offset int64) (packEntryStart, error) {
	const longest = 64 // type, size and a name
	b := make([]byte, longest)
	if offset < 0 || offset >= f.size {
		return packEntryStart{}, errAskGit
	}
	n, err := f.pack.ReadAt(b, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		return packEntryStart{}, err
	}
	in := bytes.NewReader(b[:n])
	first, err := in.ReadByte()
	if err != nil {
		return packEntryStart{}, errAskGit
	}
	e := packEntryStart{kind: int(first >> 4 & 7), size: int64(first & 0x0f)}
	for shift, c := 4, first; c&0x80 != 0; shift += 7 {
		if c, err = in.ReadByte(); err != nil || shift > 32 {
			return packEntryStart{}, errAskGit
		}
		e.size |= int64(c&0x7f) << shift
	}
	switch e.kind {
	case packOffsetDelta:
		c, err := in.ReadByte()
		back := int64(c & 0x7f)
		for err == nil && c&0x80 != 0 && back < 1<<48 {
			c, err = in.ReadByte()
			back = (back+1)<<7 | int64(c&0x7f)
		}
		if err != nil || back <= 0 || back > offset {
			return packEntryStart{}, errAskGit
		}
		e.base = offset - back
	case packNameDelta:
		name := make([]byte, f.hash)
		if _, err := io.ReadFull(in, name); err != nil {
			return packEntryStart{}, errAskGit
		}
		if e.base, err = f.find(name); err != nil {
			return packEntryStart{}, errAskGit
		}
	}
	e.data = offset + int64(n-in.Len())
	return e, nil
}

// decompress reads the compressed data of an entry.
func (p *packedObjects) decompress(f *packFile, at packEntryStart) ([]byte, error) {
	in, err := p.loose.inflater(io.NewSectionReader(f.pack, at.data, f.size-at.data))
	if err != nil {
		return nil, errAskGit
	}
	defer p.loose.inflaters.Put(in)
	data := make([]byte, at.size)
	if _, err := io.ReadFull(in, data); err != nil {
		return nil, errAskGit
	}
	return data, nil // the caller verifies the object's checksum
}

// applyDelta builds an object of at most limit bytes from its base. A delta holds the sizes of both
// objects, and a sequence of copies from the base and of new bytes.
func applyDelta(base, delta []byte, limit int64) ([]byte, error) {
	from, n := binary.Uvarint(delta)
	if n <= 0 || from != uint64(len(base)) {
		return nil, errAskGit
	}
	delta = delta[n:]
	to, n := binary.Uvarint(delta)
	if n <= 0 || to > uint64(limit) {
		return nil, errAskGit
	}
	delta = delta[n:]
	out := make([]byte, 0, to)
	for len(delta) > 0 {
		part, rest, err := deltaPart(base, delta)
		if err != nil || len(part) > cap(out)-len(out) {
			return nil, errAskGit
		}
		out, delta = append(out, part...), rest
	}
	if uint64(len(out)) != to {
		return nil, errAskGit
	}
	return out, nil
}

// deltaPart returns the bytes that the first instruction of a delta adds, and the remaining
// instructions.
func deltaPart(base, delta []byte) (part, rest []byte, err error) {
	op := delta[0]
	delta = delta[1:]
	if op&0x80 == 0 {
		if op == 0 || int(op) > len(delta) {
			return nil, nil, errAskGit
		}
		return delta[:op], delta[op:], nil
	}
	var number [7]byte // four bytes of offset, three of size; zero bytes are omitted
	for i := range number {
		if op&(1<<i) == 0 {
			continue
		}
		if len(delta) == 0 {
			return nil, nil, errAskGit
		}
		number[i] = delta[0]
		delta = delta[1:]
	}
	at := int64(binary.LittleEndian.Uint32(number[:4]))
	size := int64(number[4]) | int64(number[5])<<8 | int64(number[6])<<16
	if size == 0 {
		size = 1 << 16
	}
	if at+size > int64(len(base)) {
		return nil, nil, errAskGit
	}
	return base[at : at+size], delta, nil
}
