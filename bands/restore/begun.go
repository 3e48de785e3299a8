package restore

import (
	"bytes"
	"errors"
	"io"
	"os"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
)

// begunBy returns a function that reports whether a file of the tree has only content that an
// interrupted restore wrote: new files are written in place. The parts not written yet are missing,
// or zero.
func begunBy(s *bands.Store, left bands.Journal) func(path string, was *band.Entry) bool {
	return func(path string, was *band.Entry) bool {
		for _, v := range left.Parts {
			if beginsAs(s, left.Root, path, was, v) {
				return true
			}
		}
		return false
	}
}

func beginsAs(s *bands.Store, root, path string, was *band.Entry, v bands.Version) bool {
	target, err := s.Snapshot(v)
	if err != nil {
		return false
	}
	content, err := bands.OpenContent(s, target)
	if err != nil {
		return false
	}
	defer func() { _ = content.Bands.Close() }()
	ref, _ := target.Tree.Ref()
	e, err := band.LookupPath(content.Records, ref, path)
	if err != nil || e.Kind != band.File || was.Size > e.Size {
		return false
	}
	dir, err := bands.OpenBelow(root, band.ParentPath(path))
	if err != nil {
		return false
	}
	defer func() { _ = dir.Close() }()
	f, err := dir.OpenFile(band.BasePath(path))
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	return content.CopyTo(&beginning{f: f}, &e) == nil
}

var errOtherContent = errors.New("the file has other content")

// beginning compares a file with the data written to it.
type beginning struct {
	f   *os.File
	buf []byte
}

// Write returns an error if the file continues with anything but data or zeros.
func (b *beginning) Write(data []byte) (int, error) {
	if cap(b.buf) < len(data) {
		b.buf = make([]byte, len(data))
	}
	n, err := io.ReadFull(b.f, b.buf[:len(data)])
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, err
	}
	got := b.buf[:n]
	if !bytes.Equal(got, data[:n]) {
		for i, c := range got {
			if c != 0 && c != data[i] {
				return 0, errOtherContent
			}
		}
	}
	return len(data), nil
}
