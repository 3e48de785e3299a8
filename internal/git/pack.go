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

	"github.com/klauspost/compress/zlib"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// WriteBlobPack stores blobs in a pack of their own, as thousands of loose files would take most of
// the time. It calls write once with a function that adds a blob and returns its OID; without a
// blob nothing is stored. When WriteBlobPack returns, the blobs can be read; their names are on the
// disk after SyncObjects.
func (r *Repo) WriteBlobPack(write func(add func(data []byte) (OID, error)) error) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write pack: %w", err)
		}
	}()
	l := r.Loose
	dir := filepath.Join(l.dir, "pack")
	if err := disk.Step("object", dir); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "tmp_pack_") // git's prune removes it after a crash
	if err != nil {
		return err
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
	if err := errors.Join(p.header(0), write(func(data []byte) (OID, error) { return p.add(l, data) })); err != nil {
		return err
	}
	if len(p.entries) == 0 {
		return nil
	}
	// The number of objects goes into the header, and the checksum to the end.
	if err := p.out.Flush(); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if err := errors.Join(p.header(len(p.entries)), p.out.Flush()); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	h := p.format.newHash()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	sum := h.Sum(nil)
	if _, err := f.Write(sum); err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(index, p.index(sum), 0o444), f.Chmod(0o444)); err != nil {
		return err
	}
	if err := disk.SyncFiles([]string{f.Name(), index}, nil); err != nil {
		return err
	}
	l.pending.added(dir)
	name := filepath.Join(dir, "pack-"+hex.EncodeToString(sum))
	if err := os.Rename(f.Name(), name+".pack"); err != nil {
		return err
	}
	return os.Rename(index, name+".idx") // git uses a pack once it has an index
}

// packWriter writes the objects of a pack.
type packWriter struct {
	out     *bufio.Writer
	format  Format
	size    int64 // bytes written
	entries []packEntry
	seen    map[OID]bool
	scratch bytes.Buffer
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
	raw, err := hex.DecodeString(string(oid))
	if err != nil {
		return "", err
	}
	if p.size > math.MaxInt32 {
		return "", errors.New("larger than 2 GiB")
	}
	p.scratch.Reset()
	p.scratch.Write(packedSize(len(data)))
	w, ok := l.deflaters.Get().(*zlib.Writer)
	if !ok {
		return "", errors.New("no deflater")
	}
	defer l.deflaters.Put(w)
	w.Reset(&p.scratch)
	if _, err := w.Write(data); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	p.entries = append(p.entries, packEntry{oid: raw, offset: p.size, crc: crc32.ChecksumIEEE(p.scratch.Bytes())})
	p.seen[oid] = true
	n, err := p.out.Write(p.scratch.Bytes())
	p.size += int64(n)
	return oid, err
}

// packedSize returns the header of a blob of n bytes: its type and size, with four bits of the size
// in the first byte and seven in each further one.
func packedSize(n int) []byte {
	const blob, more = 3 << 4, 0x80
	b := []byte{blob | byte(n&0x0f)}
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
