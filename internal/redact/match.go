package redact

import (
	"regexp"
	"slices"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
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

// fullOf returns the expression of rule i.
func (r *finder) fullOf(i int) *regexp.Regexp {
	return r.patterns[i].full.get(rules[i].expr)
}

// anchored returns expr anchored at the beginning of the text.
func (l *lazyRegexp) anchored(expr string) *regexp.Regexp {
	if re := l.p.Load(); re != nil {
		return re
	}
	return l.get(`\A(?:` + expr + `)`)
}

// planned returns the expression that the rule's plan tries, anchored.
func (u *rule) planned() string {
	if u.plan == planTail {
		return u.tail
	}
	return u.expr
}

const (
	// slack is added to a rule's reach to include the bytes that end a match.
	slack = 8
	// maxWindow limits the bytes examined to determine how far a match can reach.
	maxWindow = 2048
	// minBudget is the minimum budget of attempts besides the length of the text.
	minBudget = 1 << 14
)

// matches lists the matches of rule i in text, equal to FindAllIndex of its expression. sc
// has the positions of the literals.
//
// The results are equal because a match begins (planStart) or has its identifier (planTail)
// where one of the starts fits, and the rest of the expression does not depend on the text
// before that position except for \b, which fits tests. So the leftmost match is at the
// first start where the anchored expression matches. The run before an identifier is lazy:
// from its leftmost possible start it extends to the first identifier where the rest
// matches.
func (r *finder) matches(i int, text []byte, sc *scratch) [][]int {
	rule, p := &rules[i], &r.patterns[i]
	if rule.plan == planFull || sc.odd {
		return r.fullOf(i).FindAllIndex(text, -1)
	}
	var seekers [2]seeker
	if rule.plan != planEither {
		seekers[0].init(rule, p, text, sc)
		seekers[0].tries.lazy = &p.anchored[0]
	}
	for k := range rule.either {
		seekers[k].init(&rule.either[k], p, text, sc)
		seekers[k].tries.lazy = &p.anchored[k]
		seekers[k].left = slices.Clone(seekers[k].left) // the list is reused
	}
	var found [][]int
	for end := 0; ; {
		if r.isStopped() {
			return nil
		}
		seekers[0].seek(end)
		seekers[1].seek(end)
		if seekers[0].spent || seekers[1].spent {
			return r.fullOf(i).FindAllIndex(text, -1)
		}
		// The leftmost match wins; at the same position that of the first alternative.
		best := &seekers[0]
		if s := &seekers[1]; s.some && (!best.some || s.found.begin < best.found.begin) {
			best = s
		}
		if !best.some {
			return found
		}
		end = best.found.end
		found = append(found, []int{best.found.begin, end})
	}
}

// window returns the part of text that the rule's anchored match can reach, or false if
// that is unknown without matching.
func (u *rule) window(text []byte) ([]byte, bool) {
	if u.reach > 0 {
		return text[:min(len(text), u.reach+slack)], true
	}
	if u.follow == nil {
		return text, false
	}
	// After the gap all bytes are in body, except for a few at the end.
	gap, body := &byteClasses[u.follow.gap], &byteClasses[u.follow.body]
	i := 0
	for i < len(text) && gap.has(text[i]) && i <= u.follow.maxGap {
		i++
	}
	for i < len(text) && body.has(text[i]) {
		if i++; i > maxWindow {
			return text, false
		}
	}
	return text[:min(len(text), i+slack)], true
}

// follows reports whether one of the endings can belong to a match that begins at index at.
func (t *then) follows(at int, ends []int, text []byte, sc *scratch) bool {
	k, _ := slices.BinarySearch(ends, at)
	if k == len(ends) {
		return false
	}
	if t.breaks < 0 {
		return true
	}
	if !sc.counted {
		sc.breaks, sc.counted = lineBreaks(sc.breaks[:0], text), true
	}
	first, _ := slices.BinarySearch(sc.breaks, at)
	last, _ := slices.BinarySearch(sc.breaks, ends[k])
	return last-first <= t.breaks
}

// places lists, in order, the positions where one of the starts fits. The list is valid
// until the next call.
func places(starts []start, sc *scratch, fits func(at int, s *start) bool) []int {
	list, lists := sc.starts[:0], 0
	for k := range starts {
		s := &starts[k]
		before := len(list)
		for _, place := range sc.places[s.lit] {
			if at := place - int(s.off); at >= 0 && fits(at, s) {
				list = append(list, at)
			}
		}
		if len(list) > before {
			lists++
		}
	}
	if lists > 1 {
		slices.Sort(list)
		list = slices.Compact(list)
	}
	sc.starts = list
	return list
}

// fits reports whether a match can begin at index at with the start s.
func (u *rule) fits(text []byte, at int, s *start) bool {
	if u.boundary && at > 0 && chars.IsWord(text[at-1]) {
		return false
	}
	return s.fits(text, at) && (u.follow == nil || u.follow.fits(text[at:]))
}

// fits reports whether the bytes of text from at on are in the classes of s.
func (s *start) fits(text []byte, at int) bool {
	if len(text)-at < len(s.classes) {
		return false
	}
	for k := range len(s.classes) {
		if !byteClasses[s.classes[k]].has(text[at+k]) {
			return false
		}
	}
	return true
}

// fits reports whether the required gap, operator and secret can follow the beginning of
// text.
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

// submatch is FindSubmatchIndex of rule i's expression on the text of a match alone. odd
// means that the plan must not be used.
func (r *finder) submatch(i int, m []byte, odd bool) []int {
	rule := &rules[i]
	if rule.plan == planFull || rule.plan == planEither || odd {
		return r.fullOf(i).FindSubmatchIndex(m)
	}
	for at := range m {
		for k := range rule.starts {
			if !rule.fits(m, at, &rule.starts[k]) {
				continue
			}
			w, _ := rule.window(m[at:])
			loc := r.patterns[i].anchored[0].anchored(rule.planned()).FindSubmatchIndex(w)
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
