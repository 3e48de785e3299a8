package ui

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Escape makes text safe for a terminal. It writes control characters and those that change
// the direction of text as \uXXXX, and invalid UTF-8 bytes as \xXX. Newlines and tabs stay.
// Valid JSON keeps its meaning, because \uXXXX is an escape of its strings.
func Escape(text string) string { return escape(text, unpainted) }

// EscapePainted is Escape, but keeps the styles of Paint.
func EscapePainted(text string) string { return escape(text, ownColours) }

func escape(text string, painted painting) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, isCommand) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		if n := styleAt(text[i:]); painted == ownColours && n > 0 {
			b.WriteString(text[i : i+n])
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\r' && strings.HasPrefix(text[i+1:], "\n"):
			b.WriteByte('\r')
		case isCommand(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

// painting reports whether a text contains the program's own styles.
type painting uint8

const (
	unpainted painting = iota
	ownColours
)

// isCommand reports whether a terminal could do anything but display the rune in place:
// whether it is a control character or a direction mark.
func isCommand(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < ' ', 0x7f <= r && r < 0xa0:
		return true
	case r == 0x061c, r == 0x200e, r == 0x200f, 0x2028 <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069:
		return true
	}
	return false
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

// Show calls write with a writer to Out. The output is escaped if Out is a terminal and
// unchanged otherwise.
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
