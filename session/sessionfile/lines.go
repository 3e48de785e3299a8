package sessionfile

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/session/transcript/forms"
)

const (
	// maxLine is the length of the longest line, maxDocument that of the longest document.
	maxLine     = 256 << 20
	maxDocument = 256 << 20
)

// Errors of content that is too long.
var (
	errLongLine     = errors.New("a line has more than 256 MiB")
	errLongDocument = errors.New("it is a JSON document of more than 256 MiB")
)

// Lines yields the lines of the session in order, each without its newline; empty lines are left out. A
// line is valid only until yield returns. A last line without a newline is left out unless it is a JSON
// object. A file that grows is read up to the size that it had at first. Lines stops at the first error
// of yield and returns it unchanged.
func (f File) Lines(ctx context.Context, yield func(line []byte) error) error {
	var stop error
	err := f.lines(ctx, func(line []byte) error {
		if stop = ctx.Err(); stop == nil {
			stop = yield(line)
		}
		return stop
	})
	switch {
	case stop != nil:
		return stop
	case err != nil:
		return fmt.Errorf("read %s: %s", f.Path, reasonOf(err))
	}
	return nil
}

// lines is Lines for any kind of store.
func (f File) lines(ctx context.Context, yield func(line []byte) error) error {
	switch {
	case isDatabase(f.Path):
		return f.databaseLines(ctx, yield)
	case isRecord(f.Path):
		return f.recordLines(ctx, yield)
	}
	return f.read(func(r *bufio.Reader) error {
		begin, err := r.Peek(peekSize)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		switch {
		case transcript.IsDocument(begin):
			return documentLines(r, yield)
		case formOf(begin) == forms.Codex:
			return f.rolloutLines(r, yield)
		case formOf(begin) == forms.GeminiCLI:
			return split(r, geminiText(yield))
		}
		return split(r, yield)
	})
}

// peekSize is the number of bytes by which the form of a file is recognized.
const peekSize = 256 << 10

// read calls with with the content of the file.
func (f File) read(with func(*bufio.Reader) error) (err error) {
	file, info, err := openFile(f.Path, true)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	src, err := decompress(f.Path, io.LimitReader(file, info.Size()))
	if err != nil {
		return err
	}
	defer src.Close() //nolint:errcheck // it is only read
	return with(bufio.NewReaderSize(src, peekSize))
}

// split yields the lines of a text.
func split(r *bufio.Reader, yield func(line []byte) error) error {
	var long []byte
	for first := true; ; first = false {
		long = long[:0]
		line, err := r.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) {
			if long = append(long, line...); len(long) > maxLine {
				return errLongLine
			}
			line, err = r.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		if len(long) > 0 {
			long = append(long, line...)
			line = long
		}
		line = bytes.TrimRight(line, "\r\n")
		if first {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		text := bytes.Trim(line, "\x00 \t")
		isWhole := err == nil || len(text) > 0 && text[0] == '{' && json.Valid(text)
		if len(text) > 0 && isWhole {
			if err := yield(line); err != nil {
				return err
			}
		}
		if err != nil {
			return nil //nolint:nilerr // the end of the file
		}
	}
}

// formOf returns the agent whose form the first line of a text has, "" if it is not known.
func formOf(text []byte) string {
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	if forms.IsBareRollout(line) {
		return forms.Codex
	}
	return forms.Agent(line)
}

// rolloutLines yields the lines of a file of Codex, followed by the events that they lack.
func (f File) rolloutLines(r *bufio.Reader, yield func(line []byte) error) error {
	var search forms.FirstEvent
	dir := ""
	errFound := errors.New("found")
	err := f.read(func(r *bufio.Reader) error {
		return split(r, func(line []byte) error {
			if search.Line(line) {
				return errFound
			}
			if dir == "" {
				dir = forms.CodexDir(line)
			}
			return nil
		})
	})
	if err != nil && !errors.Is(err, errFound) {
		return err
	}
	items := forms.Items{Dir: dir}
	n := 0
	return split(r, func(line []byte) error {
		n++
		for _, line := range items.Lines(line, search.Lacks(n-1)) {
			if err := yield(line); err != nil {
				return err
			}
		}
		return nil
	})
}
