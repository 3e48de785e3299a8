package recall

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// scanned is how much of a text is looked at for what is kept of it: far more
// than is kept, so that a secret at the cut is seen whole.
const scanned = 64 << 10

// kept is the beginning of a text, as it may stand in a digest: redacted, valid,
// without what a terminal takes for a command, and no longer in JSON than limit.
func kept(s string, limit int, redact Texts) string {
	s = head(s, scanned)
	return shortened(tidy(redact.Text(tidy(s))), limit)
}

// keptLine is kept in one line.
func keptLine(s string, limit int, redact Texts) string {
	s = tidy(redact.Text(tidy(head(s, scanned))))
	return shortened(strings.Join(strings.Fields(s), " "), limit)
}

// tidy leaves out control characters but line ends and tabs, and the characters
// that turn the direction of a text or can't be seen.
func tidy(s string) string {
	s = strings.Map(func(c rune) rune {
		switch {
		case c == '\n', c == '\t':
			return c
		case c == '\u200d', c == '\u200c': // they join letters and signs
			return c
		case unicode.IsControl(c), unicode.Is(unicode.Cf, c), c == '\u2028', c == '\u2029':
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return strings.TrimSpace(s)
}

// head is the beginning of a text of at most limit bytes, whole characters.
func head(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// ellipsis says that a text was cut.
const ellipsis = "..."

// shortened is a text cut at a word, so that it takes no more than limit bytes
// in JSON.
func shortened(s string, limit int) string {
	if weight(s) <= limit {
		return s
	}
	room := limit - len(ellipsis)
	end := 0
	for i, c := range s {
		room -= runeWeight(c)
		if room < 0 {
			break
		}
		end = i + utf8.RuneLen(c)
	}
	cut := s[:end]
	const part = 2 // a cut at a word may cost half of the text, no more
	if at := strings.LastIndexAny(cut, " \n\t"); at > len(cut)/part {
		cut = cut[:at]
	}
	return strings.TrimRight(cut, " \n\t,;:-") + ellipsis
}

// worst is how many bytes one may take in JSON, around what stands around an
// item of a list: quotes and comma.
const (
	worst  = 6
	around = 3
)

// weight is how many bytes a text takes in JSON, without the quotes.
func weight(s string) int {
	if isPlainASCII(s) {
		return len(s)
	}
	n := 0
	for _, c := range s {
		n += runeWeight(c)
	}
	return n
}

// isPlainASCII says whether every byte of a text stands for itself in JSON.
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
	case c < ' ', c == utf8.RuneError: // the error may stand for an invalid byte
		return worst
	}
	return utf8.RuneLen(c)
}

// latest puts an item at the end of a list, or moves it there, and drops the
// first ones beyond count items or bytes in JSON.
func latest(list []string, item string, bound bound) []string {
	list = without(list, func(s string) bool { return s == item })
	list = append(list, item)
	return bound.last(list)
}

// bound is what a list may hold.
type bound struct{ items, bytes int }

// last is the end of a list that is within the bound.
func (b bound) last(list []string) []string {
	n := 0
	for _, s := range list {
		n += len(s) + around
	}
	if len(list) <= b.items && n <= b.bytes/worst {
		return list // whatever is in them
	}
	return lastWithin(list, b, weight)
}

// lastWithin is the end of a list that is within a bound, by each item's weight
// but for what JSON puts around it.
func lastWithin[T any](list []T, b bound, weigh func(T) int) []T {
	left := b.bytes
	for i, item := range slices.Backward(list) {
		left -= weigh(item) + around
		if left < 0 || len(list)-i > b.items {
			return append(list[:0], list[i+1:]...)
		}
	}
	return list
}

// within says whether a whole list is within a bound.
func within[T any](list []T, b bound, weigh func(T) int) bool {
	return len(lastWithin(slices.Clone(list), b, weigh)) == len(list)
}

// without is a list without the items that go.
func without[T any](list []T, goes func(T) bool) []T {
	stay := list[:0]
	for _, item := range list {
		if !goes(item) {
			stay = append(stay, item)
		}
	}
	return stay
}
