package transcript

import (
	"bytes"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/internal/redact/forgotten"
)

// PathMove adapts a transcript that was written in one folder to another: it replaces the path of
// the old folder wherever it occurs in a line. The zero PathMove changes nothing.
type PathMove struct {
	from [][]byte // the old path in its possible JSON spellings
	to   []byte
}

// NewPathMove returns the move from one project's root to another's. It is the zero PathMove unless
// both are absolute, clean paths below the file system's root and valid UTF-8.
func NewPathMove(from, to string) PathMove {
	usable := func(path string) bool {
		return strings.HasPrefix(path, "/") && path != "/" && filepath.Clean(path) == path && utf8.ValidString(path)
	}
	if from == to || !usable(from) || !usable(to) {
		return PathMove{}
	}
	return PathMove{from: spellings(from), to: []byte(forgotten.EscapeJSON(to))}
}

// spellings returns the ways in which encoders write a path in a string: as it is, with characters
// escaped that HTML requires to be escaped, and in ASCII only.
func spellings(path string) [][]byte {
	var all [][]byte
	for _, escape := range []func(string) string{forgotten.EscapeJSON, forgotten.EscapeHTML, forgotten.EscapeASCII} {
		form := []byte(escape(path))
		if !slices.ContainsFunc(all, func(f []byte) bool { return bytes.Equal(f, form) }) {
			all = append(all, form)
		}
	}
	return all
}

// Text returns lines of a transcript adapted to the new folder, or text itself if they don't
// contain the old path. Valid JSON stays valid, and all other bytes stay unchanged.
func (m PathMove) Text(text []byte) []byte {
	var out []byte
	done := 0
	next := make([]int, len(m.from)) // the index of each form, len(text) if it occurs no more
	for i := range next {
		next[i] = -1
	}
	for at := 0; ; {
		begin, form := m.next(text, at, next)
		if form == nil {
			break
		}
		end := begin + len(form)
		at = begin + 1
		if !beginsPath(text[:begin]) || !endsPath(text[end:]) {
			continue
		}
		out = append(append(out, text[done:begin]...), m.to...)
		done, at = end, end
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}

// next returns the index of the next occurrence of the old path, from an index on, and its form,
// nil if there is none. It caches the index of each form in known, so that the text is searched
// once for each.
func (m PathMove) next(text []byte, from int, known []int) (at int, form []byte) {
	at = len(text)
	for i, f := range m.from {
		if known[i] < from {
			known[i] = len(text)
			if n := bytes.Index(text[from:], f); n >= 0 {
				known[i] = from + n
			}
		}
		if known[i] < at {
			at, form = known[i], f
		}
	}
	return at, form
}

// beginsPath reports whether an absolute path can begin after the text: "/app" does in "cd /app",
// but not in "src/app" or "$HOME/app".
func beginsPath(before []byte) bool {
	if bytes.HasSuffix(before, []byte("://")) {
		return true
	}
	n := len(before)
	c, _ := utf8.DecodeLastRune(before)
	if n >= 2 && before[n-2] == '\\' && strings.ContainsRune("nrtbf", c) {
		return true // an escape, of this string or of a string within it
	}
	if n >= 6 {
		if unit, ok := unicodeEscape(before[n-6:]); ok {
			c = unit
		}
	}
	return n == 0 || !unicode.In(c, unicode.L, unicode.N, unicode.M) && !strings.ContainsRune(`_./~})]*…`, c)
}

// endsPath reports whether a path ends before the text, or continues below itself: "/app" does in
// "/app/x" and "/app.", but not in "/apple", "/app-2" or "/app.bak".
func endsPath(after []byte) bool {
	c, size := runeAt(after)
	if c == '.' {
		c, _ = runeAt(after[size:])
	}
	return !unicode.In(c, unicode.L, unicode.N, unicode.M) && !strings.ContainsRune("_-+@~%", c)
}

// runeAt returns the first character of a text, which may be escaped, and its length in bytes.
func runeAt(text []byte) (c rune, size int) {
	if unit, ok := unicodeEscape(text); ok {
		return unit, 6
	}
	if len(text) == 0 {
		return 0, 0
	}
	return utf8.DecodeRune(text)
}

// unicodeEscape decodes a \uXXXX at the beginning of a text.
func unicodeEscape(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	var unit rune
	for _, c := range text[2:6] {
		digit := strings.IndexByte("0123456789abcdef", c|0x20)
		if digit < 0 {
			return 0, false
		}
		unit = unit<<4 | rune(digit)
	}
	return unit, true
}

// RelocatingWriter writes a transcript's text, passed in pieces of any size, to another writer,
// relocated. It buffers at most a piece and a line.
type RelocatingWriter struct {
	to   io.Writer
	move PathMove
	held []byte // the beginning of a line
}

// NewRelocatingWriter returns a RelocatingWriter that writes to w.
func NewRelocatingWriter(w io.Writer, move PathMove) *RelocatingWriter {
	return &RelocatingWriter{to: w, move: move}
}

// Write relocates and writes the complete lines of a piece and buffers the rest.
func (r *RelocatingWriter) Write(piece []byte) (int, error) {
	end := bytes.LastIndexByte(piece, '\n') + 1
	if end == 0 {
		r.held = append(r.held, piece...)
		return len(piece), nil
	}
	lines := piece[:end]
	if len(r.held) > 0 {
		lines = append(r.held, lines...)
	}
	if _, err := r.to.Write(r.move.Text(lines)); err != nil {
		return 0, err
	}
	r.held = append(r.held[:0], piece[end:]...)
	return len(piece), nil
}

// Close writes the last line with a newline if it had none. It doesn't close the underlying writer.
func (r *RelocatingWriter) Close() error {
	if len(r.held) == 0 {
		return nil
	}
	_, err := r.to.Write(r.move.Text(append(r.held, '\n')))
	r.held = nil
	return err
}
