package git

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	header = 8
	fanout = 4 * 256
)

// ErrPackIndexVersion means that a file is an index of another version, or not an index.
var ErrPackIndexVersion = errors.New("not a pack index of version 2")

// PackIndex is an open index. Its methods are safe for concurrent use.
type PackIndex struct {
	file   *os.File
	width  int64 // size of a name in bytes
	counts [256]uint32
}

// OpenPackIndex opens an index whose names have width bytes. The caller must call Close.
func OpenPackIndex(path string, width int) (*PackIndex, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	x := &PackIndex{file: f, width: int64(width)}
	start := make([]byte, header+fanout)
	n, err := f.ReadAt(start, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(err, f.Close())
	}
	if n < len(start) || !bytes.HasPrefix(start, []byte("\xfftOc\x00\x00\x00\x02")) {
		return nil, errors.Join(ErrPackIndexVersion, f.Close())
	}
	for i := range x.counts {
		x.counts[i] = binary.BigEndian.Uint32(start[header+4*i:])
	}
	return x, nil
}

// Close closes the index.
func (x *PackIndex) Close() error { return x.file.Close() }

// Len returns the number of objects.
func (x *PackIndex) Len() uint32 { return x.counts[255] }

// Find returns the position, from 0, of the object with that name, and false if there is none.
func (x *PackIndex) Find(name []byte) (n uint32, found bool, err error) {
	if int64(len(name)) != x.width {
		return 0, false, fmt.Errorf("a name of %d bytes, want %d", len(name), x.width)
	}
	low, high := uint32(0), x.counts[name[0]]
	if name[0] > 0 {
		low = x.counts[name[0]-1]
	}
	at := make([]byte, x.width)
	for low < high {
		middle := low + (high-low)/2
		if err := x.Names(middle, at); err != nil {
			return 0, false, err
		}
		switch order := bytes.Compare(name, at); {
		case order < 0:
			high = middle
		case order > 0:
			low = middle + 1
		default:
			return middle, true, nil
		}
	}
	return 0, false, nil
}

// Names fills a slice with the names from position n on. Its length is a multiple of the width.
func (x *PackIndex) Names(n uint32, names []byte) error {
	_, err := x.file.ReadAt(names, header+fanout+int64(n)*x.width)
	return err
}

// Offset returns the offset in the pack of the entry of object n, in bytes.
func (x *PackIndex) Offset(n uint32) (int64, error) {
	const crc, short, long = 4, 4, 8
	all := int64(x.Len())
	offsets := header + fanout + all*(x.width+crc)
	var b [long]byte
	if _, err := x.file.ReadAt(b[:short], offsets+int64(n)*short); err != nil {
		return 0, err
	}
	value := binary.BigEndian.Uint32(b[:])
	if value < 1<<31 {
		return int64(value), nil
	}
	if _, err := x.file.ReadAt(b[:], offsets+all*short+int64(value&^(1<<31))*long); err != nil {
		return 0, err
	}
	return int64(binary.BigEndian.Uint64(b[:]) & (1<<63 - 1)), nil
}
