package index

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
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
			word := cut(strings.ToLower(text[i:end]), longestWord)
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

// normal returns a text in the form passed to FTS5: its words separated by spaces.
func normal(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	for s := range wordsOf(text) {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s.word)
	}
	return b.String()
}
