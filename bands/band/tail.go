package band

import (
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/disk"
)

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
