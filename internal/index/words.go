package index

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/internal/plain"
)

// longestWord is the number of bytes of a word that are indexed.
const longestWord = 40

// span is a word of a text: its position in bytes and the word in lower case. joined is set
// if the previous word ends where it begins.
type span struct {
	start, end int
	word       string
	joined     bool
}

// wordsOf yields the words of a text: runs of letters and digits, with identifiers split
// into their parts. In scripts written without spaces each character is a word.
func wordsOf(text string) iter.Seq[span] {
	return func(yield func(span) bool) {
		last := -1 // the end of the previous word
		for i := 0; i < len(text); {
			r, size := utf8.DecodeRuneInString(text[i:])
			if !isWord(r) {
				i += size
				continue
			}
			end := wordEnd(text, i, r, size)
			word := plain.Head(strings.ToLower(text[i:end]), longestWord)
			if !yield(span{i, end, word, last == i}) {
				return
			}
			last, i = end, end
		}
	}
}

func isWord(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
}

// isAlone reports whether a character is a word on its own.
func isAlone(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// wordEnd returns the end of the word that begins at start with the rune r.
func wordEnd(text string, start int, r rune, size int) int {
	i := start + size
	if isAlone(r) {
		return i
	}
	before := r
	for i < len(text) {
		next, n := utf8.DecodeRuneInString(text[i:])
		if !isWord(next) || isAlone(next) {
			return i
		}
		if unicode.IsUpper(next) {
			after, _ := utf8.DecodeRuneInString(text[i+n:])
			if !unicode.IsUpper(before) || unicode.IsLower(after) {
				return i // rate|Limit, HTTP|Server
			}
		}
		before, i = next, i+n
	}
	return i
}

// mostJoined is the number of parts of an identifier that is also indexed as one word. Random
// characters, such as base64, have more.
const mostJoined = 6

// joinedFrom returns the number of words at the beginning of words that are the parts of one
// identifier, at least 1, and the identifier as one word; "" if it is not indexed so: it has only
// one part, many parts, or is long.
func joinedFrom(words []span) (parts int, whole string) {
	parts = 1
	for parts < len(words) && words[parts].joined {
		parts++
	}
	if r, _ := utf8.DecodeRuneInString(words[0].word); parts == 1 || parts > mostJoined || isAlone(r) || words[parts-1].end-words[0].start > longestWord {
		return parts, ""
	}
	var joined strings.Builder
	for _, w := range words[:parts] {
		joined.WriteString(w.word)
	}
	return parts, joined.String()
}

// normal returns a text in the form passed to FTS5: its words separated by spaces, and after them
// each identifier that has several parts as one word, so that "github" finds GitHub. They are at the
// end, as between the words they would break phrases.
func normal(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	write := func(word string) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	words := slices.Collect(wordsOf(text))
	for _, s := range words {
		write(s.word)
	}
	known := map[string]bool{}
	for len(words) > 0 {
		parts, whole := joinedFrom(words)
		if words = words[parts:]; whole != "" && !known[whole] {
			known[whole] = true
			write(whole)
		}
	}
	return b.String()
}
