package main

import (
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/zricethezav/gitleaks/v8/config"
)

const (
	runExpr  = `[\w.-]{0,50}?`
	operExpr = `(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)`
	maxRun   = 50
)

// entry is a rule as it is written to the table.
type entry struct {
	config.Rule
	plan, tail    string
	lead, reach   int
	boundary      bool
	generic       bool
	known         bool
	starts        []startEntry
	follow        *followEntry
	allow         []int
	keywordsFixed []string
}

type startEntry struct {
	literal string
	off     int
	classes []class
}

type followEntry struct {
	gap, oper, fill, secret class
	maxGap, maxFill         int
	minSecret               int
}

// planned works out how to find the matches of a rule.
func planned(r config.Rule) entry {
	e := entry{Rule: r, plan: "planFull", generic: strings.Contains(strings.ToLower(r.RuleID), "generic")}
	expr, whole := r.Regex.String(), parse(r.Regex.String())
	if anchored(whole) {
		return e
	}
	tail, runs := cutRuns(expr)
	if runs > 0 && topLevelTail(whole, tail, runs) {
		starts, ok := startsOf(parse(tail))
		if ok && leading(parse(tail)) == edgeNone {
			e.plan, e.tail, e.lead, e.starts = "planTail", tail, runs*maxRun, starts
			e.reach = reachOf(parse(tail))
			e.follow = followOf(tail)
		}
		return e
	}
	edge := leading(whole)
	starts, ok := startsOf(whole)
	if !ok || edge == edgeOther {
		return e
	}
	if edge == edgeWord {
		e.boundary = true
		for _, s := range starts {
			if word, _ := union(parse(`\w`)); s.classes[0].union(word) != word {
				return e // a boundary before a byte that is in no word
			}
		}
	}
	e.plan, e.starts, e.reach = "planStart", starts, reachOf(whole)
	e.known = knownAlone(e)
	return e
}

// knownAlone reports whether the pattern itself tells a secret, so that it may
// be looked for in paths too.
func knownAlone(e entry) bool {
	if e.RuleID == "jwt" {
		return true
	}
	for _, s := range e.starts {
		if len(s.literal) < 3 {
			return false
		}
	}
	return true
}

func parse(expr string) *syntax.Regexp {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		panic(err)
	}
	return re
}

// cutRuns takes the lazy runs of word characters off the front of expr.
func cutRuns(expr string) (tail string, runs int) {
	if t, ok := strings.CutPrefix(expr, "(?i)"+runExpr); ok {
		return "(?i)" + t, 1
	}
	if t, ok := strings.CutPrefix(expr, runExpr+"(?i:"+runExpr); ok {
		return "(?i:" + t, 2
	}
	return expr, 0
}

// topLevelTail reports whether whole is exactly the runs followed by tail.
func topLevelTail(whole *syntax.Regexp, tail string, runs int) bool {
	if whole.Op != syntax.OpConcat {
		return false
	}
	t := parse(tail)
	if t.Op != syntax.OpConcat {
		return false
	}
	subs := whole.Sub
	for range runs {
		if subs[0].Op == syntax.OpConcat { // the run inside (?i: is in a group of its own
			return false
		}
		if !isRun(subs[0]) {
			return false
		}
		subs = subs[1:]
	}
	if len(subs) != len(t.Sub) {
		return false
	}
	for i := range subs {
		if !subs[i].Equal(t.Sub[i]) {
			return false
		}
	}
	return true
}

func isRun(re *syntax.Regexp) bool {
	if re.Op != syntax.OpRepeat || re.Min != 0 || re.Max != maxRun || re.Flags&syntax.NonGreedy == 0 {
		return false
	}
	got, ok := union(re.Sub[0])
	want, _ := union(parse(`[\w.-]`))
	return ok && got == want && re.Sub[0].Op == syntax.OpCharClass
}

// startsOf turns the sequences of re into starts; false if one has no literal
// to look for.
func startsOf(re *syntax.Regexp) ([]startEntry, bool) {
	var starts []startEntry
	for _, s := range sequences(re) {
		lit, off := s.literal()
		if len(lit) < 2 {
			return nil, false
		}
		classes := s.classes[:min(len(s.classes), maxPositions)]
		starts = append(starts, startEntry{lit, off, classes})
	}
	return starts, len(starts) > 0
}

func reachOf(re *syntax.Regexp) int {
	_, longest := lengths(re)
	return max(longest, 0)
}

// followOf works out what must follow the identifier of an assignment.
func followOf(tail string) *followEntry {
	before, after, ok := strings.Cut(tail, operExpr)
	if !ok {
		return nil
	}
	gap, ok := union(parse(before))
	oper, _ := union(parse(`[=>:|?,]`))
	if !ok || gap.meets(oper) {
		return nil
	}
	fold := ""
	if strings.HasPrefix(tail, "(?i)") {
		fold = "(?i)"
	}
	rest := parse(fold + after)
	if rest.Op != syntax.OpConcat || rest.Sub[1].Op != syntax.OpCapture {
		return nil
	}
	f := &followEntry{gap: gap, oper: oper}
	_, f.maxGap = lengths(parse(before))
	fill, ok := union(rest.Sub[0])
	if !ok {
		return nil
	}
	_, longest := lengths(rest.Sub[0])
	_, operLongest := lengths(parse(operExpr))
	f.fill, f.maxFill = fill.union(oper), longest+operLongest-1
	f.secret, ok = union(rest.Sub[1])
	if !ok || f.maxGap < 0 || longest < 0 {
		return nil
	}
	f.minSecret, _ = lengths(rest.Sub[1])
	return f
}

// fires reports whether a rule can find anything in a text that has no path.
func fires(r config.Rule) bool {
	return r.Regex != nil && (r.Path == nil || r.Path.MatchString("")) && !r.SkipReport
}

// joined is the one expression that gitleaks makes of an allowlist's. Flags in
// one of them reach into those after it.
func joined(exprs []*regexp.Regexp) string {
	parts := make([]string, len(exprs))
	for i, e := range exprs {
		parts[i] = e.String()
	}
	return "(?:" + strings.Join(parts, "|") + ")"
}
