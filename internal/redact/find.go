package redact

import (
	"bytes"
	"cmp"
	"index/suffixarray"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/redact/chars"
	"github.com/seed-3aff656d/entire/internal/redact/ownrules"
)

// shortestText is less than the length of any secret with its required surroundings.
const shortestText = 8

// hit is a finding with the data needed to choose among findings.
type hit struct {
	Finding
	rule int
	line int
}

// find lists the secrets in text by position: those of all rules, or, if only is not nil,
// those of gitleaks' rules in only.
func (r *finder) find(text []byte, only *ruleSet) []Finding {
	if len(text) < shortestText {
		return nil
	}
	sc := r.scratch.Get().(*scratch) //nolint:errcheck // the pool holds nothing else
	defer r.release(sc)
	active := r.activeIn(text, sc)
	if only != nil {
		active.and(only)
	}
	if only == nil {
		own := r.ownFindings(text, sc)
		for _, s := range ownrules.Phrases(text) {
			own = append(own, ownFinding(ownrules.RulePhrase, text, spanOf(s)))
		}
		known := r.values()
		if known != nil {
			own = append(own, known.find(text)...)
		}
		own = append(own, r.memory.find(text, known)...)
		listed := slices.DeleteFunc(r.listed(&active, text, sc), func(f Finding) bool { return isNamed(&f, text) })
		return joined(listed, own)
	}
	return r.listed(&active, text, sc)
}

// isNamed reports whether a finding that is only suspect because of a word before it is a name in
// code, an id or a digest.
func isNamed(f *Finding, text []byte) bool {
	if f.Rule != "generic-api-key" && f.Rule != "twitter-api-key" {
		return false
	}
	quoted := f.Start > 0 && chars.IsQuote(text[f.Start-1])
	return ownrules.IsName([]byte(f.Secret), quoted) || ownrules.IsNamedID(text, f.Start) || ownrules.IsDigest(text, f.Start)
}

// joined merges both lists by position and drops findings within another one.
func joined(listed, own []Finding) []Finding {
	if len(own) == 0 {
		return listed
	}
	all := slices.Concat(listed, own)
	slices.SortStableFunc(all, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(y.End, x.End))
	})
	kept, end := all[:0], -1
	for _, f := range all {
		if f.End > end {
			kept, end = append(kept, f), f.End
		}
	}
	return kept
}

// listed lists the findings of gitleaks' rules in active in the scanned text.
func (r *finder) listed(active *ruleSet, text []byte, sc *scratch) []Finding {
	if *active == (ruleSet{}) {
		return nil
	}
	var hits []hit
	var lines lines
	for i := range active.all {
		for _, m := range r.matches(i, text, sc) {
			if r.isStopped() {
				return nil
			}
			if lines.text == nil {
				lines.text = text
				lines.breaks = lineBreaks(nil, text)
			}
			if h, ok := r.judge(i, m, &lines, sc.odd); ok {
				hits = append(hits, h)
			}
		}
	}
	if len(hits) == 0 {
		return nil
	}
	// Drop findings of generic rules that are part of another rule's secret on the same
	// line.
	specific := make(map[int]*secretIndex) // by line
	for _, h := range hits {
		if rules[h.rule].generic {
			continue
		}
		if specific[h.line] == nil {
			specific[h.line] = new(secretIndex)
		}
		index := specific[h.line]
		index.joined = append(append(index.joined, h.Secret...), secretEnd)
	}
	found := make([]Finding, 0, len(hits))
	for _, h := range hits {
		if rules[h.rule].generic && specific[h.line].contains(h.Secret) {
			continue
		}
		found = append(found, h.Finding)
	}
	slices.SortStableFunc(found, func(x, y Finding) int {
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(x.End, y.End))
	})
	return found
}

// activeIn scans text and returns the rules with a keyword in it.
func (r *finder) activeIn(text []byte, sc *scratch) ruleSet {
	a := r.automaton()
	a.scan(text, sc)
	if !sc.lower {
		return a.active(sc)
	}
	lowered := r.scratch.Get().(*scratch) //nolint:errcheck // the pool holds nothing else
	defer r.release(lowered)
	a.scan(bytes.ToLower(text), lowered)
	return a.active(lowered)
}

// judge turns a match of rule i into a hit, unless the secret's entropy is too low or an
// allowlist allows it.
func (r *finder) judge(i int, m []int, l *lines, odd bool) (hit, bool) {
	rule := &rules[i]
	whole := l.text[m[0]:m[1]]
	match := bytes.Trim(whole, "\n")
	from := m[0] + len(whole) - len(bytes.TrimLeft(whole, "\n"))
	begin, end := 0, len(match)
	if groups := r.submatch(i, match, odd); len(groups) > 2 {
		if rule.group > 0 {
			begin, end = groups[2*rule.group], groups[2*rule.group+1]
		} else {
			for k := 2; k < len(groups); k += 2 {
				if groups[k] < groups[k+1] {
					begin, end = groups[k], groups[k+1]
					break
				}
			}
		}
	}
	if begin < 0 {
		begin, end = 0, 0
	}
	secret := match[begin:end]
	if rule.entropy != 0 && chars.Entropy(secret) <= rule.entropy {
		return hit{}, false
	}
	where := l.locate(m[0], m[0]+len(match))
	line := l.text[where.begin:where.end]
	f := candidate{secret: secret, match: match, line: line, where: where}
	if r.isAllowed(0, &f, l) {
		return hit{}, false
	}
	for _, a := range rule.allow {
		if r.isAllowed(int(a), &f, l) {
			return hit{}, false
		}
	}
	return hit{
		Finding: Finding{Rule: rule.id, Secret: string(secret), Start: from + begin, End: from + end},
		rule:    i, line: where.line,
	}, true
}

// secretIndex determines whether a string is part of one of many secrets, in time nearly
// independent of their number.
type secretIndex struct {
	joined []byte
	index  *suffixarray.Index
}

// secretEnd ends each secret in an index. It is not part of valid UTF-8.
const secretEnd = 0xff

// contains reports whether s is part of one of the secrets. x may be nil.
func (x *secretIndex) contains(s string) bool {
	if x == nil {
		return false
	}
	if strings.IndexByte(s, secretEnd) >= 0 {
		return false // keeps the generic finding, too
	}
	if x.index == nil {
		x.index = suffixarray.New(x.joined)
	}
	return s == "" || len(x.index.Lookup([]byte(s), 1)) > 0
}

// ownFindings lists the matches of our own rules in the scanned text.
func (r *finder) ownFindings(text []byte, sc *scratch) []Finding {
	a := r.automaton()
	var found []Finding
	for _, id := range sc.touched {
		if a.own[id] == 0 {
			continue
		}
		rule := &ownrules.Rules[a.own[id]-1]
		length := len(a.text[id])
		var last ownrules.Span
		for n, at := range sc.places[id] {
			if n%256 == 255 && r.isStopped() {
				return nil
			}
			if last.Begin <= at && at+length <= last.End {
				continue // part of the last finding
			}
			s := rule.Match(text, at, at+length)
			if s.End <= s.Begin || s.Begin == last.Begin && last.End > 0 {
				continue
			}
			last = s
			found = append(found, Finding{
				Rule: rule.ID, Secret: string(text[s.Begin:s.End]), Start: s.Begin, End: s.End,
			})
		}
	}
	return found
}
