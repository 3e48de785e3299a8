package band

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/klauspost/compress/zstd"
)

const (
	// glance is the length of the first read: most records are shorter.
	glance = 4 << 10
	// plausible is the maximum length in a record's header that is trusted without checking the
	// length of the band.
	plausible = 1 << 20
	// keepable is the maximum size of a buffer that is reused.
	keepable = 4 << 20
)

// Reader reads records from bands. It opens a band when it is first needed and
// is safe for concurrent use.
type Reader struct {
	files   handles
	decoder func() (*zstd.Decoder, error) // created when first needed
	buffers sync.Pool                     // of *[]byte, for stored bytes
}

// NewReader returns a Reader of the bands in the folders. If a band is missing or damaged in one
// of them, the next one is tried.
func NewReader(dirs ...string) *Reader {
	r := &Reader{files: handles{dirs: slices.Clone(dirs)}}
	r.decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
		return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(MaxRecord))
	})
	return r
}

// Close closes the bands. No reads may be in progress.
func (r *Reader) Close() error {
	h := &r.files
	h.mu.Lock()
	defer h.mu.Unlock()
	failed := make([]error, 0, len(h.open))
	for _, got := range h.open {
		failed = append(failed, got.file.Close())
	}
	h.open = nil
	return errors.Join(failed...)
}

// Read returns the content of a record, in buf[:0] if that is large enough. It is verified
// against ref and kind; if it doesn't match or can't be read, the error is a DamageError.
func (r *Reader) Read(ref Ref, kind RecordKind, buf []byte) ([]byte, error) {
	scratch := r.buffer()
	defer r.release(scratch)
	var content []byte
	err := r.each(ref, func(f *os.File) error {
		head, stored, err := r.stored(f, ref, kind, scratch)
		if err != nil {
			return err
		}
		content = slices.Grow(buf[:0], int(head.raw))
		if head.codec == plain {
			content = append(content, stored...)
		} else {
			dec, err := r.decoder()
			if err != nil {
				return err
			}
			if content, err = dec.DecodeAll(stored, content); err != nil {
				return damaged(ref, err.Error())
			}
		}
		if len(content) != int(head.raw) || sha256.Sum256(content) != ref.Hash {
			return damaged(ref, "wrong content")
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return content, nil
}

// Check reports whether the record exists, judging by its header alone: the kind, the hash, and
// that the band is long enough.
func (r *Reader) Check(ref Ref, kind RecordKind) bool {
	_, err := r.head(ref, kind)
	return err == nil
}

// Size returns the length of a record's content and of the record, header included. It reads only
// the header.
func (r *Reader) Size(ref Ref, kind RecordKind) (raw, stored int64, err error) {
	head, err := r.head(ref, kind)
	if err != nil {
		return 0, 0, err
	}
	return int64(head.raw), int64(head.stored) + recordHeader, nil
}

// OpenRaw opens a raw band in the first folder where it has at least the length. The caller
// checks the content.
func (r *Reader) OpenRaw(number uint32, length int64) (*os.File, error) {
	var f *os.File
	err := r.inDirs(Ref{Band: number}, func(i int) (err error) {
		f, err = openLength(filepath.Join(r.files.dirs[i], RawName(number)), length)
		return err
	})
	return f, err
}

// ReadPiece returns the content of a PiecePart, in buf[:0] if that is large enough, from the
// first folder where it matches the hash.
func (r *Reader) ReadPiece(p Part, buf []byte) ([]byte, error) {
	at := int64(p.Ref.Offset) * PieceUnit
	buf = slices.Grow(buf[:0], int(p.Length))[:p.Length]
	err := r.inDirs(p.Ref, func(i int) error {
		f, err := openLength(filepath.Join(r.files.dirs[i], RawName(p.Ref.Band)), at+p.Length)
		if err == nil {
			_, err = f.ReadAt(buf, at)
			err = errors.Join(err, f.Close())
		}
		if err == nil && sha256.Sum256(buf) != p.Ref.Hash {
			err = damaged(p.Ref, "wrong content")
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return buf, nil
}

// Intact is like Check, but also reads the stored bytes and verifies their checksum.
func (r *Reader) Intact(ref Ref, kind RecordKind) bool {
	scratch := r.buffer()
	defer r.release(scratch)
	return r.each(ref, func(f *os.File) error {
		_, _, err := r.stored(f, ref, kind, scratch)
		return err
	}) == nil
}

// each calls read with the band in each folder, until one call succeeds.
func (r *Reader) each(ref Ref, read func(f *os.File) error) error {
	return r.inDirs(ref, func(i int) error {
		h, err := r.files.take(place{dir: i, band: ref.Band})
		if err == nil {
			err = read(h.file)
			r.files.mu.Lock()
			h.users--
			r.files.mu.Unlock()
		}
		return err
	})
}

// inDirs calls try with the index of each folder, until one call succeeds. It returns the first
// error other than a missing band.
func (r *Reader) inDirs(ref Ref, try func(i int) error) error {
	first := fs.ErrNotExist
	for i := range r.files.dirs {
		err := try(i)
		if err == nil {
			return nil
		}
		if errors.Is(first, fs.ErrNotExist) {
			first = err
		}
	}
	return broken(ref, first)
}

// head reads and checks a record's header.
func (r *Reader) head(ref Ref, kind RecordKind) (head header, err error) {
	err = r.each(ref, func(f *os.File) error {
		var buf [recordHeader]byte
		n, err := readAt(f, buf[:], int64(ref.Offset))
		if err != nil {
			return err
		}
		if head, err = match(buf[:n], ref, kind); err != nil {
			return err
		}
		return longEnough(f, ref, head)
	})
	return head, err
}

// stored reads a record and verifies its header and checksum. The stored bytes are in scratch.
func (r *Reader) stored(f *os.File, ref Ref, kind RecordKind, scratch *[]byte) (header, []byte, error) {
	buf := (*scratch)[:glance]
	n, err := readAt(f, buf, int64(ref.Offset))
	if err != nil {
		return header{}, nil, err
	}
	head, err := match(buf[:n], ref, kind)
	if err != nil {
		return header{}, nil, err
	}
	if head.stored > plausible {
		if err := longEnough(f, ref, head); err != nil {
			return header{}, nil, err
		}
	}
	whole := recordHeader + int(head.stored)
	if whole > n {
		buf = slices.Grow(buf[:n], whole-n)[:whole]
		*scratch = buf
		m, err := readAt(f, buf[n:], int64(ref.Offset)+int64(n))
		if err != nil {
			return header{}, nil, err
		}
		if m < whole-n {
			return header{}, nil, damaged(ref, "the band ends inside this record")
		}
	}
	if checksum(buf[:checkedHeader], buf[recordHeader:whole]) != head.sum {
		return header{}, nil, damaged(ref, "wrong checksum")
	}
	return head, buf[recordHeader:whole], nil
}

func (r *Reader) buffer() *[]byte {
	if buf, ok := r.buffers.Get().(*[]byte); ok {
		return buf
	}
	buf := make([]byte, glance, 8*glance)
	return &buf
}

func (r *Reader) release(buf *[]byte) {
	if cap(*buf) <= keepable {
		r.buffers.Put(buf)
	}
}

// match parses the header of a record and compares it with ref and kind.
func match(data []byte, ref Ref, kind RecordKind) (header, error) {
	head, what := parseHeader(data)
	switch {
	case what != "":
		return head, damaged(ref, what)
	case head.kind != kind:
		return head, damaged(ref, "the record has another kind")
	case head.hash != ref.Hash:
		return head, damaged(ref, "the record has different content")
	}
	return head, nil
}

// longEnough returns an error if the band ends before the end of the record.
func longEnough(f *os.File, ref Ref, head header) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < int64(ref.Offset)+recordHeader+int64(head.stored) {
		return damaged(ref, "the band ends inside this record")
	}
	return nil
}

// readAt reads up to len(buf) bytes; fewer at the end of the file, without an error.
func readAt(f *os.File, buf []byte, off int64) (int, error) {
	n, err := f.ReadAt(buf, off)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return n, err
}

func damaged(ref Ref, what string) error {
	return &DamageError{Band: ref.Band, Offset: ref.Offset, What: what}
}

// broken classifies an error of reading: a band that is missing or can't be read is damage,
// running out of file descriptors isn't.
func broken(ref Ref, err error) error {
	switch {
	case errors.Is(err, ErrDamaged):
		return err
	case errors.Is(err, fs.ErrNotExist):
		return damaged(ref, "the band is missing")
	case errors.Is(err, syscall.EIO), errors.Is(err, syscall.EISDIR):
		return damaged(ref, err.Error())
	}
	return fmt.Errorf("read band %d: %w", ref.Band, err)
}

// maxOpen bounds the number of open bands.
const maxOpen = 256

// place identifies a band file: the folder's index and the band.
type place struct {
	dir  int
	band uint32
}

// handle is an open band.
type handle struct {
	file  *os.File
	users int
	used  uint64 // clock at the last take
}

// handles keeps bands open, each once.
type handles struct {
	dirs []string

	mu    sync.Mutex // guards the fields below
	open  map[place]*handle
	clock uint64
}

// take returns the open band and counts one more user.
func (h *handles) take(p place) (*handle, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.clock++
	if got := h.open[p]; got != nil {
		got.users++
		got.used = h.clock
		return got, nil
	}
	f, err := os.Open(filepath.Join(h.dirs[p.dir], FileName(p.band)))
	if err != nil {
		return nil, err
	}
	if h.open == nil {
		h.open = map[place]*handle{}
	}
	if len(h.open) >= maxOpen {
		// Close the band that has been unused for the longest time. If all are in use none is
		// closed until the end.
		var oldest place
		var found *handle
		for p, got := range h.open {
			if got.users == 0 && (found == nil || got.used < found.used) {
				oldest, found = p, got
			}
		}
		if found != nil {
			delete(h.open, oldest)
			_ = found.file.Close() // only read from
		}
	}
	h.open[p] = &handle{file: f, users: 1, used: h.clock}
	return h.open[p], nil
}

// openLength opens a file; the error is ErrDamaged if it is shorter than length.
func openLength(path string, length int64) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Size() < length {
		err = fmt.Errorf("only %d of %d bytes: %w", info.Size(), length, ErrDamaged)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
