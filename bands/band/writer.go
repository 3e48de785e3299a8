package band

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// WriterOptions are the options of a Writer.
type WriterOptions struct {
	// Dedupe finds content that is already stored. Without it all content is appended. The writer
	// doesn't close it.
	Dedupe *Dedupe
	// First is the minimum number of a new band. It matters if bands that snapshots still refer
	// to are missing from the folder.
	First uint32
	// Lengths are the known lengths of bands. A band that is shorter has lost records that are
	// still referred to by their offsets, so nothing is appended to it.
	Lengths map[uint32]int64
	// Damaged are records known to be damaged. If content of one of them is added, the record is
	// repaired in place if possible.
	Damaged []Damaged
}

// Writer appends records to the bands in a folder. Only one may exist for a folder at a time: the
// caller holds the store's lock. Its methods are safe for concurrent use. After a write error
// every call returns that error: the records of earlier references may be missing.
type Writer struct {
	dir     string
	dedupe  *Dedupe
	reader  *Reader
	encoder func() (*zstd.Encoder, error) // created when first needed
	buffers sync.Pool                     // of *[]byte, for compressed bytes

	mu       sync.Mutex // guards the fields below
	tail     *tail      // nil before the first record and after the last
	resume   *FileInfo  // the band to continue with the first record
	next     uint32
	begun    map[uint32]int64  // bands written to, with their former lengths
	lengths  map[uint32]int64  // of bands written to that are no longer the tail
	pending  []string          // names of files to sync beside the tail
	created  bool              // the folder has new names
	damaged  map[contentOf]Ref // records known to be damaged
	repaired []Damaged         // those of them that can be read again
	added    int64
	err      error
}

// NewWriter returns a writer for the folder dir, which must exist. It continues at the present
// end of the last band, if that isn't full.
func NewWriter(dir string, opts WriterOptions) (*Writer, error) {
	files, err := Files(dir)
	if err != nil {
		return nil, err
	}
	w := &Writer{
		dir: dir, dedupe: opts.Dedupe, reader: NewReader(dir),
		next: opts.First, begun: map[uint32]int64{}, lengths: map[uint32]int64{},
	}
	w.encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
		return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithEncoderCRC(false), zstd.WithWindowSize(window), zstd.WithLowerEncoderMem(true))
	})
	for _, d := range opts.Damaged {
		if w.damaged == nil {
			w.damaged = map[contentOf]Ref{}
		}
		w.damaged[contentOf{d.Kind, d.Ref.Hash}] = d.Ref
	}
	for _, f := range slices.Backward(files) {
		if !f.Raw {
			if f.Length >= opts.Lengths[f.Number] {
				w.resume = &f
			}
			break
		}
	}
	if len(files) > 0 {
		w.next = max(w.next, files[len(files)-1].Number+1)
	}
	return w, nil
}

// Add stores content as a record of the kind, unless there is such a record already, and returns
// its reference. If content is longer than MaxRecord the error is ErrTooLarge. Other readers can
// read the record after Sync, Unsynced or Close.
func (w *Writer) Add(kind RecordKind, content []byte) (Ref, error) {
	if len(content) > MaxRecord {
		return Ref{}, ErrTooLarge
	}
	hash := Hash(sha256.Sum256(content))
	if ref, ok, err := w.known(kind, hash, content); ok || err != nil {
		return ref, err
	}
	ref, ok := w.find(hash, kind)
	if !ok && ref != (Ref{}) {
		// There was a record at ref.
		var err error
		if ref, ok, err = w.repair(ref, kind, content); err != nil {
			return Ref{}, err
		}
	}
	if ok {
		return ref, nil
	}
	enc, err := w.encoder()
	if err != nil {
		return Ref{}, err
	}
	scratch, _ := w.buffers.Get().(*[]byte)
	if scratch == nil {
		scratch = new([]byte)
	}
	defer w.buffers.Put(scratch)
	stored, how := compress(enc, content, *scratch)
	if how == compressed && cap(stored) <= keepable {
		*scratch = stored
	}
	head := header{kind: kind, codec: how, stored: uint32(len(stored)), raw: uint32(len(content)), hash: hash}
	return w.append(head, stored)
}

// find searches for a record of the content. A record that this writer hasn't written is read
// completely: a record that lost its content must not be referred to again. If the record isn't
// intact, its former reference is returned, with false.
func (w *Writer) find(hash Hash, kind RecordKind) (Ref, bool) {
	if w.dedupe == nil {
		return Ref{}, false
	}
	ref, ok := w.dedupe.Find(hash)
	if !ok {
		return Ref{}, false
	}
	w.mu.Lock()
	own, same := w.own(ref, kind)
	failed := w.err != nil
	w.mu.Unlock()
	if own || failed {
		return ref, same && !failed
	}
	return ref, w.reader.Intact(ref, kind)
}

// own reports whether this writer has written the place that ref names, and if so, whether the
// record is there.
func (w *Writer) own(ref Ref, kind RecordKind) (own, same bool) {
	begun, ok := w.begun[ref.Band]
	if !ok || int64(ref.Offset) < begun {
		return false, false
	}
	if t := w.tail; t != nil && t.number == ref.Band && int64(ref.Offset) >= t.start {
		var buffered []byte // not in the file yet; nothing after the end
		if int64(ref.Offset) <= t.end() {
			buffered = t.buf[int64(ref.Offset)-t.start:]
		}
		_, err := match(buffered, ref, kind)
		return true, err == nil
	}
	return true, w.reader.Check(ref, kind)
}

// append appends a record.
func (w *Writer) append(head header, stored []byte) (Ref, error) {
	buf := head.appendTo(make([]byte, 0, recordHeader), stored)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != nil {
		return Ref{}, w.err
	}
	if w.dedupe != nil {
		// Another goroutine may have stored the same content meanwhile.
		if ref, ok := w.dedupe.Find(head.hash); ok {
			if own, same := w.own(ref, head.kind); own && same {
				return ref, nil
			}
		}
	}
	length := int64(len(buf) + len(stored))
	if err := w.room(length); err != nil {
		return Ref{}, w.fail(err)
	}
	ref := Ref{Hash: head.hash, Band: w.tail.number, Offset: uint32(w.tail.end())}
	w.tail.dirty = true
	w.tail.buf = append(append(w.tail.buf, buf...), stored...)
	if len(w.tail.buf) >= buffer {
		if err := w.tail.flush(); err != nil {
			return Ref{}, w.fail(err)
		}
	}
	w.added += length
	if w.dedupe != nil {
		w.dedupe.Put(ref)
	}
	return ref, nil
}

// room makes tail a band with room for a record of that length.
func (w *Writer) room(length int64) error {
	if w.tail == nil && w.resume != nil {
		if t := resume(w.dir, *w.resume); t != nil {
			w.tail = t
			w.begun[t.number] = t.end()
		}
		w.resume = nil
	}
	if w.tail != nil && w.tail.end()+length <= Limit {
		return nil
	}
	if err := w.finish(); err != nil {
		return err
	}
	path := filepath.Join(w.dir, FileName(w.next))
	if err := disk.Step("create", path); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	w.tail = &tail{file: f, number: w.next, buf: appendBandHeader(nil, w.next), dirty: true}
	w.begun[w.next] = 0
	w.created = true
	w.added += bandHeader
	w.next++
	return nil
}

// finish closes the tail. It is synced later.
func (w *Writer) finish() error {
	if w.tail == nil {
		return nil
	}
	t := w.tail
	w.tail = nil
	w.lengths[t.number] = t.end()
	if t.dirty {
		w.pending = append(w.pending, FileName(t.number))
	}
	return errors.Join(t.flush(), t.file.Close())
}

// fail records and returns the first write error.
func (w *Writer) fail(err error) error {
	if w.err == nil {
		w.err = fmt.Errorf("append to bands: %w", err)
	}
	return w.err
}

// Added returns the number of bytes appended so far.
func (w *Writer) Added() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.added
}

// flush writes buffered records, so that they can be read. It doesn't sync them.
func (w *Writer) flush() error {
	if w.err != nil || w.tail == nil {
		return w.err
	}
	if err := w.tail.flush(); err != nil {
		return w.fail(err)
	}
	return nil
}

// Sync flushes and syncs everything appended: one fsync for each band written to, and one for the
// folder if it has new bands.
func (w *Writer) Sync() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.flush(); err != nil {
		return err
	}
	if w.tail != nil && w.tail.dirty {
		if err := disk.Step("sync", w.tail.file.Name()); err != nil {
			return w.fail(err)
		}
		if err := w.tail.file.Sync(); err != nil {
			return w.fail(err)
		}
		w.tail.dirty = false
	}
	for len(w.pending) > 0 {
		path := filepath.Join(w.dir, w.pending[0])
		if err := disk.Step("sync", path); err != nil {
			return w.fail(err)
		}
		f, err := os.Open(path)
		if err == nil {
			err = errors.Join(f.Sync(), f.Close())
		}
		if err != nil {
			return w.fail(err)
		}
		w.pending = w.pending[1:]
	}
	if w.created {
		if err := disk.SyncDir(w.dir); err != nil {
			return w.fail(err)
		}
		w.created = false
	}
	return nil
}

// Unsynced flushes, and returns the paths that the caller must sync instead of calling Sync:
// bands, and the folder if it has new ones.
func (w *Writer) Unsynced() ([]string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.flush(); err != nil {
		return nil, err
	}
	var paths []string
	if w.tail != nil && w.tail.dirty {
		paths = append(paths, w.tail.file.Name())
		w.tail.dirty = false
	}
	for _, name := range w.pending {
		paths = append(paths, filepath.Join(w.dir, name))
	}
	if w.created {
		paths = append(paths, w.dir)
	}
	w.pending, w.created = nil, false
	return paths, nil
}

// Close flushes and closes the bands. It doesn't sync them.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	flushed := w.flush()
	finished := w.finish()
	if flushed != nil {
		finished = nil // finish returned the same error
	}
	return errors.Join(flushed, finished, w.reader.Close())
}

// buffer is the number of bytes that are appended at a time.
const buffer = 256 << 10

// tail is the band to which records are appended.
type tail struct {
	file   *os.File
	number uint32
	start  int64  // offset in the file at which buf begins
	buf    []byte // not yet written
	dirty  bool   // something was appended since the last sync
}

// resume opens a band for appending at its present end. The leftovers of a killed writer stay in
// it: other snapshots may link the same file. It returns nil if the band is full or invalid.
func resume(dir string, f FileInfo) *tail {
	if f.Length >= Limit {
		return nil
	}
	file, err := os.OpenFile(filepath.Join(dir, f.Name()), os.O_RDWR, 0)
	if err != nil {
		return nil // a new band is used
	}
	var head [bandHeader]byte
	info, err := file.Stat()
	if err == nil {
		_, err = file.ReadAt(head[:], 0)
	}
	if err != nil || string(head[:]) != string(appendBandHeader(nil, f.Number)) {
		_ = file.Close()
		return nil
	}
	return &tail{file: file, number: f.Number, start: info.Size()}
}

// end returns the offset of the next record.
func (t *tail) end() int64 { return t.start + int64(len(t.buf)) }

func (t *tail) flush() error {
	if len(t.buf) == 0 {
		return nil
	}
	if err := disk.Step("append", t.file.Name()); err != nil {
		return err
	}
	n, err := t.file.WriteAt(t.buf, t.start)
	if err != nil {
		return err
	}
	t.start += int64(n)
	t.buf = t.buf[:0]
	if cap(t.buf) > keepable {
		t.buf = nil
	}
	return nil
}
