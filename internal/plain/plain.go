// Package plain turns untrusted text into text that is safe to store and to show.
//
// Text, Line and the functions for lists bound what is stored: redacted, valid UTF-8, without
// control characters, cut at a word. Limits are in bytes of the text encoded as JSON.
//
// Visible, Prose and Quote make text of unknown origin safe to show: they replace characters that
// a terminal, a browser or a reader of text could interpret, or that are invisible, by visible
// escapes. GitPath writes a path in the form of git's output and input.
package plain

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// MaxScanned is the number of bytes of a text that are redacted. It is far more than the
// kept length, so that a secret at the cut is found.
const MaxScanned = 64 << 10

// Text returns the beginning of a text: redacted, cleaned, and no longer than limit.
func Text(s string, limit int, redact Redactor) string {
	s = Head(s, MaxScanned)
	return Shorten(Clean(redact.Text(Clean(s))), limit)
}

// Line is like Text, with each run of white space replaced by a single space.
func Line(s string, limit int, redact Redactor) string {
	s = Clean(redact.Text(Clean(Head(s, MaxScanned))))
	return Shorten(strings.Join(strings.Fields(s), " "), limit)
}

// Clean removes hidden characters ([IsHidden]). Other characters that end a line become a
// newline. They are not escaped, because a secret or a word that they split has to be found.
func Clean(s string) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case c == '\r', c == '\v', c == '\f', c == '\u0085', c == '\u2028', c == '\u2029': // ends of lines and paragraphs
			return '\n'
		case IsHidden(c):
			return -1
		}
		return c
	}, strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n"))
	return strings.TrimSpace(s)
}

// Head returns the first limit bytes of a text, without a partial character at the end.
func Head(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// Ellipsis ends a text that was cut.
const Ellipsis = "..."

// Shorten cuts a text at a word so that it is no longer than limit, including the Ellipsis.
func Shorten(s string, limit int) string {
	if JSONSize(s) <= limit {
		return s
	}
	room := limit - len(Ellipsis)
	end := len(s)
	for i, c := range s {
		if room -= runeWeight(c); room < 0 {
			end = i
			break
		}
	}
	cut := s[:end]
	const part = 2 // a cut at a word drops at most half of the text
	if at := strings.LastIndexAny(cut, " \n\t"); at > len(cut)/part {
		cut = cut[:at]
	}
	return strings.TrimRight(cut, " \n\t,;:-") + Ellipsis
}

// worst is the maximum length of a byte of text in JSON, around the length of the quotes
// and the comma of a list item.
const (
	worst  = 6
	around = 3
)

// JSONSize returns the length of a text encoded as JSON, without the quotes.
func JSONSize(s string) int {
	if isPlainASCII(s) {
		return len(s)
	}
	n := 0
	for _, c := range s {
		n += runeWeight(c)
	}
	return n
}

// isPlainASCII reports whether a text is ASCII that needs no escapes in JSON.
func isPlainASCII(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c >= utf8.RuneSelf, c == '"', c == '\\', c == '<', c == '>', c == '&':
			return false
		}
	}
	return true
}

func runeWeight(c rune) int {
	switch {
	case c == '<', c == '>', c == '&', c == '\u2028', c == '\u2029':
		return worst // \u003c
	case c == '"', c == '\\', c == '\n', c == '\t', c == '\r':
		return 2
	case c < ' ', c == utf8.RuneError: // the error may be an invalid byte
		return worst
	}
	return utf8.RuneLen(c)
}

// Append adds an item to the end of a list, or moves it there, and drops the first items
// beyond the bound.
func Append(list []string, item string, bound Bound) []string {
	list = slices.DeleteFunc(list, func(s string) bool { return s == item })
	list = append(list, item)
	return bound.Last(list)
}

// Bound is the maximum size of a list: items and bytes of JSON.
type Bound struct{ Items, Bytes int }

// Last returns the end of a list that is within the bound.
func (b Bound) Last(list []string) []string {
	n := 0
	for _, s := range list {
		n += len(s) + around
	}
	if len(list) <= b.Items && n <= b.Bytes/worst {
		return list // even if every byte needs an escape
	}
	return Last(list, b, JSONSize)
}

// Last returns the end of a list that is within a bound; weigh returns an item's size in
// JSON, without quotes and comma.
func Last[T any](list []T, b Bound, weigh func(T) int) []T {
	left := b.Bytes
	for i, item := range slices.Backward(list) {
		left -= weigh(item) + around
		if left < 0 || len(list)-i > b.Items {
			return append(list[:0], list[i+1:]...)
		}
	}
	return list
}

// Within reports whether a list is within a bound.
func Within[T any](list []T, b Bound, weigh func(T) int) bool {
	return len(Last(slices.Clone(list), b, weigh)) == len(list)
}

// Redactor removes secrets from texts and paths.
type Redactor interface {
	Text(s string) string
	// TextContext is Text, but returns the error of ctx as soon as ctx is done.
	TextContext(ctx context.Context, s string) (string, error)
	Path(path string) string
}

// Forgetter masks forgotten contents in a raw line. It needs the whole line because a text
// alone doesn't show which file it is from. A Redactor may implement it.
type Forgetter interface {
	Forget(line []byte) []byte
}

// Plural returns n with its noun: "1 hook", "2 hooks", "2 branches".
func Plural(n int, noun string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case strings.HasSuffix(noun, "ch"):
		noun += "e"
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Elapsed returns a duration in minutes, hours or days, rounded down, with the noun; 0 if it is less
// than a minute.
func Elapsed(d time.Duration) (n int, unit string) {
	const day = 24 * time.Hour
	switch {
	case d < time.Hour:
		return max(int(d/time.Minute), 0), "minute"
	case d < day:
		return int(d / time.Hour), "hour"
	default:
		return int(d / day), "day"
	}
}

// FirstLine returns the first line of a text without the white space around the text.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// IsHex reports whether a text consists of lowercase hexadecimal digits.
func IsHex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" }
