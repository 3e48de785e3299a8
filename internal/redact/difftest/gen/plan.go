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
	maxAfter = 4 // bytes of a match after the secret
)

// entry is a rule as it is written to the table.
type entry struct {
	config.Rule
	plan, tail  string
	lead, reach int
	boundary    bool
	generic     bool
	known       bool
	starts      []startEntry
	follow      *followEntry
	then        *thenEntry
	either      []entry
	expr        string
	allow       []int
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

type thenEntry struct {
	expr   string
	starts []startEntry
	breaks int
}

// planned works out how to find the matches of a rule.
func planned(r config.Rule) entry {
	e := plannedExpr(r.Regex.String())
	if e.plan == "planFull" {
		for _, alternative := range alternatives(e.expr) {
			e.either = append(e.either, plannedExpr(alternative))
			if last := e.either[len(e.either)-1]; last.plan == "planFull" {
				e.either = nil
				break
			}
		}
	}
	if e.either != nil {
		e.plan = "planEither"
	}
	e.Rule, e.generic = r, strings.Contains(strings.ToLower(r.RuleID), "generic")
	e.known = e.plan == "planStart" && (e.RuleID == "jwt" || e.longLiterals())
	return e
}

// alternatives splits an expression that is an alternation of two.
func alternatives(expr string) []string {
	whole := parse(expr)
	if whole.Op != syntax.OpAlternate || len(whole.Sub) != 2 {
		return nil
	}
	fold := ""
	if strings.HasPrefix(expr, "(?i)") {
		fold = "(?i)" // it holds for what comes after a bar too
	}
	for i, c := range expr {
		if c != '|' {
			continue
		}
		parts := []string{expr[:i], fold + expr[i+1:]}
		first, err := syntax.Parse(parts[0], syntax.Perl)
		if err != nil || !first.Equal(whole.Sub[0]) {
			continue
		}
		second, err := syntax.Parse(parts[1], syntax.Perl)
		if err != nil || second.String() != whole.Sub[1].String() {
			continue
		}
		return parts
	}
	return nil
}

func plannedExpr(expr string) entry {
	e := entry{plan: "planFull", expr: expr}
	whole := parse(expr)
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
	e.then = thenOf(whole)
	return e
}

// longLiterals reports whether the pattern itself identifies a secret, so that it
// may be looked for in paths too.
func (e entry) longLiterals() bool {
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
