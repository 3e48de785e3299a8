package transcript

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// tailSize is the number of bytes hashed before an offset to recognize the file.
const tailSize = 4 << 10

// Read reads the transcript from the end of an earlier scan to the present end of the file. If the
// cursor does not fit the file (another file, a shorter one, other content before the offset) it
// reads from the beginning and sets Restarted.
//
// Only complete lines are read. A last line without a newline is complete if it is a JSON object;
// otherwise it is left for the next scan, as are empty lines at the end. It wraps [ErrNotFound] and
// [ErrNotRegular].
func Read(ctx context.Context, path string, from Cursor) (_ Scan, err error) {
	f, info, err := open(path)
	if err != nil {
		return Scan{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	scan, err := read(ctx, file{src: f, info: info}, from)
	if err != nil {
		return Scan{}, fmt.Errorf("read transcript %s: %w", path, err)
	}
	return scan, nil
}

// ReadFrom reads the transcript from an offset at which a line ends, to its present end. If the
// file is shorter than offset, it reads from the beginning.
func ReadFrom(ctx context.Context, path string, offset int64) (_ Scan, err error) {
	f, info, err := open(path)
	if err != nil {
		return Scan{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	from := Cursor{Offset: offset}
	from.Device, from.Inode = identity(info)
	if from.Tail, _, err = tail(f, offset); err != nil {
		return Scan{}, fmt.Errorf("read transcript %s: %w", path, err)
	}
	scan, err := read(ctx, file{src: f, info: info}, from)
	if err != nil {
		return Scan{}, fmt.Errorf("read transcript %s: %w", path, err)
	}
	return scan, nil
}

// open opens a regular file for reading and never blocks on a pipe without a writer.
func open(path string) (*os.File, fs.FileInfo, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("open transcript %s: %w", path, ErrNotFound)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open transcript: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("open transcript %s: %w", path, ErrNotRegular)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, fmt.Errorf("open transcript %s: %w", path, ErrNotFound)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open transcript: %w", err)
	}
	info, err = f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open transcript %s: %w", path, err), f.Close())
	}
	return f, info, nil
}

// file is an open transcript and its metadata at the time of opening.
type file struct {
	src  io.ReaderAt
	info fs.FileInfo
}

func read(ctx context.Context, f file, from Cursor) (Scan, error) {
	at, joined, err := resume(f, from)
	if err != nil {
		return Scan{}, err
	}
	c := collector{scan: Scan{First: at.Lines, Restarted: from.Offset != 0 && at.Offset == 0}}
	take := func(line []byte, number int) bool {
		c.line(line, number)
		return true
	}
	s := newStream(f.src, at.Offset, f.info.Size())
	if err := wholeLines(ctx, s, &progress{at: &at, joined: joined}, take); err != nil {
		return Scan{}, err
	}
	at.Tail, _, err = tail(f.src, at.Offset)
	if err != nil {
		return Scan{}, err
	}
	c.scan.Cursor = at
	if c.failed != nil {
		c.scan.Edits = slices.DeleteFunc(c.scan.Edits, func(e Edit) bool { return c.failed[e.ToolID] })
	}
	c.scan.LastAssistant = Unquoted(c.lastText)
	c.scan.LastUUID = Unescaped(c.lastUUID)
	return c.scan, nil
}

// resume returns the position at which to begin: the cursor if it fits, else the beginning. joined
// is lineEnd if the line before it had no newline when it was read.
func resume(f file, from Cursor) (at Cursor, joined join, err error) {
	device, inode := identity(f.info)
	zero := Cursor{Device: device, Inode: inode}
	switch {
	case from.Offset <= 0, from.Lines < 0, from.Offset > f.info.Size():
		return zero, lineStart, nil
	case from.Device != device, from.Inode != inode:
		return zero, lineStart, nil
	}
	hash, last, err := tail(f.src, from.Offset)
	if err != nil {
		return Cursor{}, lineStart, err
	}
	if hash != from.Tail {
		return zero, lineStart, nil
	}
	if last != '\n' {
		return from, lineEnd, nil
	}
	return from, lineStart, nil
}

// join is the kind of the beginning of a range of a file.
type join int

const (
	// lineStart is the beginning of a line.
	lineStart join = iota
	// lineEnd is the newline, if any, of the previous line.
	lineEnd
)

// tail returns a hash of the bytes before the offset, and the last of these bytes.
func tail(src io.ReaderAt, offset int64) (hash string, last byte, err error) {
	if offset == 0 {
		return "", '\n', nil
	}
	buf := make([]byte, min(offset, tailSize))
	n, err := src.ReadAt(buf, offset-int64(len(buf)))
	if n < len(buf) && errors.Is(err, io.EOF) {
		return "", '\n', nil // just truncated: the empty hash fits no cursor
	}
	if n < len(buf) {
		return "", 0, err
	}
	return disk.Digest(buf)[:16], buf[len(buf)-1], nil
}

// progress is the position up to which a range is read, and the kind of the rest's beginning.
type progress struct {
	at     *Cursor
	joined join
}

// wholeLines calls take for each complete non-empty line of a stream, with its number, after moving
// the cursor past it. It stops at the end or when take returns false.
func wholeLines(ctx context.Context, s *stream, p *progress, take func(line []byte, number int) bool) error {
	empty := 0
	for more := true; more; {
		next, err := s.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		// A line without a newline is complete if it is a JSON object: no longer line begins with a
		// complete object.
		if next.cut {
			line := bytes.TrimLeft(next.line, " \t\r")
			if len(line) == 0 || line[0] != '{' || !json.Valid(line) {
				return nil
			}
		}
		isBlank := blank(next.line)
		switch {
		case isBlank && p.joined == lineEnd:
			p.at.Offset = next.end
		case isBlank:
			empty++
		default:
			number := p.at.Lines + empty
			p.at.Lines = number + 1
			p.at.Offset = next.end
			empty = 0
			more = take(next.line, number)
		}
		p.joined = lineStart
	}
	return nil
}

// openFlags keep an open from blocking if a pipe has replaced the file.
const openFlags = syscall.O_NONBLOCK

// identity returns the numbers that identify a file independently of its name.
func identity(info fs.FileInfo) (device, inode uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0
	}
	return uint64(st.Dev), uint64(st.Ino) //nolint:unconvert // the types differ between systems
}

// IsEnd reports whether the cursor is at the end of a file.
func (c Cursor) IsEnd(info fs.FileInfo) bool {
	device, inode := identity(info)
	return c.Offset == info.Size() && c.Inode == inode && c.Device == device
}
