package transcript

import (
	"bytes"
	"context"
	"errors"
	"io"
)

const (
	// chunk is the number of bytes read at once; a longer line gets a longer buffer.
	chunk = 256 << 10
	// doubling is the size up to which a buffer grows by doubling. A larger one grows to the exact
	// length of the line.
	doubling = 1 << 20
)

// stream splits a range of a file into lines. Its memory use is a chunk or the longest line,
// whichever is more.
type stream struct {
	src io.ReaderAt
	// at and end are the bounds of the unread part of src.
	at, end int64
	// buf[start:fill] was read and not yet returned; buf[start:seen] contains no newline.
	buf               []byte
	start, seen, fill int
}

// piece is one line of a stream.
type piece struct {
	// line has no newline and is valid until the next call.
	line []byte
	// end is the offset after the line and its newline.
	end int64
	// cut reports whether the range ended without a newline.
	cut bool
}

func newStream(src io.ReaderAt, from, to int64) *stream {
	return &stream{src: src, at: from, end: to}
}

// next returns the next line, or io.EOF after the last one. If the file was truncated below the
// range, the range ends earlier.
func (s *stream) next(ctx context.Context) (piece, error) {
	for {
		if n := bytes.IndexByte(s.buf[s.seen:s.fill], '\n'); n >= 0 {
			line := s.buf[s.start : s.seen+n]
			s.start = s.seen + n + 1
			s.seen = s.start
			return piece{line: line, end: s.at - int64(s.fill-s.start)}, nil
		}
		s.seen = s.fill
		if s.at >= s.end {
			if s.start == s.fill {
				return piece{}, io.EOF
			}
			line := s.buf[s.start:s.fill]
			s.start = s.fill
			return piece{line: line, end: s.at, cut: true}, nil
		}
		if err := ctx.Err(); err != nil {
			return piece{}, err
		}
		if err := s.read(); err != nil {
			return piece{}, err
		}
	}
}

// read makes room in the buffer and fills it.
func (s *stream) read() error {
	// Move the rest to the front of the buffer, or of a longer one.
	held := s.fill - s.start
	into := s.buf
	if held == len(s.buf) {
		size := int(min(int64(max(chunk, 2*held)), int64(held)+s.end-s.at))
		if held >= doubling {
			ahead, err := s.ahead()
			if err != nil {
				return err
			}
			size = held + int(ahead)
		}
		into = make([]byte, size)
	}
	copy(into, s.buf[s.start:s.fill])
	s.buf = into
	s.start, s.seen, s.fill = 0, held, held
	want := min(int64(len(s.buf)-s.fill), s.end-s.at)
	n, err := s.src.ReadAt(s.buf[s.fill:s.fill+int(want)], s.at)
	s.fill += n
	s.at += int64(n)
	if errors.Is(err, io.EOF) {
		s.end = s.at
		return nil
	}
	return err
}

// ahead returns the number of bytes from at up to and including the next newline. It reads them
// twice to avoid two copies of a huge line.
func (s *stream) ahead() (int64, error) {
	probe := make([]byte, min(chunk, s.end-s.at))
	for at := s.at; at < s.end; {
		n, err := s.src.ReadAt(probe[:min(int64(len(probe)), s.end-at)], at)
		if i := bytes.IndexByte(probe[:n], '\n'); i >= 0 {
			return at + int64(i) + 1 - s.at, nil
		}
		at += int64(n)
		if errors.Is(err, io.EOF) {
			s.end = at
			break
		}
		if err != nil {
			return 0, err
		}
	}
	return s.end - s.at, nil
}

// blank reports whether a line contains only white space.
func blank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}
