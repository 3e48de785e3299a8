package git

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// WriteBlobPack stores blobs in a pack of their own, as thousands of loose files would take most of
// the time. It calls write once with a function that adds a blob and returns its OID; without a
// blob nothing is stored. When WriteBlobPack returns, the blobs can be read; their names are on the
// disk after SyncObjects.
func (r *Repo) WriteBlobPack(write func(add func(data []byte) (OID, error)) error) error {
	dir, err := r.Loose.writePack(func(p *packWriter) error {
		return write(func(data []byte) (OID, error) { return p.add(r.Loose, data) })
	})
	if err != nil {
		return fmt.Errorf("write pack: %w", err)
	}
	if dir != "" {
		r.Loose.pending.added(dir)
	}
	return nil
}

// writePack writes a pack with the objects that write adds, and returns the directory of packs, whose names
// the caller has to sync; "" if it added none.
func (l *LooseObjects) writePack(write func(p *packWriter) error) (dir string, err error) {
	dir = filepath.Join(l.dir, "pack")
	if err := disk.Step("object", dir); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(dir, "tmp_pack_") // git's prune removes it after a crash
	if err != nil {
		return "", err
	}
	index := filepath.Join(dir, "tmp_idx_"+filepath.Base(f.Name()))
	defer func() {
		err = errors.Join(err, f.Close())
		for _, temp := range []string{f.Name(), index} {
			if rest := os.Remove(temp); !errors.Is(rest, os.ErrNotExist) {
				err = errors.Join(err, rest)
			}
		}
	}()
	p := &packWriter{out: bufio.NewWriterSize(f, 1<<20), format: l.format, seen: map[OID]bool{}}
	if err := errors.Join(p.header(0), write(p)); err != nil {
		return "", err
	}
	if len(p.entries) == 0 {
		return "", nil
	}
	// The number of objects goes into the header, and the checksum to the end.
	if err := p.out.Flush(); err != nil {
		return "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	if err := errors.Join(p.header(len(p.entries)), p.out.Flush()); err != nil {
		return "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	h := p.format.newHash()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	sum := h.Sum(nil)
	if _, err := f.Write(sum); err != nil {
		return "", err
	}
	if err := errors.Join(os.WriteFile(index, p.index(sum), 0o444), f.Chmod(0o444)); err != nil {
		return "", err
	}
	if err := disk.SyncFiles([]string{f.Name(), index}, nil); err != nil {
		return "", err
	}
	name := filepath.Join(dir, "pack-"+hex.EncodeToString(sum))
	if err := os.Rename(f.Name(), name+".pack"); err != nil {
		return "", err
	}
	return dir, os.Rename(index, name+".idx") // git uses a pack once it has an index
}

// packWriter writes the objects of a pack.
type packWriter struct {
	out     *bufio.Writer
	format  Format
	size    int64 // bytes written
	entries []packEntry
	seen    map[OID]bool
}

// packEntry describes an object of a pack for its index.
type packEntry struct {
	oid    []byte
	offset int64
	crc    uint32
}

// header writes the header of a pack.
func (p *packWriter) header(objects int) error {
	const version = 2
	b := binary.BigEndian.AppendUint32([]byte("PACK"), version)
	n, err := p.out.Write(binary.BigEndian.AppendUint32(b, uint32(objects)))
	p.size += int64(n)
	return err
}

// add writes a blob, unless the pack already has it.
func (p *packWriter) add(l *LooseObjects, data []byte) (OID, error) {
	oid := p.format.HashBlob(data)
	if p.seen[oid] {
		return oid, nil
	}
	packed, err := l.deflate(data)
	if err != nil {
		return "", err
	}
	return oid, p.addPacked(pendingObject{packed: packed, size: len(data), object: Object{OID: oid, Type: "blob"}})
}

// addPacked writes a compressed object, unless the pack already has it.
func (p *packWriter) addPacked(o pendingObject) error {
	if p.seen[o.object.OID] {
		return nil
	}
	raw, err := hex.DecodeString(string(o.object.OID))
	if err != nil {
		return err
	}
	if p.size > math.MaxInt32 {
		return errors.New("larger than 2 GiB")
	}
	head := packedSize(o.object.Type, o.size)
	p.entries = append(p.entries, packEntry{oid: raw, offset: p.size, crc: crc32.Update(crc32.ChecksumIEEE(head), crc32.IEEETable, o.packed)})
	p.seen[o.object.OID] = true
	for _, part := range [][]byte{head, o.packed} {
		n, err := p.out.Write(part)
		p.size += int64(n)
		if err != nil {
			return err
		}
	}
	return nil
}

// packedSize returns the header of an object of n bytes: its type and size, with four bits of the size
// in the first byte and seven in each further one.
func packedSize(kind string, n int) []byte {
	const more = 0x80
	number := map[string]byte{"commit": 1, "tree": 2, "blob": 3, "tag": 4}[kind]
	b := []byte{number<<4 | byte(n&0x0f)}
	for n >>= 4; n > 0; n >>= 7 {
		b[len(b)-1] |= more
		b = append(b, byte(n&0x7f))
	}
	return b
}

// index returns the pack's index, version 2: a table of first bytes, the names in order, checksums,
// offsets, and the checksums of the pack and of the index.
func (p *packWriter) index(pack []byte) []byte {
	slices.SortFunc(p.entries, func(a, b packEntry) int { return cmp.Or(bytes.Compare(a.oid, b.oid), cmp.Compare(a.offset, b.offset)) })
	b := []byte("\xfftOc\x00\x00\x00\x02")
	at := 0
	for first := range 256 {
		for at < len(p.entries) && int(p.entries[at].oid[0]) <= first {
			at++
		}
		b = binary.BigEndian.AppendUint32(b, uint32(at))
	}
	for _, e := range p.entries {
		b = append(b, e.oid...)
	}
	for _, e := range p.entries {
		b = binary.BigEndian.AppendUint32(b, e.crc)
	}
	for _, e := range p.entries {
		b = binary.BigEndian.AppendUint32(b, uint32(e.offset))
	}
	b = append(b, pack...)
	h := p.format.newHash()
	h.Write(b)
	return h.Sum(b)
}
