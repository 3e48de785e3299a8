package digest_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/digest"
)

// shown returns the kinds and texts of facts.
func shown(facts []recall.Fact) []string {
	var list []string
	for _, f := range facts {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s: %s %s", f.Kind, f.Text, f.Why)))
	}
	return list
}

func factsOf(t *testing.T, lines []string) []recall.Fact {
	t.Helper()
	return digestOf(t, lines).Analysis(digest.Sources{Root: "/w"}).Facts
}

// kinds are the kinds of facts in a list, separated by spaces.
func kinds(facts []recall.Fact) string {
	var list []string
	for _, f := range facts {
		list = append(list, string(f.Kind))
	}
	return strings.Join(list, " ")
}

func TestSentencesOfThePerson(t *testing.T) {
	t.Parallel()
	for sentence, want := range map[string]string{
		// choices between alternatives
		"no, use RS256 for the tokens":                                           "decision",
		"ok, let's call it \"lease\" instead.":                                   "decision",
		"let's set the limit to 20 then since a page has 20 rows":                "decision",
		"keep reading the old column, but write only the new one":                "decision",
		"yes, this should still be a warning":                                    "decision",
		"yeah let's do prefixes only":                                            "decision",
		"okay, let's try the socket approach (it is in the standard library)":    "decision",
		"I'd go with B, it needs no migration":                                   "decision",
		"I think we should split the two types for clarity.":                     "decision",
		"on a restart it should go straight to idle, we should not reuse the id": "",
		"when a lease ends, we should go straight to idle, not to a new state":   "decision",
		"We should not show \"users\" there, but instead \"members\"":            "decision",
		"the timeout must be read from the settings, 5 seconds by default":       "decision",
		"we don't need the second cache":                                         "decision",
		"I've dropped your last change - focus only on the parser and its tests": "decision",
		"use UTC rather than local time for the file's name":                     "decision",
		"let's go with the third one, and leave the parser as it is":             "decision",

		// instructions that hold
		"always run the linter before you say that it's done": "rule",
		"from now on write the tests first":                   "rule",
		"we use pnpm in this workspace, not npm":              "rule",
		"please never commit to main":                         "rule",
		"prefer table tests over single ones":                 "rule",
		"stop adding comments that repeat the code":           "rule",
		"don't do that again without asking me":               "rule",
		"make sure you always regenerate the client":          "rule",
		"remember to update the changelog":                    "rule",
		"keep each commit with working code please":           "rule",

		// requests, complaints, questions and thoughts
		"fix the tests":                                       "",
		"fix the tests and commit all of it":                  "",
		"can you keep the old name instead?":                  "",
		"could we use a map rather than a list":               "",
		"why did you put it there instead of in the store":    "",
		"I don't quite like that it hides the output":         "",
		"it still shows the old title instead of the new one": "",
		"no, I did not say commit anything":                   "",
		"don't commit it yet":                                 "",
		"yes, but we don't need to commit":                    "",
		"maybe we should not store it at all":                 "",
		"wondering if a list would be enough, not sure":       "",
		"Wrapping this error (e.g. \"open the file\") would make it clearer and keep the reports consistent.": "",
		"it is in the middle since the handler returns early and never reaches the default.":                  "",
		"the hook never actually worked":                "",
		"let's start with suggestions 1-4 first":        "",
		"let's commit it and push":                      "",
		"let's create a branch for it":                  "",
		"keep going until they pass":                    "",
		"let me know when it is ready":                  "",
		"add a button that always shows the total":      "",
		"look at the logs, not at the code":             "",
		"wir sollten lieber die alte Spalte behalten":   "",
		"utilise plutôt le cache du store, pas la base": "",
		"ログは消さずに残しておいてください、お願いします":                      "",
	} {
		facts := factsOf(t, all(asked("please add a token refresh"), said("I looked at it."), asked(sentence)))
		if got := kinds(facts); got != want {
			t.Errorf("%q: %q, not %q", sentence, got, want)
		}
	}
}

// In the first prompt a choice is a part of the task, unless it names both alternatives.
func TestFirstPrompt(t *testing.T) {
	t.Parallel()
	for prompt, want := range map[string]string{
		"let's use the new client in the exporter":                              "",
		"let's use the new client in the exporter instead of the generated one": "decision",
		"Never write to stdout. Add a flag for the format.":                     "rule",
	} {
		if got := kinds(factsOf(t, all(asked(prompt)))); got != want {
			t.Errorf("%q: %q, not %q", prompt, got, want)
		}
	}
}

func TestSentencesOfTheAgent(t *testing.T) {
	t.Parallel()
	for sentence, want := range map[string]string{
		"I put the lock into the store rather than into each handler because two handlers share it.":   "decision: I put the lock into the store rather than into each handler because two handlers share it.",
		"The loader now reads the index instead of the directory, so a missing file is found at once.": "decision: The loader now reads the index instead of the directory so a missing file is found at once.",
		"Instead of changing the shared type, I'll use a check at run time.":                           "decision: Instead of changing the shared type, I'll use a check at run time.",
		"I went with a sorted map. That way the order doesn't matter.":                                 "decision: I went with a sorted map. That way the order doesn't matter.",
		"I intentionally left the old flag in, so scripts keep working.":                               "decision: I intentionally left the old flag in so scripts keep working.",
		"Moved the check into the parser to avoid a second pass over the file instead of caching it.":  "decision: Moved the check into the parser to avoid a second pass over the file instead of caching it.",
		"I'll use the search tool instead of reading each file?":                                       "",
		"Let me run the unit tests instead of all tests.":                                              "",
		"The parser returns nil instead of an error because the file is empty.":                        "",
		"Now update the handlers to use the new type instead of the old one.":                          "",
		"The person chose to revert, but the history is kept.":                                         "",
		"We could use a list instead of a map, since it is short.":                                     "",
		"The list now shows names instead of ids.":                                                     "",
		"Suggests to log a warning instead of an error, so that the caller continues.":                 "",
		"The test failed because the hook was called twice instead of once, so the count is wrong.":    "",
	} {
		got := strings.Join(shown(factsOf(t, all(asked("please add a token refresh"), said(sentence)))), "; ")
		if got != want {
			t.Errorf("%q: %q", sentence, got)
		}
	}
}

func TestChoicesOfAPlan(t *testing.T) {
	t.Parallel()
	plan := "# Plan: leases\n\n## Context\nThe store returns nil instead of an error.\n\n## Design decisions (with the user)\n\n- **Format**: JSON lines (not CSV)\n  - details\n- No migration\n\n" +
		"## Decision criteria\n- speed\n\n## Steps\n1. Use `lease.go` instead of a new package.\n2. Run the tests\n\n## Out of scope\n- The web page\n- nothing\n\n## Verification\n- Use curl instead of the page.\n"
	facts := factsOf(t, all(asked("Implement the following plan:\n\n"+plan), edited("/w/lease.go")))
	want := []recall.Fact{
		{Kind: recall.Decision, By: recall.OfPlan, Text: "leases", Request: 1},
		{Kind: recall.Decision, By: recall.OfPlan, Text: "Format: JSON lines (not CSV)", Plan: "leases", Request: 1},
		{Kind: recall.Decision, By: recall.OfPlan, Text: "No migration", Plan: "leases", Request: 1},
		{Kind: recall.Decision, By: recall.OfPlan, Text: "out of scope: The web page", Plan: "leases", Request: 1},
		{Kind: recall.Decision, By: recall.OfPlan, Text: "Use `lease.go` instead of a new package.", Plan: "leases", Request: 1},
	}
	if diff := cmp.Diff(want, facts); diff != "" {
		t.Error(diff)
	}
}

// A decision has the files that it names, else those that are edited next within the request,
// else those that were edited before the report of it.
func TestFilesOfFacts(t *testing.T) {
	t.Parallel()
	facts := factsOf(t, all(
		asked("please add a token refresh"), read("/w/a.go"), read("/w/sub/b.go"), said("Done."),
		asked("keep the old name in b.go and in web/list.tsx"), edited("/w/a.go"), said("Done."),
		asked("ok, let's call it \"lease\" instead."), edited("/w/c.go"), edited("/w/a.go"), said("Done."),
		asked("look at the rest of it"), edited("/w/d.go"), said("I put the lock into the store rather than into each handler."),
		asked("and at the docs of it"), edited("/w/e.md"),
	))
	want := [][]string{{"sub/b.go", "web/list.tsx"}, {"c.go", "a.go"}, {"d.go"}}
	var got [][]string
	for _, f := range facts {
		got = append(got, f.Files)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A later statement replaces an earlier one about the same.
func TestReplacedFacts(t *testing.T) {
	t.Parallel()
	answer := func(id, text string) []string {
		return all(used(id, "AskUserQuestion", questions), done(id, "x", `{"answers":{"Which storage?":"`+text+`"}}`))
	}
	for name, test := range map[string]struct {
		lines []string
		want  []string
	}{
		"said twice":      {all(asked("always run the linter before a commit"), said("Ok."), asked("please always run the linter before a commit!")), []string{"rule: please always run the linter before a commit!"}},
		"reversed":        {all(asked("use refs instead of files for the leases"), said("Ok."), asked("no, use files instead of refs for the leases")), []string{"decision: no, use files instead of refs for the leases"}},
		"another subject": {all(asked("use refs instead of files for the leases"), said("Ok."), asked("use UTC instead of local time")), []string{"decision: use refs instead of files for the leases", "decision: use UTC instead of local time"}},
		"answered again":  {all(answer("q", "Git refs"), answer("r", "A file")), []string{"decision: Which storage? -> A file"}},
		"asked back":      {answer("q", "what else could we use?"), nil},
	} {
		if diff := cmp.Diff(test.want, shown(factsOf(t, test.lines))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	facts := factsOf(t, all(asked("always run the linter before a commit"), said("Ok."), asked("always run the linter before a commit, please")))
	if len(facts) != 1 || facts[0].Times != 2 || facts[0].Request != 2 {
		t.Errorf("%+v", facts)
	}
}

// The alternatives of the agent's question are a decision with the person's reply.
func TestChosenAlternatives(t *testing.T) {
	t.Parallel()
	offer := said("There are two options:\n1. keep the file\n2. write a ref\n\nWhich option do you prefer?")
	for reply, want := range map[string][]string{
		"option 2":        {"decision: option 2 -> 2. write a ref"},
		"2":               {"decision: 2 -> 2. write a ref"},
		"go on":           nil,
		"2 first, please": nil,
	} {
		if diff := cmp.Diff(want, shown(factsOf(t, all(asked("please add a token refresh"), offer, asked(reply))))); diff != "" {
			t.Errorf("%q: %s", reply, diff)
		}
	}
	suggestions := said("I suggest:\n1. add a test\n2. add docs\n\nShall I go on?")
	if facts := factsOf(t, all(asked("please add a token refresh"), suggestions, asked("do 1 please"))); len(facts) > 0 {
		t.Errorf("%+v", facts)
	}
}

// A rule that was given with a refusal is about the refused call.
func TestRulesOfRefusals(t *testing.T) {
	t.Parallel()
	const refused = "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\n"
	facts := factsOf(t, all(
		asked("please add a token refresh"),
		used("b", "Bash", `{"command":"make test-all"}`), failed("b", refused+"don't run all the tests, they are too slow."),
		used("e", "Edit", `{"file_path":"/w/gen/a.go"}`), failed("e", refused+"never edit generated files"),
		used("f", "Edit", `{"file_path":"/w/b.go"}`), failed("f", refused+"what is it for?"),
		ran("npm install left-pad", "added"), asked("we use pnpm here, not npm"),
	))
	want := []recall.Fact{
		{Kind: recall.Rule, By: recall.Person, Text: "don't run all the tests, they are too slow.", Command: "make test-all"},
		{Kind: recall.Rule, By: recall.Person, Text: "never edit generated files", Files: []string{"gen/a.go"}},
		{Kind: recall.Rule, By: recall.Person, Text: "we use pnpm here, not npm", Command: "npm install left-pad"},
	}
	if diff := cmp.Diff(want, facts, cmpopts.IgnoreFields(recall.Fact{}, "Request")); diff != "" {
		t.Error(diff)
	}
}

// Facts have the time of their line, and no secrets.
func TestFactsAreRedacted(t *testing.T) {
	t.Parallel()
	line := strings.Replace(asked("use the key AKIA"+"Q3EGRZT4WV7LMN2P instead of the old one"), `"uuid":"u"`, `"uuid":"u","timestamp":"2026-03-04T05:06:07.891Z"`, 1)
	want := []recall.Fact{{Kind: recall.Decision, By: recall.Person, Text: "use the key REDACTED instead of the old one", Request: 1, At: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}}
	if diff := cmp.Diff(want, factsOf(t, all(line))); diff != "" {
		t.Error(diff)
	}
}

// No kind of facts crowds out another, and the facts of a kind are the last ones.
func TestFactsAreBounded(t *testing.T) {
	t.Parallel()
	lines := all(asked("always run the linter before a commit"))
	for i := range 100 {
		long := strconv.Itoa(i) + strings.Repeat(fmt.Sprintf(" <w%d>", i), 60)
		lines = append(lines, all(asked("no, use "+long), edited(fmt.Sprintf("/w/%d/", i)+strings.Repeat("<&>/", 40)+"x.md"))...)
	}
	d := digestOf(t, lines)
	size := 0
	for _, f := range d.Facts {
		size += plain.JSONSize(f.Text)
	}
	last := d.Facts[len(d.Facts)-1].Text
	if d.Facts[0].Kind != recall.Rule || !strings.HasPrefix(last, "no, use 99") || len(d.Facts) < 4 || size > 7<<10 {
		t.Errorf("%d facts of %d bytes, from %s to %s", len(d.Facts), size, d.Facts[0].Text, last)
	}
}
