package bands

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// ErrNotWritten means that a file doesn't have the expected content after writing.
var ErrNotWritten = errors.New("not written correctly")

// ContentReader reads the contents of files of a snapshot. It is safe for concurrent use.
type ContentReader struct {
	Bands   *band.Reader
	Records *band.DirectoryLoader
}

// CopyBuffer holds the buffers of one worker.
type CopyBuffer struct{ data []byte }

// Parts returns the parts of a file, in order.
func (c *ContentReader) Parts(e *band.Entry) ([]band.Part, error) {
	switch {
	case e.Size == 0:
		return nil, nil
	case !e.Parts:
		return []band.Part{{Kind: band.DataPart, Length: e.Size, Ref: e.Content}}, nil
	}
	list, err := c.Records.Parts(e.Content)
	if err != nil {
		return nil, err
	}
	total := int64(0)
	for _, p := range list {
		total += p.Length
	}
	if total != e.Size {
		return nil, fmt.Errorf("its parts have %d bytes instead of %d: %w", total, e.Size, band.ErrDamaged)
	}
	return list, nil
}

// Whole reports whether all records of the entry exist, judging by their headers.
func (c *ContentReader) Whole(e *band.Entry) bool {
	if e.Kind != band.File || e.Size == 0 {
		return true
	}
	if !e.Parts {
		return c.Bands.Check(e.Content, band.DataRecord)
	}
	list, err := c.Parts(e)
	if err != nil {
		return false
	}
	raws := map[uint32]int64{} // minimum lengths of raw bands
	for i := range list {
		switch p := &list[i]; p.Kind {
		case band.HolePart:
		case band.RawPart:
			raws[p.Ref.Band] = p.Length
		case band.PiecePart:
			raws[p.Ref.Band] = max(raws[p.Ref.Band], int64(p.Ref.Offset)*band.PieceUnit+p.Length)
		default:
			if !c.Bands.Check(p.Ref, band.DataRecord) {
				return false
			}
		}
	}
	for number, length := range raws {
		f, err := c.Bands.OpenRaw(number, length)
		if err != nil || f.Close() != nil {
			return false
		}
	}
	return true
}

// Head returns the beginning of a file, up to headLength bytes.
func (c *ContentReader) Head(e *band.Entry) ([]byte, error) {
	list, err := c.Parts(e)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	head := make([]byte, min(headLength, e.Size))
	switch p := &list[0]; p.Kind {
	case band.DataPart, band.PiecePart:
		data, err := c.data(p, nil)
		return data[:min(len(data), len(head))], err
	case band.RawPart:
		f, err := c.Bands.OpenRaw(p.Ref.Band, p.Length)
		if err != nil {
			return nil, err
		}
		_, err = f.ReadAt(head, 0)
		return head, errors.Join(err, f.Close())
	default:
		return head, nil
	}
}

// data reads a part that is a record, or a piece of a raw band.
func (c *ContentReader) data(p *band.Part, buf []byte) ([]byte, error) {
	if p.Kind == band.PiecePart {
		return c.Bands.ReadPiece(*p, buf[:0])
	}
	data, err := c.Bands.Read(p.Ref, band.DataRecord, buf[:0])
	if err == nil && int64(len(data)) != p.Length {
		err = fmt.Errorf("%d bytes instead of %d: %w", len(data), p.Length, band.ErrDamaged)
	}
	return data, err
}

// zeroReader provides the content of holes.
type zeroReader struct{}

// Read fills b with zeros.
func (zeroReader) Read(b []byte) (int, error) {
	clear(b)
	return len(b), nil
}

// CopyTo writes the file's content to w. The content of a raw band is verified after it was
// written: its hash is known only at the end.
func (c *ContentReader) CopyTo(w io.Writer, e *band.Entry) error {
	list, err := c.Parts(e)
	if err != nil {
		return err
	}
	var buf []byte
	for i := range list {
		switch p := &list[i]; p.Kind {
		case band.HolePart:
			_, err = io.Copy(w, io.LimitReader(zeroReader{}, p.Length))
		case band.RawPart:
			err = c.copyRaw(w, p)
		default:
			if buf, err = c.data(p, buf); err == nil {
				_, err = w.Write(buf)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *ContentReader) copyRaw(w io.Writer, p *band.Part) (err error) {
	f, err := c.Bands.OpenRaw(p.Ref.Band, p.Length)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	hash := sha256.New()
	if _, err := io.Copy(io.MultiWriter(w, hash), io.NewSectionReader(f, 0, p.Length)); err != nil {
		return err
	}
	return sameHash(hash.Sum(nil), p)
}

func sameHash(sum []byte, p *band.Part) error {
	if !bytes.Equal(sum, p.Ref.Hash[:]) {
		return &band.DamageError{Band: p.Ref.Band, What: "the content doesn't match its hash"}
	}
	return nil
}

// Fill writes the content to the new file f, leaving out its holes. Content read from the store
// is verified against its hash; so is cloned content, by reading it back.
func (c *ContentReader) Fill(f *os.File, e *band.Entry, s *CopyBuffer) error {
	if e.Size == 0 {
		return nil
	}
	if err := disk.Step("write", f.Name()); err != nil {
		return err
	}
	list, err := c.Parts(e)
	if err != nil {
		return err
	}
	if e.Parts {
		// Truncate first, since writes past the end of a file may allocate more than needed.
		if err := f.Truncate(e.Size); err != nil {
			return err
		}
	}
	off := int64(0)
	for i := range list {
		p := &list[i]
		switch p.Kind {
		case band.HolePart:
		case band.RawPart:
			err = c.fillRaw(f, p)
		case band.PiecePart:
			if !c.share(f, p, off, s) {
				err = c.fillData(f, p, off, s)
			}
		default:
			err = c.fillData(f, p, off, s)
		}
		if err != nil {
			return err
		}
		off += p.Length
	}
	return nil
}

func (c *ContentReader) fillData(f *os.File, p *band.Part, off int64, s *CopyBuffer) (err error) {
	if s.data, err = c.data(p, s.data); err != nil {
		return err
	}
	_, err = f.WriteAt(s.data, off)
	return err
}

// share clones the blocks of a piece of a raw band into the file, and reports whether the file
// then has the piece's content.
func (c *ContentReader) share(f *os.File, p *band.Part, off int64, s *CopyBuffer) bool {
	at := int64(p.Ref.Offset) * band.PieceUnit
	from, err := c.Bands.OpenRaw(p.Ref.Band, at+p.Length)
	if err != nil {
		return false
	}
	err = disk.CloneRange(f, off, from, at, p.Length)
	if errors.Join(err, from.Close()) != nil {
		return false
	}
	if cap(s.data) < int(p.Length) {
		s.data = make([]byte, p.Length)
	}
	back := s.data[:p.Length]
	if _, err := f.ReadAt(back, off); err != nil {
		return false
	}
	return sha256.Sum256(back) == p.Ref.Hash
}

func (c *ContentReader) fillRaw(f *os.File, p *band.Part) (err error) {
	from, err := c.Bands.OpenRaw(p.Ref.Band, p.Length)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	err = disk.Clone(f, from)
	if errors.Is(err, errors.ErrUnsupported) {
		err = disk.Segments(from, p.Length, func(off, n int64, hole bool) error {
			if hole {
				return nil
			}
			_, err := io.Copy(io.NewOffsetWriter(f, off), io.NewSectionReader(from, off, n))
			return err
		})
	}
	if err != nil {
		return err
	}
	if err := f.Truncate(p.Length); err != nil {
		return err
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, io.NewSectionReader(f, 0, p.Length)); err != nil {
		return fmt.Errorf("check the copy: %w", err)
	}
	return sameHash(hash.Sum(nil), p)
}

// OpenContent returns a ContentReader of a snapshot's files; the caller closes its Bands.
func OpenContent(s *Store, v Snapshot) (*ContentReader, error) {
	if _, ok := v.Tree.Ref(); !ok {
		return nil, fmt.Errorf("snapshot %s: %w", v.Version, ErrDamaged)
	}
	records, reader := s.Loader(v)
	return &ContentReader{Bands: reader, Records: records}, nil
}

// HeadBelow returns the beginning of the file path below root, nil if it can't be read.
func HeadBelow(root, path string) []byte {
	dir, err := OpenBelow(root, band.ParentPath(path))
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	f, err := dir.OpenFile(band.BasePath(path))
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }()
	head := make([]byte, headLength)
	n, err := f.ReadAt(head, 0)
	if n < headLength && err != nil {
		return nil
	}
	return head
}

// headLength is the length of the beginning of a file that identifies a database.
const headLength = 16

// OpenBelow opens a directory below root without following symbolic links.
func OpenBelow(root, path string) (*dirfd.Dir, error) {
	dir, err := dirfd.OpenRoot(root)
	if err != nil || path == "" {
		return dir, err
	}
	for name := range strings.SplitSeq(path, "/") {
		next, err := dir.Open(name)
		_ = dir.Close()
		if err != nil {
			return nil, err
		}
		dir = next
	}
	return dir, nil
}

// Damaged returns the damaged records of a file, and the buffer for the next call.
func (c *ContentReader) Damaged(e *band.Entry, buf []byte) (bad []band.Damaged, _ []byte) {
	list, err := c.Parts(e)
	if err != nil {
		return []band.Damaged{{Kind: band.ListRecord, Ref: e.Content}}, buf
	}
	for i := range list {
		p := &list[i]
		switch p.Kind {
		case band.HolePart:
		case band.RawPart:
			if c.CheckRaw(p.Ref, p.Length) != nil {
				bad = append(bad, band.Damaged{Ref: p.Ref})
			}
		default:
			data, err := c.data(p, buf)
			if err != nil {
				what := band.Damaged{Kind: band.DataRecord, Ref: p.Ref}
				if p.Kind == band.PiecePart {
					what.Kind = 0
				}
				bad = append(bad, what)
				continue
			}
			buf = data
		}
	}
	return bad, buf
}

// CheckRaw reads a raw band of the length, and returns an error if it doesn't match its hash.
func (c *ContentReader) CheckRaw(ref band.Ref, length int64) error {
	return c.copyRaw(io.Discard, &band.Part{Length: length, Ref: ref})
}

// errDiffers stops a comparison.
var errDiffers = errors.New("the file has different content")

// Same reports whether the file has the content of the entry, which is read from the store. f
// must be at its beginning.
func (c *ContentReader) Same(f *os.File, e *band.Entry) bool {
	return c.CopyTo(&comparer{f: f}, e) == nil
}

// comparer is a writer that fails unless the written data equals the content of a file.
type comparer struct {
	f   *os.File
	buf []byte
}

// Write compares data with the file.
func (c *comparer) Write(data []byte) (int, error) {
	if cap(c.buf) < len(data) {
		c.buf = make([]byte, len(data))
	}
	if _, err := io.ReadFull(c.f, c.buf[:len(data)]); err != nil {
		return 0, err
	}
	if !bytes.Equal(c.buf[:len(data)], data) {
		return 0, errDiffers
	}
	return len(data), nil
}
