package redact

import (
	"regexp"
	"slices"
)

type regexpType = regexp.Regexp

func (l *lazyRegexp) get(expr string) *regexp.Regexp {
	if re := l.p.Load(); re != nil {
		return re
	}
	re := regexp.MustCompile(expr)
	l.p.Store(re)
	return re
}

// fullOf is rule i's expression.
func (r *Redactor) fullOf(i int) *regexp.Regexp {
	return r.patterns[i].full.get(rules[i].expr)
}

// anchoredOf is rule i's expression for its plan, tied to the beginning.
func (r *Redactor) anchoredOf(i int) *regexp.Regexp {
	if re := r.patterns[i].anchored.p.Load(); re != nil {
		return re
	}
	expr := rules[i].expr
	if rules[i].plan == planTail {
		expr = rules[i].tail
	}
	return r.patterns[i].anchored.get(`\A(?:` + expr + `)`)
}

// maxMisses is how often the anchored pattern of a rule without a limit of
// length is tried in vain: each attempt may read to the end of the text.
const maxMisses = 64

// slack is added to a rule's reach, so that what ends a match is in sight.
const slack = 8

// matches lists where rule i matches text, as FindAllIndex of its expression
// would. The places of the literals are in sc.
//
// Why it is the same: a match begins (planStart) or has its identifier
// (planTail) where one of the starts fits, and nothing before that place
// matters to the rest of the expression except \b, which fits tests. So the
// leftmost match is at the first start at which the anchored expression
// matches. The run before an identifier is lazy: from the leftmost place
// possible it goes to the first identifier that the rest matches from.
func (r *Redactor) matches(i int, text []byte, sc *scratch) [][]int {
	rule := &rules[i]
	if rule.plan == planFull || sc.odd {
		return r.fullOf(i).FindAllIndex(text, -1)
	}
	var found [][]int
	end, misses := 0, 0
	for _, at := range rule.candidates(text, sc) {
		if at < end {
			continue
		}
		loc := r.anchoredOf(i).FindIndex(rule.window(text, at))
		if loc == nil {
			if misses++; misses > maxMisses && rule.reach == 0 {
				return r.fullOf(i).FindAllIndex(text, -1)
			}
			continue
		}
		begin := rule.extend(text, at, end)
		end = at + loc[1]
		found = append(found, []int{begin, end})
	}
	return found
}

// candidates lists the places in text where a start of the rule fits, in order.
func (u *rule) candidates(text []byte, sc *scratch) []int {
	sc.starts = sc.starts[:0]
	lists := 0
	for k := range u.starts {
		s := &u.starts[k]
		before := len(sc.starts)
		for _, place := range sc.places[s.lit] {
			if at := place - int(s.off); at >= 0 && u.fits(text, at, s) {
				sc.starts = append(sc.starts, at)
			}
		}
		if len(sc.starts) > before {
			lists++
		}
	}
	if lists > 1 {
		slices.Sort(sc.starts)
		sc.starts = slices.Compact(sc.starts)
	}
	return sc.starts
}

// fits reports whether a match can begin at the place at in the way of s.
func (u *rule) fits(text []byte, at int, s *start) bool {
	if len(text)-at < len(s.classes) {
		return false
	}
	if u.boundary && at > 0 && isWord(text[at-1]) {
		return false
	}
	for k := range len(s.classes) {
		if !byteClasses[s.classes[k]].has(text[at+k]) {
			return false
		}
	}
	return u.follow == nil || u.follow.fits(text[at:])
}

// window is the part of text from at on that a match can reach.
func (u *rule) window(text []byte, at int) []byte {
	if u.reach == 0 {
		return text[at:]
	}
	return text[at:min(len(text), at+u.reach+slack)]
}

// extend moves at back over the run before an identifier, not beyond limit.
func (u *rule) extend(text []byte, at, limit int) int {
	for n := 0; n < u.lead && at > limit && isRun(text[at-1]); n++ {
		at--
	}
	return at
}

// fits reports whether what an identifier at the beginning of text needs can follow.
func (f *follow) fits(text []byte) bool {
	i := 0
	for gap := &byteClasses[f.gap]; i < len(text) && gap.has(text[i]); i++ {
		if i == f.maxGap {
			return false
		}
	}
	if i >= len(text) || !byteClasses[f.oper].has(text[i]) {
		return false
	}
	i++
	for n := 0; n <= f.maxFill && i < len(text); n++ {
		if f.secretAt(text[i:]) {
			return true
		}
		if !byteClasses[f.fill].has(text[i]) {
			return false
		}
		i++
	}
	return false
}

func (f *follow) secretAt(text []byte) bool {
	if len(text) < f.minSecret {
		return false
	}
	for k := range f.minSecret {
		if !byteClasses[f.secret].has(text[k]) {
			return false
		}
	}
	return true
}

// submatch is FindSubmatchIndex of rule i's expression on a match by itself.
// odd says that the plan may not be used.
func (r *Redactor) submatch(i int, m []byte, odd bool) []int {
	rule := &rules[i]
	if rule.plan == planFull || odd {
		return r.fullOf(i).FindSubmatchIndex(m)
	}
	for at := range m {
		for k := range rule.starts {
			if !rule.fits(m, at, &rule.starts[k]) {
				continue
			}
			loc := r.anchoredOf(i).FindSubmatchIndex(rule.window(m, at))
			if loc == nil {
				break
			}
			for k := range loc {
				if loc[k] >= 0 {
					loc[k] += at
				}
			}
			return loc
		}
	}
	return nil
}

func isWord(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '_'
}

func isRun(b byte) bool { return isWord(b) || b == '.' || b == '-' }
