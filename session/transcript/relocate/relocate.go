// Package relocate replaces the paths of another machine in transcripts.
package relocate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Move makes a transcript that was written in one folder fit another: it
// replaces the path of the old one wherever a string of a line has it. The zero
// Move changes nothing.
type Move struct {
	from [][]byte // the old path as JSON strings may have it
	to   []byte
}

// New returns the move from one project's root to another's: the zero Move if one of them
// is no absolute, clean path below the file system's root, or no text.
func New(from, to string) Move {
	usable := func(path string) bool {
		return strings.HasPrefix(path, "/") && path != "/" && filepath.Clean(path) == path && utf8.ValidString(path)
	}
	if from == to || !usable(from) || !usable(to) {
		return Move{}
	}
	return Move{from: spellings(from), to: inJSON(to)}
}

// spellings are the ways in which encoders write a path in a string: as it is,
// with the characters escaped that HTML requires to be escaped, in ASCII only.
func spellings(path string) [][]byte {
	var ascii []byte
	for _, c := range string(inJSON(path)) {
		if c < utf8.RuneSelf {
			ascii = append(ascii, byte(c))
			continue
		}
		for _, unit := range utf16.AppendRune(nil, c) {
			ascii = fmt.Appendf(ascii, `\u%04x`, unit)
		}
	}
	html, err := json.Marshal(path)
	if err != nil {
		panic(err) // a string can be encoded
	}
	var all [][]byte
	for _, form := range [][]byte{inJSON(path), html[1 : len(html)-1], ascii} {
		if !slices.ContainsFunc(all, func(f []byte) bool { return bytes.Equal(f, form) }) {
			all = append(all, form)
		}
	}
	return all
}

// inJSON is what is between the quotes of a string.
func inJSON(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err) // a string can be encoded
	}
	return b.Bytes()[1 : b.Len()-2]
}

// Text returns lines of a transcript for the new place: text itself if the old
// path isn't in them. What was valid JSON stays so, and other lines stay byte
// for byte.
func (m Move) Text(text []byte) []byte {
	var out []byte
	done := 0
	next := make([]int, len(m.from)) // where each form is, len(text) where it is no more
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

// next finds the old path from a place on, and in which form; nil if it isn't there.
// It remembers in known where each form is, so that the text is searched once for
// each.
func (m Move) next(text []byte, from int, known []int) (at int, form []byte) {
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

// beginsPath reports whether an absolute path can begin behind the text: "/app"
// does so in "cd /app" and not in "src/app" or "$HOME/app".
func beginsPath(before []byte) bool {
	if bytes.HasSuffix(before, []byte("://")) {
		return true
	}
	n := len(before)
	c, _ := utf8.DecodeLastRune(before)
	if n >= 2 && before[n-2] == '\\' && strings.ContainsRune("nrtbf", c) {
		return true // an escape, of this string or of one within it
	}
	if n >= 6 {
		if unit, ok := unicodeEscape(before[n-6:]); ok {
			c = unit
		}
	}
	return n == 0 || !unicode.In(c, unicode.L, unicode.N, unicode.M) && !strings.ContainsRune(`_./~})]*…`, c)
}

// endsPath reports whether a path ends before the text, or goes on below: "/app"
// does so in "/app/x", "/app." and not in "/apple", "/app-2" or "/app.bak".
func endsPath(after []byte) bool {
	c, size := runeAt(after)
	if c == '.' {
		c, _ = runeAt(after[size:])
	}
	return !unicode.In(c, unicode.L, unicode.N, unicode.M) && !strings.ContainsRune("_-+@~%", c)
}

// runeAt is the character with which a text begins, also if it is escaped.
func runeAt(text []byte) (c rune, size int) {
	if unit, ok := unicodeEscape(text); ok {
		return unit, 6
	}
	if len(text) == 0 {
		return 0, 0
	}
	return utf8.DecodeRune(text)
}

// unicodeEscape reads the \uXXXX with which a text begins.
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

// Writer writes a transcript's text, handed over in pieces of any size, to
// another writer, relocated. It holds back no more than a piece and a line.
type Writer struct {
	to   io.Writer
	move Move
	held []byte // the beginning of a line
}

// NewWriter writes to w.
func NewWriter(w io.Writer, move Move) *Writer { return &Writer{to: w, move: move} }

// Write takes a piece of the text.
func (r *Writer) Write(piece []byte) (int, error) {
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

// Close writes the last line if it had no newline, with one. It doesn't close
// the writer behind it.
func (r *Writer) Close() error {
	if len(r.held) == 0 {
		return nil
	}
	_, err := r.to.Write(r.move.Text(append(r.held, '\n')))
	r.held = nil
	return err
}
