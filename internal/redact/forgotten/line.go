package forgotten

import (
	"crypto/hmac"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	// minLine is the minimum number of characters, not counting white space, of a line of a
	// forgotten file that is searched for on its own.
	minLine = 12
	// distinctInLine is the minimum number of different characters in such a line.
	distinctInLine = 5
	// LineMarkLen is the length of the mark of a line in bytes: 4 of a polynomial hash,
	// 8 of an HMAC-SHA-256 with the salt.
	LineMarkLen = 12
)

// Lines finds lines of forgotten files by salted hashes, without knowing the files. It
// ignores white space, escapes, and the numbers and marks that cat -n, grep and diff print
// before a line.
type Lines struct {
	h     hasher
	marks map[uint32][]byte // from the first 4 bytes to the others
}

// NewLines returns a Lines for marks made with the same salt, nil if there are none.
func NewLines(salt, marks []byte) *Lines {
	if len(marks) < LineMarkLen {
		return nil
	}
	l := &Lines{h: newHasher(salt), marks: make(map[uint32][]byte, len(marks)/LineMarkLen)}
	for m := range slices.Chunk(marks[:len(marks)/LineMarkLen*LineMarkLen], LineMarkLen) {
		key := binary.LittleEndian.Uint32(m)
		l.marks[key] = append(l.marks[key], m[4:]...)
	}
	return l
}

// MarkLine returns the mark of a line given by its key from LineKeys.
func MarkLine(salt []byte, key string) []byte {
	h := newHasher(salt)
	mark := binary.LittleEndian.AppendUint32(nil, h.fold(h.roll([]byte(key))))
	return append(mark, h.sum([]byte(key))[:LineMarkLen-4]...)
}

// LineKeys calls add with the key of each line of a file: the part of the line that is
// compared. It skips lines that are short or have few different characters.
func LineKeys(data []byte, add func(key string)) {
	var buf []byte
	eachLine(data, 0, len(data), func(from, to int) {
		if buf = lineKey(buf[:0], data[from:to]); isTelling(buf) {
			add(string(buf))
		}
	})
}

// isTelling reports whether a line is long and varied enough to be searched for.
func isTelling(key []byte) bool {
	if len(key) < minLine {
		return false
	}
	var seen [256]bool
	n := 0
	for _, c := range key {
		if !seen[c] {
			seen[c] = true
			n++
		}
	}
	return n >= distinctInLine
}

// Spans appends the spans of lines found in data[from:to], which is text or the inside of a
// JSON string. It also finds a line that is a word or a quoted part of another line.
func (l *Lines) Spans(data []byte, from, to int, spans []Span) []Span {
	var key []byte
	found := func(from, to int) bool {
		for to > from && (isBlank(data[to-1]) || data[to-1] == '\\') {
			to--
		}
		if key = lineKey(key[:0], data[from:to]); !isTelling(key) || !l.has(key) {
			return false
		}
		spans = append(spans, Span{From: from, To: to})
		return true
	}
	eachLine(data, from, to, func(from, to int) {
		if to-from < minLine {
			return
		}
		for _, begin := range lineBegins(data, from, to) {
			if found(begin, to) {
				return
			}
		}
		word := func(from, to int) {
			for to > from && strings.IndexByte(".,;:!?)]", data[to-1]) >= 0 {
				to--
			}
			found(from, to)
		}
		quoted := func(from, to int) {
			if !found(from, to) {
				eachPiece(data, from, to, isBlank, word)
			}
		}
		eachPiece(data, from, to, func(c byte) bool { return c == '`' }, func(from, to int) {
			if !found(from, to) {
				eachPiece(data, from, to, func(c byte) bool { return c == '"' || c == '\'' }, quoted)
			}
		})
	})
	return spans
}

// eachPiece calls visit for the pieces of data[from:to] between separators that are long
// enough to be searched for.
func eachPiece(data []byte, from, to int, separates func(byte) bool, visit func(from, to int)) {
	begin := from
	for i := from; i <= to; i++ {
		if i < to && !separates(data[i]) {
			continue
		}
		if i-begin >= minLine {
			visit(begin, i)
		}
		begin = i + 1
	}
}

func (l *Lines) has(key []byte) bool {
	list, found := l.marks[l.h.fold(l.h.roll(key))]
	if !found {
		return false
	}
	sum := l.h.sum(key)[:LineMarkLen-4]
	for m := range slices.Chunk(list, LineMarkLen-4) {
		if hmac.Equal(m, sum) {
			return true
		}
	}
	return false
}

// eachLine calls visit for the lines of data[from:to], separated by line ends or escaped
// line ends, without surrounding white space.
func eachLine(data []byte, from, to int, visit func(from, to int)) {
	emit := func(from, to int) {
		for from < to && isBlank(data[from]) {
			from++
		}
		for from < to && isBlank(data[to-1]) {
			to--
		}
		if from < to {
			visit(from, to)
		}
	}
	begin := from
	for i := from; i < to; i++ {
		switch data[i] {
		case '\n', '\r':
			emit(begin, i)
			begin = i + 1
		case '\\':
			end := i
			for end < to && data[end] == '\\' {
				end++
			}
			if end < to && (data[end] == 'n' || data[end] == 'r') {
				emit(begin, i)
				begin = end + 1
			}
			i = end
		}
	}
	emit(begin, to)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// lineBegins returns the positions where the text of a line may begin: at its first
// character, and after a number or mark that a program printed before it.
func lineBegins(data []byte, from, to int) []int {
	begins := []int{from}
	at := from
	if c := data[at]; c == '+' || c == '-' || c == '<' || c == '>' || c == '|' {
		begins = append(begins, skipBlank(data, at+1, to))
	}
	for at < to && data[at] >= '0' && data[at] <= '9' {
		at++
	}
	if at == from || at == to {
		return begins
	}
	switch arrow := "→"; {
	case len(data[at:to]) >= len(arrow) && string(data[at:at+len(arrow)]) == arrow:
		at += len(arrow)
	case len(data[at:to]) >= 6 && string(data[at:at+6]) == `\u2192`:
		at += 6
	case data[at] == ':' || data[at] == '-' || data[at] == '|':
		at++
	}
	return append(begins, skipBlank(data, at, to))
}

// skipBlank returns the first position from at on without white space or an escaped tab.
func skipBlank(data []byte, at, to int) int {
	for at < to {
		if isBlank(data[at]) {
			at++
			continue
		}
		end := at
		for end < to && data[end] == '\\' {
			end++
		}
		if end == at || end == to || data[end] != 't' {
			break
		}
		at = end + 1
	}
	return at
}

// lineKey appends a line without white space, backslashes and escapes. The result does not
// depend on how often the line was escaped for JSON.
func lineKey(key, line []byte) []byte {
	for i := 0; i < len(line); i++ {
		c := line[i]
		if isBlank(c) {
			continue
		}
		if c != '\\' {
			key = append(key, c)
			continue
		}
		for i+1 < len(line) && line[i+1] == '\\' {
			i++
		}
		if i+1 == len(line) {
			break
		}
		switch line[i+1] {
		case 't':
			i++
		case 'u':
			r, ok := hex4(line[i+2:])
			if !ok {
				continue
			}
			i += 5
			if utf16.IsSurrogate(r) && i+6 < len(line) && line[i+1] == '\\' && line[i+2] == 'u' {
				if low, ok := hex4(line[i+3:]); ok {
					r = utf16.DecodeRune(r, low)
					i += 6
				}
			}
			key = utf8.AppendRune(key, r)
		}
	}
	return key
}

// MaskSpans replaces spans of data, which must be ordered and disjoint, by REDACTED, or, if
// inPlace is set, by the same number of bytes of that word, repeated.
func MaskSpans(data []byte, spans []Span, inPlace bool) []byte {
	if len(spans) == 0 {
		return data
	}
	return replaceSpans(data, spans, func(length int, _ bool) string {
		if inPlace {
			return maskOf(length)
		}
		return mark
	})
}

// IsMask reports whether a text is an in-place mask of MaskSpans.
func IsMask(text []byte) bool { return string(text) == maskOf(len(text)) }

// hex4 parses four hexadecimal digits.
func hex4(src []byte) (c rune, ok bool) {
	if len(src) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(src[:4]), 16, 16)
	return rune(n), err == nil
}
