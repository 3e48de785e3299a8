package plain

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Visible returns a text with its hidden characters as \uXXXX, and bytes that aren't UTF-8 as \xXX.
// Newlines and tabs stay, CRLF becomes a newline. A text without such characters is returned
// unchanged, so that Visible(Visible(s)) is Visible(s).
func Visible(text string) string {
	if utf8.ValidString(text) && !strings.ContainsFunc(text, IsHidden) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\r' && strings.HasPrefix(text[i+1:], "\n"):
		case IsHidden(r):
			b.WriteString(Escape(r))
		default:
			b.WriteString(text[i : i+n])
		}
		i += n
	}
	return b.String()
}

// Prose is Visible for what people and models have said: white space other than newlines and tabs,
// such as the characters that end lines elsewhere, becomes a space.
func Prose(text string) string {
	return Visible(strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, strings.ReplaceAll(text, "\r\n", "\n")))
}

// JSON returns encoded JSON with the hidden characters of its strings escaped. It has the same
// value.
func JSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, isHiddenInJSON) {
		return text
	}
	out := make([]byte, 0, len(text)+len(text)/8) //nolint:mnd // some more
	for len(text) > 0 {
		at := bytes.IndexFunc(text, isHiddenInJSON)
		if at < 0 {
			break
		}
		r, n := utf8.DecodeRune(text[at:])
		out = append(out, text[:at]...)
		out = append(out, Escape(r)...)
		text = text[at+n:]
	}
	return append(out, text...)
}

// isHiddenInJSON is IsHidden for a character of encoded JSON: encoders escape control characters
// below U+0020 in strings, and elsewhere they are white space. Characters that join others are
// escaped, too, as nothing is lost by that.
func isHiddenInJSON(r rune) bool { return r >= ' ' && IsHidden(r) || r == '\u200c' || r == '\u200d' }

// Escape returns the escape of a character in JSON: \uXXXX, or two of them.
func Escape(r rune) string {
	if r > 0xffff {
		high, low := utf16.EncodeRune(r)
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// IsHidden reports whether a character is a control character other than newline and tab, changes
// the direction of text, ends a line without being a newline, or has no width. Characters that join
// others (U+200C, U+200D) are not hidden: some scripts need them.
func IsHidden(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < ' ', 0x7f <= r && r < 0xa0: // C0, DEL, C1
		return true
	case r == 0xad, r == 0x61c, r == 0x180e, r == 0x200b, r == 0x200e, r == 0x200f, 0x2028 <= r && r <= 0x202e, 0x2060 <= r && r <= 0x206f:
		return true
	case r == 0xfeff, 0xfff9 <= r && r <= 0xfffb, 0xe0000 <= r && r <= 0xe007f: // the last are tags, copies of ASCII
		return true
	}
	return false
}

// Quote returns a text with indent and "> " before its lines after the first, which a label
// precedes. So no line of it begins where lines of the program do.
func Quote(text, indent string) string { return strings.ReplaceAll(text, "\n", "\n"+indent+"> ") }
