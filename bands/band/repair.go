package band

import (
	"bytes"
	"crypto/sha256"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Damaged is a record that doesn't match the references to it.
type Damaged struct {
	Kind RecordKind
	Ref  Ref
}

// contentOf identifies the content of a record.
type contentOf struct {
	kind RecordKind
	hash Hash
}

// Keep returns former, a reference to content of that kind, if its record is intact. Otherwise it
// repairs the record or stores the content again.
func (w *Writer) Keep(former Ref, kind RecordKind, content []byte) (Ref, error) {
	w.mu.Lock()
	own, same := w.own(former, kind)
	w.mu.Unlock()
	if own && same || !own && w.reader.Intact(former, kind) {
		return former, nil
	}
	if ref, ok, err := w.repair(former, kind, content); ok || err != nil {
		return ref, err
	}
	return w.Add(kind, content)
}

// known returns the reference of a damaged record of the content, after the record was repaired
// or found to be intact.
func (w *Writer) known(kind RecordKind, hash Hash, content []byte) (Ref, bool, error) {
	w.mu.Lock()
	ref, ok := w.damaged[contentOf{kind, hash}]
	w.mu.Unlock()
	if !ok {
		return Ref{}, false, nil
	}
	if _, err := w.reader.Read(ref, kind, nil); err != nil {
		return w.repair(ref, kind, content)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.repaired = append(w.repaired, Damaged{kind, ref})
	delete(w.damaged, contentOf{kind, ref.Hash})
	return ref, true, nil
}

// repair rewrites a damaged record in place, so that all references to it can be read again. It
// does so only if the existing bytes are certainly that record, with the same length: a place
// that was lost and reused for other records is left unchanged.
func (w *Writer) repair(ref Ref, kind RecordKind, content []byte) (Ref, bool, error) {
	if len(content) > MaxRecord {
		return Ref{}, false, ErrTooLarge
	}
	enc, err := w.encoder()
	if err != nil {
		return Ref{}, false, err
	}
	stored, how := compress(enc, content, nil)
	head := header{
		kind: kind, codec: how, stored: uint32(len(stored)), raw: uint32(len(content)), hash: sha256.Sum256(content),
	}
	if head.hash != ref.Hash {
		return Ref{}, false, nil
	}
	record := head.appendTo(make([]byte, 0, recordHeader+len(stored)), stored)
	record = append(record, stored...)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return Ref{}, false, w.err
	}
	name := FileName(ref.Band)
	f, err := os.OpenFile(filepath.Join(w.dir, name), os.O_RDWR, 0)
	if err != nil {
		return Ref{}, false, nil // the caller stores it again
	}
	defer func() { _ = f.Close() }() // it is synced by name
	if !holds(f, int64(ref.Offset), record) {
		return Ref{}, false, nil
	}
	if err := disk.Step("repair", f.Name()); err != nil {
		return Ref{}, false, w.fail(err)
	}
	if _, err := f.WriteAt(record, int64(ref.Offset)); err != nil {
		return Ref{}, false, w.fail(err)
	}
	if _, err := w.reader.Read(ref, kind, nil); err != nil {
		return Ref{}, false, nil // the disk didn't store it
	}
	w.pending = append(w.pending, name)
	w.repaired = append(w.repaired, Damaged{kind, ref})
	delete(w.damaged, contentOf{kind, ref.Hash})
	return ref, true, nil
}

// holds reports whether the file has the record at the offset, apart from some damage.
func holds(f *os.File, offset int64, record []byte) bool {
	info, err := f.Stat()
	end := offset + int64(len(record))
	if err != nil || info.Size() < end {
		return false
	}
	var head [recordHeader]byte
	if _, err := f.ReadAt(head[:], offset); err != nil {
		return false
	}
	same := 0
	for i, b := range head {
		if b == record[i] {
			same++
		}
	}
	if same < recordHeader/2 {
		return false
	}
	if bytes.Equal(head[8:12], record[8:12]) {
		return true // the same length
	}
	if info.Size() == end {
		return true
	}
	var next [len(recordMagic)]byte
	_, err = f.ReadAt(next[:], end)
	return err == nil && string(next[:]) == recordMagic
}

// Repaired returns the damaged records that can be read again.
func (w *Writer) Repaired() []Damaged {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.repaired
}
