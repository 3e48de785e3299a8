package ownrules

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
)

// phraseWords are the 2,048 words of recovery phrases (BIP-39), sorted, each with a line break. See
// bip39.LICENSE.
//
//go:embed bip39.txt
var phraseWords string

const (
	phraseCount   = 2048
	longestPhrase = 24
	// phraseStep is less than the length of a phrase's first words, so one of the positions
	// that are this far apart is within any phrase.
	phraseStep = 46
)

// phraseIndex has the words of phraseWords, and a set of their hashes.
type phraseIndex struct {
	words  [phraseCount]string
	hashes [1 << 15 / 64]uint64
}

var phrases = sync.OnceValue(func() *phraseIndex { //nolint:gochecknoglobals // built on first use
	var x phraseIndex
	rest := phraseWords
	for i := range x.words {
		x.words[i], rest, _ = strings.Cut(rest, "\n")
		h := phraseHash([]byte(x.words[i]))
		x.hashes[h>>6] |= 1 << (h & 63)
	}
	return &x
})

// phraseHash returns a hash of a word, ignoring case.
func phraseHash(w []byte) uint32 {
	h := uint32(len(w))
	for _, b := range w {
		h = h*31 + uint32(b|0x20)
	}
	h *= 2654435761
	return h >> 17
}

// mayHave reports whether a word is in the list, or has the hash of one that is.
func (x *phraseIndex) mayHave(w []byte) bool {
	h := phraseHash(w)
	return x.hashes[h>>6]>>(h&63)&1 != 0
}

// find returns the number of a word, -1 if it is not in the list.
func (x *phraseIndex) find(w []byte) int {
	word := string(bytes.ToLower(w))
	i := sort.SearchStrings(x.words[:], word)
	if i == phraseCount || x.words[i] != word {
		return -1
	}
	return i
}

// Phrases finds the recovery phrases of wallets in text: 12, 15, 18, 21 or 24 words of the list with a
// valid checksum, maybe numbered, quoted or separated by commas.
func Phrases(text []byte) (found []Span) {
	if len(text) < phraseStep {
		return nil
	}
	x := phrases()
	has := func(s Span, ok bool) bool { return ok && x.mayHave(text[s.Begin:s.End]) }
	var list []Span
	for i := phraseStep - 1; i < len(text); i += phraseStep {
		w, ok := wordAt(text, i)
		if !has(w, ok) {
			continue
		}
		// The words around it, those before it in reverse.
		list = append(list[:0], w)
		for len(list) < longestPhrase {
			v, ok := wordBefore(text, list[len(list)-1].Begin)
			if !has(v, ok) {
				break
			}
			list = append(list, v)
		}
		slices.Reverse(list)
		for len(list) < 2*longestPhrase {
			v, ok := wordAfter(text, list[len(list)-1].End)
			if !has(v, ok) {
				break
			}
			list = append(list, v)
		}
		if s := phraseIn(x, text, list); s.End > 0 {
			found = append(found, s)
			i = max(i, s.End)
		} else if len(list) > longestPhrase {
			i = max(i, list[len(list)-longestPhrase].Begin) // earlier words begin no phrase
		}
	}
	return found
}

func isLetter(b byte) bool { return chars.Classes[b]&(chars.UpperCase|chars.LowerCase) != 0 }

// wordAt returns the word at text[i] or before it, false if it is too short or too long.
func wordAt(text []byte, i int) (Span, bool) {
	for n := 0; n < 8 && i > 0 && !isLetter(text[i]); n++ {
		i--
	}
	begin, end := i, i
	for begin > 0 && i-begin < 9 && isLetter(text[begin-1]) {
		begin--
	}
	for end < len(text) && end-i < 9 && isLetter(text[end]) {
		end++
	}
	return Span{begin, end}, end-begin >= 3 && end-begin <= 8
}

// isPhraseGap reports whether b can be between the words of a phrase.
func isPhraseGap(b byte) bool {
	return b <= ' ' || chars.IsDigit(b) || b == ',' || b == '.' || b == '"' || b == '\'' || b == ')' || b == ':' || b == '+' || b == '|'
}

// maxPhraseGap limits the text between two words of a phrase.
const maxPhraseGap = 12

func wordBefore(text []byte, i int) (Span, bool) {
	end := i
	for end > 0 && i-end < maxPhraseGap && isPhraseGap(text[end-1]) {
		end--
	}
	if end == i || end == 0 {
		return Span{}, false
	}
	s, ok := wordAt(text, end-1)
	return s, ok && s.End == end
}

func wordAfter(text []byte, i int) (Span, bool) {
	begin := i
	for begin < len(text) && begin-i < maxPhraseGap && isPhraseGap(text[begin]) {
		begin++
	}
	if begin == i || begin == len(text) {
		return Span{}, false
	}
	s, ok := wordAt(text, begin)
	return s, ok && s.Begin == begin
}

// phraseIn returns the span of the longest phrase with a valid checksum among words.
func phraseIn(x *phraseIndex, text []byte, words []Span) Span {
	for n := longestPhrase; n >= 12; n -= 3 {
		for i := 0; i+n <= len(words); i++ {
			if hasChecksum(x, text, words[i:i+n]) {
				return Span{words[i].Begin, words[i+n-1].End}
			}
		}
	}
	return Span{}
}

// hasChecksum reports whether the last bits of the words' numbers are the hash of the others.
func hasChecksum(x *phraseIndex, text []byte, words []Span) bool {
	if !isMixed(text, words) {
		return false
	}
	var bits [longestPhrase*11/8 + 1]byte
	for i, w := range words {
		n := x.find(text[w.Begin:w.End])
		if n < 0 {
			return false
		}
		for k := range 11 {
			at := i*11 + k
			bits[at/8] |= byte(n>>(10-k)&1) << (7 - at%8)
		}
	}
	size := len(words) * 4 / 3
	sum := sha256.Sum256(bits[:size])
	length := len(words) / 3 // of the checksum in bits
	return (sum[0]^bits[size])>>(8-length) == 0
}

// isMixed reports whether most of the words differ and they are not in the order of a list.
func isMixed(text []byte, words []Span) bool {
	down, same := 0, 0
	seen := make(map[string]bool, len(words))
	last := ""
	for _, w := range words {
		word := string(text[w.Begin:w.End])
		if word < last {
			down++
		}
		if seen[word] {
			same++
		}
		seen[word], last = true, word
	}
	return down > 1 && same < 3
}
