// Package secretkinds makes texts with secrets of about 2,000 kinds, with new values at every call: tokens
// of vendors, passwords in the places where people write them, private keys and recovery phrases,
// and encoded texts with any of these.
package secretkinds

import (
	"math/rand/v2"
	"slices"
	"strings"
)

// Secret is a secret in a text that contains it.
type Secret struct {
	Text string
	// Parts are the forms of the secret that must not be left: itself, or an encoded form.
	Parts []string
}

// Kind makes secrets of one kind, with a new value at every call.
type Kind struct {
	Name string // class/place/shape
	Make func(m Maker) Secret
}

// Kinds returns all kinds, each with another name.
func Kinds() []Kind {
	return slices.Concat(tokens(), places(), encodings(), keys())
}

// Maker generates random values, so that the source contains nothing that looks like a secret.
type Maker struct{ *rand.Rand }

// New returns a Maker that makes the same values for the same numbers.
func New(seed, stream uint64) Maker {
	return Maker{rand.New(rand.NewPCG(seed, stream))} //nolint:gosec // values of tests
}

// Sets of characters.
const (
	Lowers = "abcdefghijklmnopqrstuvwxyz"
	Uppers = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	Digits = "0123456789"
	Hexes  = Digits + "abcdef"
	Alnums = Digits + Lowers + Uppers
	Base64 = Alnums + "+/"
)

// Of returns n random characters of a set, one of each class of letters and digits in the set if n is
// 8 or more.
func (m Maker) Of(set string, n int) string {
	b := make([]byte, n)
	for {
		classes := 0
		for i := range b {
			b[i] = set[m.IntN(len(set))]
		}
		for _, class := range []string{Lowers, Uppers, Digits} {
			if n < 8 || !strings.ContainsAny(set, class) || strings.ContainsAny(string(b), class) {
				classes++
			}
		}
		if classes == 3 {
			return string(b)
		}
	}
}

// UUID returns a random UUID.
func (m Maker) UUID() string {
	return m.Of(Hexes, 8) + "-" + m.Of(Hexes, 4) + "-4" + m.Of(Hexes, 3) + "-a" + m.Of(Hexes, 3) + "-" + m.Of(Hexes, 12)
}

// PEM returns the first line, the lines of random base64 and the last line of a key.
func (m Maker) PEM(label string, lines int) (head, body, tail string) {
	var b strings.Builder
	for range lines {
		b.WriteString(m.Of(Base64, 64) + "\n")
	}
	return "-----BEGIN " + label + "-----\n", b.String(), "-----END " + label + "-----\n"
}
