package main

import (
	"regexp/syntax"
	"slices"
	"unicode"
)

// class is a set of bytes.
type class [4]uint64

func (c *class) add(b byte)     { c[b>>6] |= 1 << (b & 63) }
func (c class) has(b byte) bool { return c[b>>6]>>(b&63)&1 != 0 }
func (c class) empty() bool     { return c == class{} }

func (c class) union(o class) class {
	for i := range c {
		c[i] |= o[i]
	}
	return c
}

func (c class) meets(o class) bool {
	for i := range c {
		if c[i]&o[i] != 0 {
			return true
		}
	}
	return false
}

// bytes lists the members in order.
func (c class) bytes() []byte {
	var bs []byte
	for b := range 256 {
		if c.has(byte(b)) {
			bs = append(bs, byte(b))
		}
	}
	return bs
}

// single returns the one byte of the class in lower case, when the class is
// one byte or the two cases of one letter.
func (c class) single() (byte, bool) {
	bs := c.bytes()
	switch {
	case len(bs) == 1:
		return lower(bs[0]), true
	case len(bs) == 2 && lower(bs[0]) == bs[1]:
		return bs[1], true
	}
	return 0, false
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		return b + 'a' - 'A'
	}
	return b
}

// isOddFold reports the runes beyond ASCII that fold to a letter of ASCII. The
// plans hold only for texts without them, so classes leave them out.
func isOddFold(r rune) bool { return r == '\u017f' || r == '\u212a' }

// ofRanges is the class of the ranges of a syntax.OpCharClass; false if a rune
// beyond ASCII is among them.
func ofRanges(rs []rune) (class, bool) {
	var c class
	for i := 0; i < len(rs); i += 2 {
		for r := rs[i]; r <= rs[i+1]; r++ {
			switch {
			case isOddFold(r):
			case r > unicode.MaxASCII:
				return class{}, false
			default:
				c.add(byte(r))
			}
		}
	}
	return c, true
}

// ofRune is the class of one rune of a literal; false if it is beyond ASCII.
func ofRune(r rune, flags syntax.Flags) (class, bool) {
	var c class
	if r > unicode.MaxASCII {
		return c, false
	}
	c.add(byte(r))
	if flags&syntax.FoldCase != 0 {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			if f <= unicode.MaxASCII {
				c.add(byte(f))
			}
		}
	}
	return c, true
}

// union is the class of all bytes that re can consume; false if runes beyond
// ASCII are among them.
func union(re *syntax.Regexp) (class, bool) {
	switch re.Op {
	case syntax.OpLiteral:
		var c class
		for _, r := range re.Rune {
			one, ok := ofRune(r, re.Flags)
			if !ok {
				return class{}, false
			}
			c = c.union(one)
		}
		return c, true
	case syntax.OpCharClass:
		return ofRanges(re.Rune)
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return class{}, false
	}
	var c class
	for _, sub := range re.Sub {
		one, ok := union(sub)
		if !ok {
			return class{}, false
		}
		c = c.union(one)
	}
	return c, true
}

// lengths returns the least and the greatest number of bytes that re can
// match; max is -1 if there is no limit.
func lengths(re *syntax.Regexp) (shortest, longest int) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			shortest++
			longest += width(r)
		}
		return shortest, longest
	case syntax.OpCharClass:
		for i := 1; i < len(re.Rune); i += 2 {
			longest = max(longest, width(re.Rune[i]))
		}
		if c, ok := ofRanges(re.Rune); ok && !c.empty() {
			longest = 1
		}
		return 1, longest
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1, 4
	case syntax.OpStar:
		return 0, -1
	case syntax.OpPlus:
		shortest, _ = lengths(re.Sub[0])
		return shortest, -1
	case syntax.OpQuest:
		_, longest = lengths(re.Sub[0])
		return 0, longest
	case syntax.OpRepeat:
		lo, hi := lengths(re.Sub[0])
		return lo * re.Min, times(hi, re.Max)
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			lo, hi := lengths(sub)
			shortest, longest = shortest+lo, plus(longest, hi)
		}
		return shortest, longest
	case syntax.OpAlternate:
		shortest = -1
		for _, sub := range re.Sub {
			lo, hi := lengths(sub)
			if shortest < 0 || lo < shortest {
				shortest = lo
			}
			if hi < 0 || longest < 0 {
				longest = -1
			} else {
				longest = max(longest, hi)
			}
		}
		return shortest, longest
	}
	return 0, 0 // empty-width
}

func width(r rune) int {
	if r <= unicode.MaxASCII {
		return 1
	}
	return 4
}

func times(n, k int) int {
	if n < 0 || k < 0 {
		return -1
	}
	return n * k
}

func plus(a, b int) int {
	if a < 0 || b < 0 {
		return -1
	}
	return a + b
}

// classTable numbers classes.
type classTable struct{ all []class }

func (t *classTable) id(c class) uint8 {
	i := slices.Index(t.all, c)
	if i < 0 {
		i = len(t.all)
		t.all = append(t.all, c)
	}
	if i > 255 {
		panic("too many byte classes")
	}
	return uint8(i)
}
