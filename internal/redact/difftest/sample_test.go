package difftest

import (
	"math/rand/v2"
	"regexp/syntax"
	"strings"
)

// sampler generates texts that match a regular expression.
type sampler struct{ *rand.Rand }

func newSampler(seed uint64) sampler { return sampler{rand.New(rand.NewPCG(seed, 1))} }

func (s sampler) sample(expr string) string {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		panic(err)
	}
	var b strings.Builder
	s.write(&b, re)
	return b.String()
}

func (s sampler) write(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			b.WriteRune(s.folded(r, re.Flags))
		}
	case syntax.OpCharClass:
		b.WriteRune(s.member(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteRune(s.member([]rune{' ', '~'}))
	case syntax.OpCapture:
		s.write(b, re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			s.write(b, sub)
		}
	case syntax.OpAlternate:
		s.write(b, re.Sub[s.IntN(len(re.Sub))])
	case syntax.OpQuest:
		s.times(b, re.Sub[0], 0, 1)
	case syntax.OpStar:
		s.times(b, re.Sub[0], 0, 6)
	case syntax.OpPlus:
		s.times(b, re.Sub[0], 1, 6)
	case syntax.OpRepeat:
		most := re.Max
		if most < 0 {
			most = re.Min + 6
		}
		s.times(b, re.Sub[0], re.Min, most)
	}
}

func (s sampler) times(b *strings.Builder, re *syntax.Regexp, least, most int) {
	n := least
	if most > least {
		// Mostly near the minimum, or the maximum.
		switch s.IntN(4) {
		case 0:
			n = most
		case 1:
			n += s.IntN(most - least + 1)
		case 2:
			n += min(s.IntN(3), most-least)
		}
	}
	for range n {
		s.write(b, re)
	}
}

func (s sampler) folded(r rune, flags syntax.Flags) rune {
	if flags&syntax.FoldCase == 0 || s.IntN(2) == 0 {
		return r
	}
	if s.IntN(2) == 0 {
		return []rune(strings.ToLower(string(r)))[0]
	}
	return []rune(strings.ToUpper(string(r)))[0]
}

// member picks a rune of a class, nearly always an ASCII one.
func (s sampler) member(ranges []rune) rune {
	total := 0
	limit := rune(127)
	if s.IntN(200) == 0 {
		limit = 0x2ff
	}
	var picked rune = ranges[0]
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= min(ranges[i+1], limit); r++ {
			if total++; s.IntN(total) == 0 {
				picked = r
			}
		}
	}
	return picked
}

// mutate changes a text slightly.
func (s sampler) mutate(text string) string {
	if text == "" {
		return text
	}
	i := s.IntN(len(text))
	switch s.IntN(12) {
	case 0:
		return text[:i]
	case 1:
		return text[i:]
	case 2:
		return text[:i] + text[i+1:]
	case 3:
		return text[:i] + string(rune(' '+s.IntN(95))) + text[i:]
	case 4:
		return text[:i] + s.pick("\n", "\r\n", "\\n", "\t", " ", "\xff", "é", "ſ", "\u212a", "İ", "世", ";", "\"", "'", "`", "=") + text[i:]
	case 5:
		return strings.ToUpper(text)
	case 6:
		return strings.ToLower(text)
	case 7:
		return strings.NewReplacer("k", "\u212a", "s", "ſ", "i", "İ").Replace(text)
	case 8:
		return text + s.pick("\n", " ", "x", "-", "/", "\"", ";", ",", "\r\n", "\n\n", "\\n", "\\")
	case 9:
		return s.pick("\n", " ", "x", "-", "/", "\"", "key=", "api_token: ", "secret", ".", "_") + text
	case 10:
		return text + text
	default:
		return text[:i] + text[s.IntN(len(text)):]
	}
}

func (s sampler) pick(from ...string) string { return from[s.IntN(len(from))] }
