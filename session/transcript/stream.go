package transcript

import (
	"bytes"
	"context"
	"errors"
	"io"
)

const (
	// chunk is how much is read at once; a longer line gets a longer buffer.
	chunk = 256 << 10
	// doubling is up to where a buffer grows by doubling; beyond it grows to
	// what the line needs and no more.
	doubling = 1 << 20
)

// stream cuts a range of a file into lines. Its memory is a chunk or the
// longest line, whatever is more.
type stream struct {
	src io.ReaderAt
	// at and end bound what is still to be read from src.
	at, end int64
	// buf[start:fill] is what was read and not yet returned, buf[start:seen]
	// holds no newline.
	buf               []byte
	start, seen, fill int
}

// piece is one line of a stream.
type piece struct {
	// line is without its newline and valid up to the next call.
	line []byte
	// end is the offset behind the line and its newline.
	end int64
	// cut reports whether the range ended without a newline.
	cut bool
}

func newStream(src io.ReaderAt, from, to int64) *stream {
	return &stream{src: src, at: from, end: to}
}

// next returns the next line, io.EOF behind the last one. A file that became
// shorter than the range just ends earlier.
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

// read makes room and fills it.
func (s *stream) read() error {
	// Move what is left to the front of the buffer, or of a longer one.
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

// ahead is how many bytes there are from at up to the next newline and with
// it. It reads them twice rather than keep two copies of a huge line.
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

// blank reports whether a line has nothing but white space.
func blank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}
