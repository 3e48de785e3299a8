// Package chars defines classes of bytes and functions on texts based on them.
package chars

import (
	"encoding/binary"
	"math"
)

// IsASCII reports whether s has only ASCII characters.
func IsASCII(s []byte) bool {
	for len(s) >= 8 {
		if binary.LittleEndian.Uint64(s)&0x8080808080808080 != 0 {
			return false
		}
		s = s[8:]
	}
	for _, b := range s {
		if b >= 0x80 {
			return false
		}
	}
	return true
}

// RunEnd returns the end of the run of bytes of the class at i, limited to most bytes.
func RunEnd(text []byte, i, most int, in func(byte) bool) int {
	end := min(len(text), i+most)
	for i < end && in(text[i]) {
		i++
	}
	return i
}

// The values of Classes.
const (
	Digit     = 1
	UpperCase = 2
	LowerCase = 4
)

// Classes has the class of each byte, 0 for others, for loops in which calls are too slow.
const Classes = "" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x00\x00\x00\x00\x00\x00" +
	"\x00\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x02\x00\x00\x00\x00\x00" +
	"\x00\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x04\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" +
	"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"

// The classes contain only ASCII.

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

// IsSpace reports whether b is a space, a tab, a newline or a carriage return.
func IsSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

// IsQuote reports whether b is a quote.
func IsQuote(b byte) bool { return b == '"' || b == '\'' || b == '`' }

// IsBase64 reports whether b is a base64 digit in one of the alphabets.
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

// IsPrintableByte reports whether b is an ASCII character between backspace and DEL,
// exclusive.
func IsPrintableByte(b byte) bool { return 8 < b && b < 0x7f }

// IsWord reports whether b is a letter, a digit or an underscore.
func IsWord(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}

// HasFold reports whether text begins with lit, ignoring case. lit must be lower case.
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

// Lower returns the lower case of a letter, and any other byte unchanged.
func Lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// HasFoldSuffix reports whether s ends with suffix, ignoring case. suffix must be lower
// case.
func HasFoldSuffix(s []byte, suffix string) bool {
	return len(s) >= len(suffix) && HasFold(s[len(s)-len(suffix):], suffix)
}

// Entropy returns the Shannon entropy of data's runes in bits per byte, as computed by
// gitleaks.
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
