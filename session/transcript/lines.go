package transcript

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed-3aff656d/entire/session/transcript/forms"
)

// Lines yields the raw lines in the bytes [from, to) of a transcript in order, each without its
// newline and with the offset after it. A line is valid only until yield returns. The bounds are
// offsets of cursors: if the line before from had no newline when it was read, the newline that
// follows is not a line of its own. A file that ends before to is an error. Lines stops at the
// first error of yield and returns it unchanged.
func Lines(ctx context.Context, path string, from, to int64, yield func(line []byte, end int64) error) (err error) {
	if from < 0 || to < from {
		return fmt.Errorf("read transcript %s: no such range %d to %d", path, from, to)
	}
	f, _, err := open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	_, last, err := tail(f, from)
	if err != nil {
		return fmt.Errorf("read transcript %s: %w", path, err)
	}
	s := newStream(f, from, to)
	for first := true; ; first = false {
		p, err := s.next(ctx)
		if errors.Is(err, io.EOF) && s.at < to {
			err = io.ErrUnexpectedEOF
		} else if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read transcript %s: %w", path, err)
		}
		if first && last != '\n' && blank(p.line) {
			continue
		}
		if err := yield(p.line, p.end); err != nil {
			return err
		}
	}
}

// Follower receives the new lines of a transcript.
type Follower struct {
	// Restart is called before the first line if the cursor does not fit the file, so that the file
	// is read from its beginning.
	Restart func()
	// Line is called with each complete non-empty raw line, which is valid only until Line returns.
	Line func(raw []byte)
	// Limit is the number of bytes after which to stop, 0 for no limit. At least one line is read
	// whatever its length.
	Limit int64
}

// Follow calls to.Line for the lines from the end of an earlier call to the present end of the
// file, selected as in [Read], and returns the cursor for the next call. rest reports that lines
// were left unread because of the limit. After an error no cursor covers the lines passed to
// to.Line: the caller must discard them, or begin anew. It wraps [ErrNotFound] and [ErrNotRegular].
func Follow(ctx context.Context, path string, from Cursor, to Follower) (at Cursor, rest bool, err error) {
	f, info, err := open(path)
	if err != nil {
		return from, false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	defer func() {
		if err != nil {
			at, rest, err = from, false, fmt.Errorf("read transcript %s: %w", path, err)
		}
	}()
	var joined join
	at, joined, err = resume(file{src: f, info: info}, from)
	if err != nil {
		return from, false, err
	}
	if from.Offset != 0 && at.Offset == 0 {
		to.Restart()
	}
	start, size := at.Offset, info.Size()
	err = wholeLines(ctx, newStream(f, start, size), &progress{at: &at, joined: joined}, func(line []byte, _ int) bool {
		to.Line(line)
		rest = to.Limit > 0 && at.Offset-start >= to.Limit && at.Offset < size
		return !rest
	})
	if err != nil {
		return from, false, err
	}
	at.Tail, _, err = tail(f, at.Offset)
	return at, rest, err
}

// LastTime returns the time of the last line of a text that has a time, whatever the kind of the
// line; zero if there is none.
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

// LastTimeIn is LastTime for the file path. It reads only the end of the file that contains the
// time.
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
		if from > 0 { // the text may begin within a line
			text = text[bytes.IndexByte(text, '\n')+1:]
		}
		if at := LastTime(text); !at.IsZero() || from == 0 {
			return at, nil
		}
	}
}

// InterruptedAt returns when a person stopped the agent, if the conversation ends with that, as far
// as the end of the transcript shows it; else zero.
func InterruptedAt(path string) (at time.Time, err error) {
	f, info, err := open(path)
	if err != nil {
		return at, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	from := max(info.Size()-chunk, 0)
	text, err := io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
	if err != nil {
		return at, fmt.Errorf("read transcript %s: %w", path, err)
	}
	var events Events
	for line := range bytes.Lines(text) {
		e, ok := events.Line(bytes.TrimSpace(line))
		switch {
		case !ok || e.Kind != UserEvent && e.Kind != AgentEvent:
		case e.Interrupted:
			at = lineTime(forms.Line(bytes.TrimSpace(line)))
		default:
			at = time.Time{}
		}
	}
	return at, nil
}

// lineTime returns the time recorded in a line, zero if there is none or the line is not a JSON
// object.
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

// CountLines returns the number of lines that end between two offsets of a transcript, at most
// those in the file.
func CountLines(path string, from, to int64) (lines int, err error) {
	f, _, err := open(path)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	src := io.NewSectionReader(f, from, to-from)
	buf := make([]byte, countBuffer)
	for {
		n, err := src.Read(buf)
		lines += bytes.Count(buf[:n], []byte{'\n'})
		if errors.Is(err, io.EOF) {
			return lines, nil
		}
		if err != nil {
			return lines, err
		}
	}
}

const countBuffer = 64 << 10
