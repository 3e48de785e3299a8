// Package chars has classes of bytes, and measures of texts made of them.
package chars

import "math"

// RunEnd returns the end of the run of bytes of the class at i, which counts as most bytes at
// most.
func RunEnd(text []byte, i, most int, in func(byte) bool) int {
	end := min(len(text), i+most)
	for i < end && in(text[i]) {
		i++
	}
	return i
}

// The classes, of ASCII alone.

// IsDigit reports whether b is a decimal digit.
func IsDigit(b byte) bool { return '0' <= b && b <= '9' }

// IsUpper reports whether b is an upper-case letter.
func IsUpper(b byte) bool { return 'A' <= b && b <= 'Z' }

// IsLower reports whether b is a lower-case letter.
func IsLower(b byte) bool { return 'a' <= b && b <= 'z' }

// IsAlpha reports whether b is a letter.
func IsAlpha(b byte) bool { return IsUpper(b) || IsLower(b) }

// IsAlnum reports whether b is a letter or a digit.
func IsAlnum(b byte) bool { return IsAlpha(b) || IsDigit(b) }

// IsHex reports whether b is a hexadecimal digit.
func IsHex(b byte) bool { return IsDigit(b) || 'a' <= Lower(b) && Lower(b) <= 'f' }

// IsSpace reports whether b is a space, a tab or part of the end of a line.
func IsSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

// IsQuote reports whether b is a quote.
func IsQuote(b byte) bool { return b == '"' || b == '\'' || b == '`' }

// IsBase64 reports whether b is a digit of base64, in one of its alphabets.
func IsBase64(b byte) bool {
	return IsAlnum(b) || b == '+' || b == '/' || b == '-' || b == '_'
}

// IsPrintable reports whether all bytes are printable.
func IsPrintable(s []byte) bool {
	for _, b := range s {
		if !IsPrintableByte(b) {
			return false
		}
	}
	return true
}

// IsPrintableByte reports whether b is printable ASCII, or a control character of white space.
func IsPrintableByte(b byte) bool { return 8 < b && b < 0x7f }

// IsWord reports whether b is a letter, a digit or an underscore.
func IsWord(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}

// HasFold reports whether text begins with lit, which is in lower case.
func HasFold(text []byte, lit string) bool {
	if len(text) < len(lit) {
		return false
	}
	for i := range len(lit) {
		if Lower(text[i]) != lit[i] {
			return false
		}
	}
	return true
}

// Lower returns a letter in lower case, and any other byte as it is.
func Lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// HasFoldSuffix reports whether s ends with suffix, which is in lower case.
func HasFoldSuffix(s []byte, suffix string) bool {
	return len(s) >= len(suffix) && HasFold(s[len(s)-len(suffix):], suffix)
}

// Entropy is Shannon's, in bits for each byte, over runes, as gitleaks has it.
func Entropy(data []byte) float64 {
	var counts [128]int
	var others map[rune]int
	for _, c := range string(data) {
		if c < 128 {
			counts[c]++
			continue
		}
		if others == nil {
			others = make(map[rune]int)
		}
		others[c]++
	}
	sum, inverse := 0.0, 1/float64(len(data))
	add := func(n int) {
		freq := float64(n) * inverse
		sum -= freq * math.Log2(freq)
	}
	for _, n := range counts {
		if n > 0 {
			add(n)
		}
	}
	for _, n := range others {
		add(n)
	}
	return sum
}
