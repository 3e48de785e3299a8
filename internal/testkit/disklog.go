package testkit

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
)

// DiskEntryKind is the kind of a log entry.
type DiskEntryKind byte

// Kinds of entries.
const (
	DiskWrite DiskEntryKind = 'w'
	DiskZeros DiskEntryKind = 'z'
	DiskFlush DiskEntryKind = 'f' // all earlier entries are on the disk
)

// DiskEntry is a write, zeros or a flush.
type DiskEntry struct {
	Kind     DiskEntryKind
	At, Size int64
	Data     []byte // of a write
}

const headerSize = 17

// DiskLogWriter writes a log. Each entry is in the file when its method returns.
type DiskLogWriter struct{ W *bufio.Writer }

func (w DiskLogWriter) put(e DiskEntry) error {
	header := make([]byte, 0, headerSize)
	header = binary.LittleEndian.AppendUint64(append(header, byte(e.Kind)), uint64(e.At))
	header = binary.LittleEndian.AppendUint64(header, uint64(e.Size))
	_, err := w.W.Write(header)
	if err == nil {
		_, err = w.W.Write(e.Data)
	}
	return errors.Join(err, w.W.Flush())
}

// Write logs a write.
func (w DiskLogWriter) Write(at int64, data []byte) error {
	return w.put(DiskEntry{Kind: DiskWrite, At: at, Size: int64(len(data)), Data: data})
}

// Zero logs zeros.
func (w DiskLogWriter) Zero(at, size int64) error {
	return w.put(DiskEntry{Kind: DiskZeros, At: at, Size: size})
}

// Flush logs a flush.
func (w DiskLogWriter) Flush() error { return w.put(DiskEntry{Kind: DiskFlush}) }

// ReadDiskLog reads the first bytes of a log: size of them, or all if it is negative.
func ReadDiskLog(path string, size int64) ([]DiskEntry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	var in io.Reader = f
	if size >= 0 {
		in = io.LimitReader(f, size)
	}
	r := bufio.NewReaderSize(in, 1<<20)
	var list []DiskEntry
	header := make([]byte, headerSize)
	for {
		switch _, err := io.ReadFull(r, header); {
		case errors.Is(err, io.EOF):
			return list, nil
		case err != nil:
			return nil, fmt.Errorf("log of a disk: %w", err)
		}
		e := DiskEntry{Kind: DiskEntryKind(header[0]), At: int64(binary.LittleEndian.Uint64(header[1:])), Size: int64(binary.LittleEndian.Uint64(header[9:]))}
		if e.Kind == DiskWrite {
			e.Data = make([]byte, e.Size)
			if _, err := io.ReadFull(r, e.Data); err != nil {
				return nil, fmt.Errorf("log of a disk: %w", err)
			}
		}
		list = append(list, e)
	}
}

// block is the size that a disk writes atomically.
const block = 4096

// Apply applies an entry to an image.
func (e DiskEntry) Apply(image *os.File) error {
	switch e.Kind {
	case DiskWrite:
		_, err := image.WriteAt(e.Data, e.At)
		return err
	case DiskZeros:
		_, err := image.WriteAt(make([]byte, e.Size), e.At)
		return err
	default:
		return nil
	}
}

// ApplySome applies a random selection of an entry's blocks.
func (e DiskEntry) ApplySome(image *os.File, chance *rand.Rand) error {
	for from := int64(0); from < e.Size; {
		to := min(e.Size, (e.At+from)/block*block+block-e.At)
		if chance.IntN(2) == 0 {
			part := DiskEntry{Kind: e.Kind, At: e.At + from, Size: to - from}
			if e.Kind == DiskWrite {
				part.Data = e.Data[from:to]
			}
			if err := part.Apply(image); err != nil {
				return err
			}
		}
		from = to
	}
	return nil
}
