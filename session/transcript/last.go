package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"
)

// LastTime is the time of the last line of a text that has one, of whatever
// kind; zero if none has.
func LastTime(text []byte) time.Time {
	for len(text) > 0 {
		begin := bytes.LastIndexByte(text, '\n') + 1
		if at := lineTime(text[begin:]); !at.IsZero() {
			return at
		}
		text = text[:max(begin-1, 0)]
	}
	return time.Time{}
}

// LastTimeIn is LastTime of the file path, of which it reads no more than the
// end that has the time.
func LastTimeIn(path string) (last time.Time, err error) {
	f, info, err := open(path)
	if err != nil {
		return time.Time{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	size := info.Size()
	for length := int64(chunk); ; length *= 4 {
		from := max(size-length, 0)
		text, err := io.ReadAll(io.NewSectionReader(f, from, size-from))
		if err != nil {
			return time.Time{}, fmt.Errorf("read transcript %s: %w", path, err)
		}
		if from > 0 { // in the middle of a line, perhaps
			text = text[bytes.IndexByte(text, '\n')+1:]
		}
		if at := LastTime(text); !at.IsZero() || from == 0 {
			return at, nil
		}
	}
}

// lineTime is what a line gives as its time; zero if it is no JSON object or
// has none.
func lineTime(line []byte) time.Time {
	s := scanner{b: line}
	if s.peek() != '{' {
		return time.Time{}
	}
	s.i++
	var e entry
	for key, ok := s.key(); ok; key, ok = s.key() {
		if string(key) == "timestamp" {
			e.timestamp = s.str()
		} else {
			s.skip()
		}
	}
	if s.bad {
		return time.Time{}
	}
	return e.time()
}
