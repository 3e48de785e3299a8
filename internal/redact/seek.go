package redact

import (
	"io"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
)

// seeker finds the matches of one planned expression, one after another.
type seeker struct {
	rule  *rule
	text  []byte
	left  []int // candidates not yet tried
	tries attempts
	ends  []int
	sc    *scratch
	found span // the last match
	some  bool // found is valid
	spent bool // the budget is exhausted
}

func (s *seeker) init(u *rule, p *pattern, text []byte, sc *scratch) {
	s.rule, s.text, s.sc = u, text, sc
	s.tries = attempts{expr: u.planned(), budget: len(text) + minBudget}
	if u.then != nil {
		// The positions where the end of the pattern matches.
		sc.ends = sc.ends[:0]
		tries := attempts{lazy: &p.then, expr: u.then.expr, budget: len(text) + minBudget}
		for _, at := range places(u.then.starts, sc, func(at int, s *start) bool { return s.fits(text, at) }) {
			if tries.budget < 0 || tries.read(text[at:]) > 0 {
				sc.ends = append(sc.ends, at)
			}
		}
		s.ends = sc.ends
	}
	s.left = places(u.starts, sc, func(at int, s *start) bool { return u.fits(text, at, s) })
}

// seek finds the first match that begins at or after from.
func (s *seeker) seek(from int) {
	if s.some && s.found.begin >= from {
		return
	}
	s.some = false
	for ; len(s.left) > 0; s.left = s.left[1:] {
		at := s.left[0]
		if at < from || s.rule.then != nil && !s.rule.then.follows(at, s.ends, s.text, s.sc) {
			continue
		}
		length := 0 // of the match at this position
		if w, ok := s.rule.window(s.text[at:]); !ok {
			length = s.tries.read(s.text[at:])
		} else if loc := s.tries.lazy.anchored(s.tries.expr).FindIndex(w); loc != nil {
			length = loc[1]
		}
		if s.spent = s.tries.budget < 0; s.spent {
			return
		}
		if length > 0 {
			begin := at // include the run before an identifier
			for n := 0; n < s.rule.lead && begin > from; n++ {
				if b := s.text[begin-1]; !chars.IsWord(b) && b != '.' && b != '-' {
					break
				}
				begin--
			}
			s.found, s.some = span{begin, at + length}, true
			return
		}
	}
}

// attempts tries an anchored expression at many positions. An expression without a maximum
// length may read to the end of the text each time, so budget limits the bytes read by all
// attempts.
type attempts struct {
	lazy   *lazyRegexp
	expr   string
	budget int
}

func (a *attempts) read(text []byte) int {
	reader := runes{text: text}
	loc := a.lazy.anchored(a.expr).FindReaderIndex(&reader)
	a.budget -= reader.at
	if loc == nil {
		return 0
	}
	return loc[1]
}

// runes reads a text and records its position.
type runes struct {
	text []byte
	at   int
}

func (r *runes) ReadRune() (c rune, size int, err error) {
	if r.at >= len(r.text) {
		return 0, 0, io.EOF
	}
	c, size = rune(r.text[r.at]), 1
	if c >= utf8.RuneSelf {
		c, size = utf8.DecodeRune(r.text[r.at:])
	}
	r.at += size
	return c, size, nil
}
