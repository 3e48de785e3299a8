package attribution_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/strategy/attribution"
)

// TestChangedTokens checks the authors of lines that an agent and a person wrote and another session
// changed: a is an agent's line, p a person's, o the session's, and ? a line without a known author.
func TestChangedTokens(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before string // each line begins with its author
		after  string // each line begins with its expected author
	}{
		"wrapped":                       {"a f(one, two)\np g(three, four)", "a f(\na   one,\na   two,\na )\np g(three, four)"},
		"joined":                        {"a f(\na one,\na two\na )\np g", "a f(one, two)\np g"},
		"joined, most by the agent":     {"a value = f(one, two, three,\np four)\np g", "a value = f(one, two, three, four)\np g"},
		"joined, half by each":          {"a one =\np two + \np g", "? one = two +\np g"},
		"quotes":                        {"a x = 'it'\np y = 'b'", "a x = \"it\";\np y = \"b\";"},
		"a new word":                    {"a x = 'it'\np y = 'b'", "o x = \"its\"\np y = 'b'"},
		"a removed word":                {"a x = f(one, two)\np y = 'b'", "o x = f(one)\np y = 'b'"},
		"a removed end":                 {"a return x + 1\np y = 'b'", "o return x\np y = 'b'"},
		"a swapped order":               {"a x = f(one, two)\np y = 'b'", "o x = f(two, one)\np y = 'b'"},
		"an operator":                   {"a if x == one\np y = 'b'", "o if x != one\np y = 'b'"},
		"a stricter operator":           {"a if x == one\np y = 'b'", "o if x === one\np y = 'b'"},
		"a call":                        {"a x = one()\np y = 'b'", "o x = one\np y = 'b'"},
		"a string of a name":            {"a x = one\np y = 'b'", "o x = 'one'\np y = 'b'"},
		"a comment":                     {"a call(one)\np y = 'b'", "o // call(one)\np y = 'b'"},
		"wrapped, one word changed":     {"a f(one, two, three)\np g", "a f(\no   uno,\na   two,\na   three\na )\np g"},
		"wrapped, a line added":         {"a f(one, two)\np g", "a f(\na   one,\na   two\na )\no h = 1\np g"},
		"a line like its neighbour":     {"a f(one)\np g(one)", "a f(\na one\na )\no f(two)\np g(one)"},
		"imports in another order":      {"a import os\np import abc\na import re\np x = 1", "p import abc\na import os\na import re\np x = 1"},
		"imports in lines":              {"a import os, re\np import abc", "a import os\na import re\np import abc"},
		"imports together":              {"a from os import a\na from os import b\np import abc", "a from os import a, b\np import abc"},
		"imports of two authors":        {"a from os import a\np from os import b\np import abc", "? from os import a, b\np import abc"},
		"names of an import":            {"a from os import b, a\np import abc", "a from os import (\na   a,\na   b,\na )\np import abc"},
		"an import more":                {"a import os\np import abc", "p import abc\no import json\na import os"},
		"a name more":                   {"a from os import b\np import abc", "o from os import a, b\np import abc"},
		"a comment in two lines":        {"a // one two three four\np y = 'b'", "a // one two\na // three four\np y = 'b'"},
		"indentation that repeats":      {"a if a:\na   if b:\na     return x\np   if c:\np       return y\na   return x\np z", "a if a:\na     if b:\na         return x\np     if c:\np         return y\na     return x\np z"},
		"blank lines between":           {"a f('one')\na }\np g('two')\np }", "a f(\"one\")\na }\np \np g(\"two\")\np }"},
		"numbers":                       {"a x = 0XFF + 1.50\np y = .5", "a x = 0xff + 1.5\np y = 0.5"},
		"keys":                          {"a x = {'one': 1}\np y", "a x = { one: 1 }\np y"},
		"a rewritten file":              {"a x = one(1)\na y = two(2)\np z = three(3)", "o let a = f(b)\no if c { return }"},
		"a moved line in other quotes":  {"a call_something_long('one')\np x\np y", "p x\np y\na call_something_long(\"one\")"},
		"one statement becomes several": {"a if (one) two(); else three();\np g", "a if (one) {\na   two();\na } else {\na   three();\na }\np g"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var agents, all, want, final []string
			for line := range strings.SplitSeq(test.before, "\n") {
				if line[0] == 'a' {
					agents = append(agents, line[2:])
				}
				all = append(all, line[2:])
			}
			for line := range strings.SplitSeq(test.after, "\n") {
				want, final = append(want, line), append(final, line[2:])
			}
			content := func(lines []string) []byte { return []byte(strings.Join(lines, "\n") + "\n") }
			file := attribution.File{
				Final: content(final), Hunks: []git.Hunk{{New: 1, NewLines: len(final)}},
				States: []attribution.State{{By: agent, Content: content(agents)}, {Content: content(all)}, {By: "other", Content: content(final)}},
			}
			var got []string
			for _, l := range file.Attribute().Added {
				by := map[attribution.Author]string{agent: "a", attribution.Person: "p", "other": "o"}[l.By]
				if l.Unsure {
					by = "?"
				}
				got = append(got, by+" "+final[l.Number])
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("authors (-want +got):\n%s", diff)
			}
		})
	}
}

// TestFormattedTime checks that comparing tokens takes time in proportion to the lines.
func TestFormattedTime(t *testing.T) { //nolint:paralleltest // it measures processor time
	testkit.Long(t, "measures time")
	took := func(lines int) float64 {
		var before, after strings.Builder
		for i := range lines {
			fmt.Fprintf(&before, "value%d = call('text %d', other%d)\n", i%97, i%13, i%7)
			fmt.Fprintf(&after, "  value%d = call(\n    \"text %d\",\n    other%d\n  );\n", i%97, i%13, i%7)
			if i%10 == 0 {
				fmt.Fprintf(&after, "  added%d();\n", i%5)
			}
		}
		file := attribution.File{Final: []byte(after.String()), States: []attribution.State{{By: agent, Content: []byte(before.String())}}}
		return testkit.ProcessorTime(t, func() {
			if share := file.Shares()[agent]; 2*share.Kept < share.Added {
				t.Errorf("%+v", share)
			}
		}).Seconds()
	}
	small, large := took(1000), took(10_000)
	if large > 40*small+0.1 {
		t.Errorf("%.3f s for 1,000 lines, %.3f s for 10,000", small, large)
	}
	t.Logf("%.3f s for 1,000 lines, %.3f s for 10,000", small, large)
}
