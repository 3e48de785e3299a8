package brief

import (
	"strings"
	"unicode/utf8"
)

// unit is the number of cost units in a token.
const unit = 20

// CountTokens returns an estimated upper bound of the number of tokens of a text.
//
// The agent's tokenizer isn't public. Tokenizers of its kind join bytes to the longest
// pieces in their vocabulary, but never across the runs that piece returns. The cost of a
// run is a little more than the worst of the public tokenizers needs: one token for the
// first four letters of a usual word and one for every five more; one token per 1.3 to 2
// bytes of an unusual word (only consonants, rare letters, the mixed letters and digits of
// base64); nearly one per digit; one for a single punctuation sign, less for each of
// several; little for white space; 1 to 4 per letter of other scripts, with rare ones
// counted by bytes. Code and prose have 2.4 to 3 bytes per token. The count of a text is at
// most the sum of the counts of its lines.
func CountTokens(text string) int {
	return (tokenCost(text) + unit - 1) / unit
}

// tokenCost returns the cost of a text, in fractions of a token.
func tokenCost(text string) int {
	total := 0
	for i := 0; i < len(text); {
		n, cost := piece(text[i:])
		i, total = i+n, total+cost
	}
	return total
}

// piece returns the length and the cost of the run at the start of s.
func piece(s string) (n, cost int) {
	switch c := s[0]; {
	case isAlnum(c):
		n = runOf(s, isAlnum)
		return n, alnum(s[:n])
	case isBlank(c):
		n = runOf(s, isBlank)
		return n, blank(s[:n])
	case c == '\n' || c == '\r':
		n = runOf(s, func(c byte) bool { return c == '\n' || c == '\r' })
		return n, unit + (n-1)*12
	case c > ' ' && c < 0x7f: // signs
		n = runOf(s, func(c byte) bool { return c > ' ' && c < 0x7f && !isAlnum(c) })
		switch {
		case n == 1:
			return n, unit
		case n == 2:
			return n, unit * 13 / 10
		case strings.Count(s[:n], s[:1]) == n:
			return n, unit + n*unit/4
		}
		return n, n * unit * 4 / 5
	case c < utf8.RuneSelf:
		return 1, unit
	}
	r, n := utf8.DecodeRuneInString(s)
	switch { // common scripts cost less than their bytes
	case r >= 0x400 && r < 0x460: // Cyrillic
		return n, unit * 7 / 5
	case r >= 0x3040 && r < 0x3100: // kana
		return n, unit * 8 / 5
	case r >= 0x4e00 && r < 0xa000: // Han
		return n, unit * 12 / 5
	case r >= 0xac00 && r < 0xd7a4: // Hangul
		return n, unit * 27 / 10
	}
	return n, unit * n
}

func runOf(s string, is func(byte) bool) int {
	n := 1
	for n < len(s) && is(s[n]) {
		n++
	}
	return n
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }
func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isAlnum(c byte) bool { return isLower(c) || isUpper(c) || isDigit(c) }
func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// blank returns the cost of spaces and tabs within a line: a single space joins the
// following word, a run of one kind is cheap, and each change of kind is a token.
func blank(s string) int {
	if s == " " {
		return 2
	}
	cost := unit * 3 / 5
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] != s[i-1]:
			cost += unit
		case s[i] == '\t':
			cost += unit / 2
		default:
			cost++
		}
	}
	return cost + 8*min(1, strings.Count(s, " "))
}

// alnum returns the cost of a run of letters and digits: the sum of its words, or, if they
// are as short as in generated text, at least that of its bytes.
func alnum(s string) int {
	cost, words := 0, 0
	for i := 0; i < len(s); words++ {
		n := wordLen(s[i:])
		cost += word(s[i:i+n], i > 0 && !isLower(s[i]), i+n < len(s) && isDigit(s[i+n]))
		i += n
	}
	if len(s) >= 8 && len(s) < 3*words {
		return max(cost, len(s)*unit*4/5)
	}
	return cost
}

// wordLen returns the length of the first word of a run: digits; capitals up to the one
// that begins the next word; or lower case letters after at most one capital.
func wordLen(s string) int {
	if isDigit(s[0]) {
		return runOf(s, isDigit)
	}
	n := 1
	if isUpper(s[0]) && (len(s) == 1 || !isLower(s[1])) {
		for n < len(s) && isUpper(s[n]) && (n+1 == len(s) || !isLower(s[n+1])) {
			n++
		}
		return n
	}
	for n < len(s) && isLower(s[n]) {
		n++
	}
	return n
}

// word returns the cost of a word. inside is set if it doesn't begin the run, digits if
// digits follow it.
func word(s string, inside, digits bool) int {
	n := len(s)
	switch {
	case isDigit(s[0]):
		return n * unit * 9 / 10
	case n > 1 && isUpper(s[1]):
		cost := max(unit, n*unit/2)
		if n > 12 {
			cost += n * 6
		}
		return cost
	}
	cost := unit
	if n > 4 {
		cost += (n - 4) * unit / 5
	}
	vowels, longest, rare, run := 0, 0, 0, 0 // longest: run of consonants
	for i := range len(s) {
		switch s[i] | 0x20 {
		case 'a', 'e', 'i', 'o', 'u', 'y':
			vowels, run = vowels+1, 0
			continue
		case 'j', 'q', 'x', 'z':
			rare++
		}
		run++
		longest = max(longest, run)
	}
	cost += rare * 12
	switch {
	case longest >= 5, n >= 3 && vowels == 0, n >= 5 && vowels*5 < n:
		cost = max(cost, n*unit*2/3)
	case longest == 4, n > 16, digits, inside && n < 3:
		cost = max(cost, n*unit*11/20)
	case longest == 3:
		cost += unit * 3 / 10
	}
	return cost
}
