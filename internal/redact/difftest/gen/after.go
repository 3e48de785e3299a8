package main

import (
	"regexp/syntax"
	"strings"
)

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
	if _, after := lengths(&syntax.Regexp{Op: syntax.OpConcat, Sub: rest.Sub[2:]}); after < 0 || after > maxAfter {
		return nil
	}
	return f
}

// thenOf works out what must come at the end of a match, if anything can be in
// the middle of it.
func thenOf(whole *syntax.Regexp) *thenEntry {
	if whole.Op != syntax.OpConcat || reachOf(whole) > 0 {
		return nil
	}
	for i, sub := range whole.Sub {
		if _, plain := union(sub); plain {
			continue
		}
		end := &syntax.Regexp{Op: syntax.OpConcat, Sub: whole.Sub[i+1:], Flags: syntax.Perl}
		starts, ok := startsOf(end)
		if !ok || leading(end) != edgeNone {
			return nil
		}
		before := &syntax.Regexp{Op: syntax.OpConcat, Sub: whole.Sub[:i+1]}
		return &thenEntry{end.String(), starts, breaks(before)}
	}
	return nil
}

// breaks is how many line breaks re can match at most, -1 for no limit.
func breaks(re *syntax.Regexp) int {
	one := func() int {
		if len(re.Sub) == 0 {
			return 0
		}
		return breaks(re.Sub[0])
	}
	switch re.Op {
	case syntax.OpLiteral:
		return strings.Count(string(re.Rune), "\n")
	case syntax.OpAnyChar:
		return 1
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			if re.Rune[i] <= '\n' && '\n' <= re.Rune[i+1] {
				return 1
			}
		}
		return 0
	case syntax.OpStar, syntax.OpPlus:
		return min(0, -one())
	case syntax.OpRepeat:
		if one() == 0 {
			return 0
		}
		return times(one(), re.Max)
	case syntax.OpAlternate, syntax.OpQuest:
		most := 0
		for _, sub := range re.Sub {
			n := breaks(sub)
			if n < 0 {
				return -1
			}
			most = max(most, n)
		}
		return most
	}
	sum := 0
	for _, sub := range re.Sub {
		sum = plus(sum, breaks(sub))
	}
	return sum
}
