package transcript

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Lines yields the raw lines of the bytes [from, to) of a transcript in order,
// each without its newline and with the offset behind it; the line is valid
// only until yield returns. The bounds are offsets of cursors: where the line
// before from had no newline when it was read, the newline that follows is no
// line of its own. A file that ends before to is an error; an error of yield
// ends it and is returned as it is.
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
