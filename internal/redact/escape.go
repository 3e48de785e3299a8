package redact

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// unescape appends the unescaped text of src, the inside of a JSON string, to dst. It keeps
// invalid escapes and invalid UTF-8.
func unescape(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		n := bytes.IndexByte(src[i:], '\\')
		if n < 0 {
			return append(dst, src[i:]...)
		}
		dst = append(dst, src[i:i+n]...)
		i += n
		c, size := escapeAt(src[i:])
		if size == 0 {
			dst = append(dst, '\\')
			i++
			continue
		}
		if i += size; size == 2 {
			dst = append(dst, byte(c))
			continue
		}
		dst = utf8.AppendRune(dst, c)
	}
	return dst
}

// escapeAt reads the escape at the beginning of src. It returns the rune and the length of
// the escape, 0 if it is invalid. A surrogate pair is one escape.
func escapeAt(src []byte) (c rune, size int) {
	if len(src) < 2 {
		return 0, 0
	}
	switch src[1] {
	case '"', '\\', '/':
		return rune(src[1]), 2
	case 'n':
		return '\n', 2
	case 't':
		return '\t', 2
	case 'r':
		return '\r', 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'u':
	default:
		return 0, 0
	}
	c, ok := hex4(src[2:])
	if !ok {
		return 0, 0
	}
	if !utf16.IsSurrogate(c) {
		return c, 6
	}
	if len(src) >= 8 && src[6] == '\\' && src[7] == 'u' {
		if low, ok := hex4(src[8:]); ok {
			if pair := utf16.DecodeRune(c, low); pair != unicodeError {
				return pair, 12
			}
		}
	}
	return unicodeError, 6
}

const unicodeError = utf8.RuneError

// hex4 parses four hexadecimal digits.
func hex4(src []byte) (c rune, ok bool) {
	if len(src) < 4 {
		return 0, false
	}
	for _, b := range src[:4] {
		switch {
		case '0' <= b && b <= '9':
			c = c<<4 | rune(b-'0')
		case 'a' <= b && b <= 'f':
			c = c<<4 | rune(b-'a'+10)
		case 'A' <= b && b <= 'F':
			c = c<<4 | rune(b-'A'+10)
		default:
			return 0, false
		}
	}
	return c, true
}

// escapedSpans maps spans of the unescaped text of src, the inside of a JSON string, to
// spans of src. Both are ordered and disjoint. Escapes are included as a whole.
func escapedSpans(src []byte, spans []span) []span {
	out := make([]span, 0, len(spans))
	said, i := 0, 0
	step := func() (size, says int) {
		if src[i] == '\\' {
			if c, n := escapeAt(src[i:]); n > 0 {
				return n, utf8.RuneLen(c)
			}
		}
		return 1, 1
	}
	for _, s := range spans {
		begin := len(src)
		for i < len(src) && said < s.end {
			size, says := step()
			if said+says > s.begin {
				begin = min(begin, i)
			}
			i += size
			said += says
		}
		out = append(out, span{min(begin, i), i})
	}
	return out
}
