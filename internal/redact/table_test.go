package redact

import (
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// TestTable checks the properties of the generated table that the engine relies on.
func TestTable(t *testing.T) {
	t.Parallel()
	if !slices.IsSorted(literals[:]) {
		t.Error("literals are not sorted")
	}
	for i := range rules {
		u := &rules[i]
		if len(u.keywords) == 0 {
			t.Errorf("%s: no keywords", u.id)
		}
		if len(u.starts) == 0 && (u.plan == planStart || u.plan == planTail) || len(u.either) != 0 && len(u.either) != 2 {
			t.Errorf("%s: a plan without starts", u.id)
		}
		for _, s := range u.starts {
			lit := literals[s.lit]
			if int(s.off)+len(lit) > len(s.classes) {
				t.Errorf("%s: literal %q is not within the classes", u.id, lit)
			}
		}
	}
	for _, a := range allowlists {
		for i, w := range a.stopwords {
			if w != strings.ToLower(w) || i > 0 && a.stopwords[i-1] >= w {
				t.Errorf("stopword %q is out of order or not in lower case", w)
			}
			for _, o := range a.stopwords {
				if o != w && strings.Contains(w, o) {
					t.Errorf("stopword %q holds %q", w, o)
				}
			}
		}
	}
	states := len(newAutomaton().out)
	if states >= flagOut || states<<classBits > 1<<20 {
		t.Errorf("%d states", states)
	}
}

// TestPlans compiles every expression and checks that none matches a text shorter than
// shortestText: shorter texts are not searched.
func TestPlans(t *testing.T) {
	t.Parallel()
	r := New()
	for i := range rules {
		u := &rules[i]
		r.fullOf(i)
		r.patterns[i].anchored[0].anchored(u.planned())
		if u.then != nil {
			r.patterns[i].then.anchored(u.then.expr)
		}
		re, err := syntax.Parse(u.expr, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		if n := shortest(re); n < shortestText {
			t.Errorf("%s: may match %d bytes, texts below %d are not looked at", u.id, n, shortestText)
		}
	}
	for i := range allowlists {
		if expr := allowlists[i].expr; expr != "" {
			r.allowed[i].get(expr)
		}
	}
}

// shortest returns the minimum number of runes that re matches.
func shortest(re *syntax.Regexp) int {
	sum, least := 0, -1
	for _, sub := range re.Sub {
		n := shortest(sub)
		sum += n
		if least < 0 || n < least {
			least = n
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		return len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 1
	case syntax.OpQuest, syntax.OpStar:
		return 0
	case syntax.OpRepeat:
		return sum * re.Min
	case syntax.OpAlternate:
		return least
	default:
		return sum
	}
}
