package band

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// buffer is how much is appended at a time.
const buffer = 256 << 10

// tail is the band that is appended to.
type tail struct {
	file   *os.File
	number uint32
	start  int64  // where the file ends and buf begins
	buf    []byte // not yet written
	dirty  bool   // something was appended since the last sync
}

// create makes the band with that number.
func create(dir string, number uint32) (*tail, error) {
	path := filepath.Join(dir, FileName(number))
	if err := disk.Step("create", path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, err
	}
	return &tail{file: f, number: number, buf: appendBandHeader(nil, number), dirty: true}, nil
}

// resume opens a band to go on at its present end. What a killed writer left
// there stays: other snapshots may hold the same file. It returns nil if the
// band is full or is none.
func resume(dir string, f File) *tail {
	if f.Length >= Limit {
		return nil
	}
	file, err := os.OpenFile(filepath.Join(dir, f.Name()), os.O_RDWR, 0)
	if err != nil {
		return nil // a new band will do
	}
	var head [bandHeader]byte
	info, err := file.Stat()
	if err == nil {
		_, err = file.ReadAt(head[:], 0)
	}
	if err != nil || !isBandHeader(head[:], f.Number) {
		_ = file.Close()
		return nil
	}
	return &tail{file: file, number: f.Number, start: info.Size()}
}

// end is where the next record goes.
func (t *tail) end() int64 { return t.start + int64(len(t.buf)) }

// buffered is what the buffer holds from that offset on; false if that is in the
// file already.
func (t *tail) buffered(offset int64) ([]byte, bool) {
	if offset < t.start || offset > t.end() {
		return nil, offset > t.end()
	}
	return t.buf[offset-t.start:], true
}

func (t *tail) write(parts ...[]byte) error {
	t.dirty = true
	for _, p := range parts {
		t.buf = append(t.buf, p...)
	}
	if len(t.buf) >= buffer {
		return t.flush()
	}
	return nil
}

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

// sync waits until what was flushed is on the disk.
func (t *tail) sync() error {
	if err := disk.Step("sync", t.file.Name()); err != nil {
		return err
	}
	if err := t.file.Sync(); err != nil {
		return err
	}
	t.dirty = false
	return nil
}

// syncFile waits until a file or a folder is on the disk.
func syncFile(path string) error {
	if err := disk.Step("sync", path); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
