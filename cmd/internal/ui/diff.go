package ui

import (
	"io"
	"strings"
)

// ShowPatch is ShowDiff, but like Show for contents: without a terminal the diff is unchanged, so
// that it can be applied.
func (s Streams) ShowPatch(write func(io.Writer) error) error {
	if !s.Terminal.Out {
		return write(s.Out)
	}
	return s.ShowDiff(write)
}

// ShowDiff calls write with a writer to Out for a unified diff, which it escapes. It uses colours on
// a terminal that supports them.
func (s Streams) ShowDiff(write func(io.Writer) error) error {
	w := &diffWriter{to: s}
	if err := write(w); err != nil {
		return err
	}
	return w.line(w.rest)
}

// diffWriter colours the lines of a diff.
type diffWriter struct {
	to     Streams
	rest   string // an incomplete line
	inHunk bool
}

func (w *diffWriter) Write(p []byte) (int, error) {
	text := w.rest + string(p)
	end := strings.LastIndexByte(text, '\n') + 1
	w.rest = text[end:]
	for line := range strings.Lines(text[:end]) {
		if err := w.line(line); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// line writes a line in its style. The first characters determine its kind; "---" and "+++"
// begin names of files only before the first hunk.
func (w *diffWriter) line(line string) error {
	body, newline := strings.CutSuffix(line, "\n")
	style := Style("")
	switch {
	case strings.HasPrefix(body, "diff "):
		w.inHunk = false
		style = Bold
	case strings.HasPrefix(body, "@@ "):
		w.inHunk = true
		style = Yellow
	case !w.inHunk && body != "":
		style = Bold
	case strings.HasPrefix(body, "+"):
		style = Green
	case strings.HasPrefix(body, "-"):
		style = Red
	}
	if newline {
		body = strings.TrimSuffix(Escape(line), "\n") // of the whole line: a CR before its end is no control
		body = w.to.Paint(style, body) + "\n"
	} else {
		body = w.to.Paint(style, Escape(body))
	}
	_, err := io.WriteString(w.to.Out, body)
	return err
}
