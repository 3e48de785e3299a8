package index

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestWord is how many bytes of a word count.
const longestWord = 40

// span is a word of a text: its place in bytes, and the word in lower case. joined
// reports that nothing is between it and the word before.
type span struct {
	start, end int
	word       string
	joined     bool
}

// wordsOf yields the words of a text: runs of letters and digits, identifiers in their
// parts, and each character by itself of scripts that are written without spaces.
func wordsOf(text string) iter.Seq[span] {
	return func(yield func(span) bool) {
		last := -1 // the end of the word before
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

// isAlone reports whether a character is a word by itself.
func isAlone(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// wordEnd returns where the word ends that begins at start with the rune r.
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

// normal is a text as it is given to FTS5: its words, a space between them.
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
