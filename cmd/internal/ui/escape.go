package ui

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/internal/plain"
)

// Escape makes text safe to show: [plain.Visible].
func Escape(text string) string { return plain.Visible(text) }

// EscapePainted is Escape, but keeps the styles of Paint.
func EscapePainted(text string) string {
	var b strings.Builder
	for {
		at := 0
		for ; at < len(text); at++ {
			if text[at] == '\x1b' && styleAt(text[at:]) > 0 {
				break
			}
		}
		b.WriteString(Escape(text[:at]))
		if at == len(text) {
			return b.String()
		}
		n := at + styleAt(text[at:])
		b.WriteString(text[at:n])
		text = text[n:]
	}
}

// escape makes a text safe that may have styles of Paint, if Paint uses any.
func (s Streams) escape(text string) string {
	if s.painted() {
		return EscapePainted(text)
	}
	return Escape(text)
}

// styleAt returns the length of the style of Paint that text begins with, 0 if there is
// none.
func styleAt(text string) int {
	for _, s := range []Style{Bold, Dim, Red, Green, Yellow, Blue, Magenta, Cyan, "0"} {
		if code := "\x1b[" + string(s) + "m"; strings.HasPrefix(text, code) {
			return len(code)
		}
	}
	return 0
}

// Show calls write with a writer to Out, for contents such as those of files: the output is escaped
// if Out is a terminal. Otherwise it is unchanged, so that a copy of it is exact.
func (s Streams) Show(write func(io.Writer) error) error {
	if !s.Terminal.Out {
		return write(s.Out)
	}
	w := &escapeWriter{to: s.Out}
	if err := write(w); err != nil {
		return err
	}
	_, err := io.WriteString(s.Out, Escape(w.rest))
	return err
}

// escapeWriter escapes the text written to it, in pieces of any length.
type escapeWriter struct {
	to   io.Writer
	rest string // an incomplete rune or line end
}

func (w *escapeWriter) Write(p []byte) (int, error) {
	text := w.rest + string(p)
	whole := len(text)
	for i := len(text) - 1; i >= 0 && len(text)-i < utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRuneInString(text[i:]) || text[i] == '\r' {
				whole = i
			}
			break
		}
	}
	w.rest = text[whole:]
	if _, err := io.WriteString(w.to, Escape(text[:whole])); err != nil {
		return 0, err
	}
	return len(p), nil
}
