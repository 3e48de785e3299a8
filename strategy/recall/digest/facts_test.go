package digest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/internal/redact"
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
		"I'd go with the file, it needs no migration":                            "decision",
		"I think we should split the two types for clarity.":                     "decision",
		"on a restart it should go straight to idle, we should not reuse the id": "",
		"when a lease ends, we should go straight to idle, not to a new state":   "decision",
		"We should not show \"users\" there, but instead \"members\"":            "decision",
		"the timeout must be read from the settings, 5 seconds by default":       "decision",
		"we don't need the second cache":                                         "decision",
		"I've dropped your last change - focus only on the parser and its tests": "decision",
		"use UTC rather than local time for the file's name":                     "decision",
		"let's go with the third one, and leave the parser as it is":             "decision",

		"list items should appear as \"Item\", not just \"I\"": "decision",
		"do not fall back to the old name, print a warning":    "decision",
		"defer the locking until we have a second writer":      "decision",
		"let's put it in the store":                            "decision",
		"I want to have it on by default":                      "decision",
		"I would replace the variable with a setting":          "decision",

		// instructions that hold
		"please use the spelling of the other pages":          "rule",
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
		"let's keep it simple for now":                        "",
		"yes, let's go with A":                                "",
		"let's not worry about it":                            "",
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
	letters := said("When should it be written?\n\n| Option | About |\n|---|---|\n| **A. At a commit (recommended)** | once |\n| **B. At each stop** | often |\n\nWhich do you prefer?")
	for reply, want := range map[string][]string{
		"A.": {"decision: A. -> A. At a commit"},
		"I think B, nested in the options - it leaves room for more. please use the British spelling": {
			"decision: I think B, nested in the options - it leaves room for more. -> B. At each stop", "rule: please use the British spelling",
		},
		"yes, let's go with A because it is cheap": {"decision: yes, let's go with A -> A. At a commit because it is cheap"},
		"a new option would be better, I guess":    nil,
		"C, or what else is there":                 nil,
		"A) the store\nB) the page":                nil,
	} {
		if diff := cmp.Diff(want, shown(factsOf(t, all(asked("please add a token refresh"), letters, asked(reply))))); diff != "" {
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
		used("g", "mcp__tracker__create", `{"title":"x"}`), failed("g", refused+"don't create issues, I do that"),
		ran("npm install left-pad", "added"), asked("we use pnpm here, not npm"),
	))
	want := []recall.Fact{
		{Kind: recall.Rule, By: recall.Person, Text: "don't run all the tests, they are too slow.", Command: "make test-all"},
		{Kind: recall.Rule, By: recall.Person, Text: "never edit generated files", Files: []string{"gen/a.go"}},
		{Kind: recall.Rule, By: recall.Person, Text: "don't create issues, I do that"},
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

// What was tried and given up: an edit that is taken back, by the agent, with git, or by the
// person, and an approach that the agent drops.
func TestAttempts(t *testing.T) {
	t.Parallel()
	edit := func(id, before, after string) []string {
		return all(used(id, "Edit", fmt.Sprintf(`{"file_path":"/w/a.go","old_string":%s,"new_string":%s}`, quote(before), quote(after))), done(id, "ok", `{}`))
	}
	const before, after = "func load(path string) error", "func load(ctx context.Context, path string) error"
	first := all(asked("please add a token refresh"), said("The loader has no deadline. Let me pass the context to the loader:"), edit("e", before, after))
	tried := recall.Fact{Kind: recall.Attempt, By: recall.OfAgent, Text: "The loader has no deadline. Let me pass the context to the loader:", Files: []string{"a.go"}, Request: 1}
	with := func(f recall.Fact, change func(*recall.Fact)) []recall.Fact {
		change(&f)
		return []recall.Fact{f}
	}
	for name, test := range map[string]struct {
		lines []string
		want  []recall.Fact
	}{
		"an edit, and another one": {all(first, edit("f", after, after+" // done")), nil},
		"an edit that is taken back": {
			all(first, said("The callers have no context. Let me revert that:"), edit("f", after, before)),
			with(tried, func(f *recall.Fact) { f.Why = "The callers have no context. Let me revert that:" }),
		},
		"taken back without a word about it":  {all(first, said("Next, the callers of it in the store."), edit("f", after, before)), with(tried, func(*recall.Fact) {})},
		"lines for debugging":                 {all(first, said("Let me remove the debug output:"), edit("f", after, before)), nil},
		"the same edit again, and taken back": {all(first, said("Back to the former one:"), edit("f", after, before), edit("g", before, after)), with(tried, func(f *recall.Fact) { f.Why = "Back to the former one:" })},
		"another file":                        {all(first, used("f", "Edit", fmt.Sprintf(`{"file_path":"/w/b.go","old_string":%s,"new_string":%s}`, quote(after), quote(before))), done("f", "ok", `{}`)), nil},
		"restored with git": {
			all(first, said("That breaks the callers."), ran("git checkout -- a.go", "")),
			with(tried, func(f *recall.Fact) {
				f.Text, f.Why, f.Command = "pass the context to the loader", "That breaks the callers.", "git checkout -- a.go"
			}),
		},
		"restored after a commit": {all(first, ran("git commit -am x", "[main abc1234] x"), ran("git checkout -- a.go", "")), nil},
		"restored, if git has it": {all(first, ran("git checkout a.go || true", "")), nil},
		"another branch":          {all(first, ran("git checkout -b a.go", "")), nil},
		"another approach": {
			all(first, said("The callers have no context. Let me take a different approach and set a deadline."), edit("f", "timeout time.Duration // of all", "deadline time.Time // of all of it")),
			with(tried, func(f *recall.Fact) {
				f.Why = "The callers have no context. Let me take a different approach and set a deadline."
			}),
		},
		"another approach to editing":  {all(first, said("The text doesn't match. Let me take a different approach with a unique one.")), nil},
		"an approach without a change": {all(asked("please add a token refresh"), said("Let me look."), said("Let me take a different approach.")), nil},
		"the person takes it back": {
			all(first, said("Done."), asked("no, undo that. The callers must not change.")),
			[]recall.Fact{
				{Kind: recall.Attempt, By: recall.Person, Text: "no, undo that.", Files: []string{"a.go"}, Request: 2},
				{Kind: recall.Decision, By: recall.Person, Text: "The callers must not change.", Request: 2},
			},
		},
		"the person took it back": {all(first, said("I put it into the loader rather than into its callers."), asked("I've reverted your changes to the loader")), []recall.Fact{{Kind: recall.Attempt, By: recall.Person, Text: "I've reverted your changes to the loader", Files: []string{"a.go"}, Request: 2}}},
		"a proposal is refused": {
			all(asked("please add a token refresh"), said("Shall I add the hash of the commit?"), asked("no remove this again, the risk is too big")),
			[]recall.Fact{{Kind: recall.Decision, By: recall.Person, Text: "no remove this again, the risk is too big", Request: 2}},
		},
		"the side of a merge":           {all(first, ran("git checkout --ours a.go", "")), nil},
		"nothing to take back":          {all(asked("please add a token refresh"), said("Done."), asked("undo that please")), nil},
		"a question about taking back":  {all(first, said("Done."), asked("how would I undo that later?")), nil},
		"a request to go back for more": {all(first, said("Done."), asked("please go back and add a test")), nil},
	} {
		if diff := cmp.Diff(test.want, factsOf(t, test.lines), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A correction of one step is not a rule, unless it is repeated.
func TestRepeatedCorrections(t *testing.T) {
	t.Parallel()
	lines := all(asked("please add a token refresh"), said("Done."), asked("don't touch the generated client for this"), said("Ok."))
	if facts := factsOf(t, lines); len(facts) > 0 {
		t.Errorf("said once: %+v", facts)
	}
	lines = all(lines, asked("again, don't touch the generated client"), said("Sorry."))
	want := []recall.Fact{{Kind: recall.Rule, By: recall.Person, Text: "again, don't touch the generated client", Request: 3, Times: 2}}
	if diff := cmp.Diff(want, factsOf(t, lines)); diff != "" {
		t.Error(diff)
	}
	want[0].Text, want[0].Request, want[0].Times = "no, don't touch the generated client", 4, 3
	if diff := cmp.Diff(want, factsOf(t, all(lines, asked("no, don't touch the generated client")))); diff != "" {
		t.Error(diff)
	}
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		lines []string
		want  []recall.Fact
	}{
		"checks that pass": {
			all(ran("cd /w && go test ./...", "ok  \ta\t0.1s"), ran("go test -run TestA ./a -count=1 -v", "ok  \ta\t0.1s"), ran("golangci-lint run", "0 issues."), ran("go vet ./a", "Exit code 1\na.go:1:2: x")),
			[]recall.Fact{{By: recall.Output, Text: "tests", Command: "go test ./..."}, {By: recall.Output, Text: "lints", Command: "golangci-lint run"}},
		},
		"a missing program": {
			all(ran("pytest -q tests", "Exit code 127\nbash: pytest: command not found"), ran("uv run pytest -q tests", "12 passed")),
			[]recall.Fact{
				{By: recall.Output, Text: "bash: pytest: command not found", Command: "pytest -q tests", Why: "passed then: uv run pytest -q tests"},
				{By: recall.Output, Text: "tests", Command: "uv run pytest -q tests"},
			},
		},
		"a missing program, and something else": {all(ran("foo --bar", "Exit code 127\nbash: foo: command not found"), ran("make generate", "ok")), nil},
		"a server": {
			all(used("b", "Bash", `{"command":"npm run dev","run_in_background":true}`), done("b", "Command running in background with ID: b1", `{"backgroundTaskId":"b1"}`),
				used("o", "BashOutput", `{"bash_id":"b1"}`), done("o", "  Local: http://localhost:5173/\n  Api: http://127.0.0.1:8080/v1", `null`)),
			[]recall.Fact{{By: recall.Output, Text: "http://localhost:5173", Command: "npm run dev"}, {By: recall.Output, Text: "http://127.0.0.1:8080", Command: "npm run dev"}},
		},
		"a server of the person": {all(asked("on http://localhost:3000/items?x=1 the list is empty")), []recall.Fact{{By: recall.Person, Text: "http://localhost:3000"}}},
		"a port in a test's log": {ran("go run ./cmd/check", "GET http://localhost:41234/ 200"), nil},
		"credentials": {
			all(ran("source .env.local && deploy --token $DEPLOY_TOKEN --name $NAME", "done"), asked("the api token is in ~/.config/deploy/token")),
			[]recall.Fact{
				{By: recall.Output, Text: "$DEPLOY_TOKEN", Command: "source .env.local && deploy --token $DEPLOY_TOKEN --name $NAME"},
				{By: recall.Output, Text: ".env.local", Command: "source .env.local && deploy --token $DEPLOY_TOKEN --name $NAME"},
				{By: recall.Person, Text: "the api token is in ~/.config/deploy/token"},
			},
		},
		"the value of a credential": {all(asked("the api key is in here: AKIA" + "Q3EGRZT4WV7LMN2P")), nil},
	} {
		for i := range test.want {
			test.want[i].Kind = recall.Environment
		}
		got := factsOf(t, test.lines)
		got = slices.DeleteFunc(got, func(f recall.Fact) bool { return f.Kind == recall.Failure })
		if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(recall.Fact{}, "Request")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestReferences(t *testing.T) {
	t.Parallel()
	const pull = "https://github.com/o/r/pull/34"
	for name, test := range map[string]struct {
		lines []string
		want  []recall.Fact
	}{
		"created": {
			all(ran("gh pr create --fill", pull), ran("gh pr view 34", "x"), asked("thanks. What is left of PR 34?")),
			[]recall.Fact{{By: recall.OfAgent, Text: pull, Why: "created", Command: "gh pr create --fill"}},
		},
		"reviewed": {
			all(asked("This is "+pull+" of a colleague. Let's review it."), ran("gh api repos/o/r/pulls/34/comments", "[]")),
			[]recall.Fact{{By: recall.Person, Text: pull, Why: "This is " + pull + " of a colleague."}},
		},
		"a number":               {all(asked("can you have a look at issue #12 first?")), []recall.Fact{{By: recall.Person, Text: "#12", Why: "can you have a look at issue #12 first?"}}},
		"of another repository":  {all(ran("gh api repos/o/r/pulls/7/comments", "[]"), ran("gh api repos/o/s/pulls/7/comments", "[]")), []recall.Fact{{By: recall.OfAgent, Text: "o/r#7", Why: "read the review of"}, {By: recall.OfAgent, Text: "o/s#7", Why: "read the review of"}}},
		"of a tracker":           {all(asked("have a look at linear ABC-12, we work on that. The key is UTF-8, X-12 or SHA-256.")), []recall.Fact{{By: recall.Person, Text: "ABC-12", Why: "have a look at linear ABC-12, we work on that."}}},
		"in the title of a plan": {all(asked("Implement the following plan:\n\n# ABC-12: leases")), []recall.Fact{{By: recall.OfPlan, Text: "ABC-12", Why: "ABC-12: leases"}}},
		"fixed by a commit":      {ran("git commit -m 'store: fixes #12'", "[main abc1234] store: fixes #12"), []recall.Fact{{By: recall.OfAgent, Text: "#12", Why: "store: fixes #12"}}},
		"that failed":            {ran("gh pr view 34", "Exit code 1\nno pull requests found"), nil},
		"a step of a plan":       {all(asked("let's get going with PR 1")), nil},
		"a heading":              {all(asked("Step 3 has 2 issues")), nil},
	} {
		for i := range test.want {
			test.want[i].Kind = recall.Reference
		}
		got := slices.DeleteFunc(factsOf(t, test.lines), func(f recall.Fact) bool { return f.Kind != recall.Reference })
		if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreFields(recall.Fact{}, "Request")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// A failure has the line that names the test or the error, and that of its place.
func TestFailures(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		command, output, why string
		files                []string
	}{
		"go":         {"go test ./a", "ok  \tb\t0.1s\n--- FAIL: TestA (0.00s)\n    a_test.go:7: begin\n    a_test.go:12: got 1, want 2\nFAIL\nFAIL\ta\t0.1s", "--- FAIL: TestA (0.00s); a_test.go:12: got 1, want 2", nil},
		"tsc":        {"npx tsc", "src/a.ts(12,5): error TS2345: Argument of type 'string'.\nsrc/b.ts(1,1): error TS1: x", "src/a.ts(12,5): error TS2345: Argument of type 'string'.", []string{"src/a.ts"}},
		"bun":        {"bun test", "error: expect(received).toBe(expected)\n\n(fail) list > shows all [0.29ms]\n\n 1 fail", "(fail) list > shows all [0.29ms]; error: expect(received).toBe(expected)", nil},
		"pytest":     {"pytest", "E   AssertionError: assert 1 == 2\ntests/test_a.py:3: AssertionError\nFAILED tests/test_a.py::test_a - AssertionError: assert 1 == 2", "FAILED tests/test_a.py::test_a - AssertionError: assert 1 == 2; tests/test_a.py:3: AssertionError", []string{"tests/test_a.py"}},
		"a linter":   {"golangci-lint run", "a/b.go:12:3: Error return value is not checked (errcheck)\n1 issues:\n* errcheck: 1", "a/b.go:12:3: Error return value is not checked (errcheck)", []string{"a/b.go"}},
		"a format":   {"bun run lint", "$ biome check\n at src/a.tsx format \u2501\u2501\u2501\n\n  \u00d7 Formatter would have printed:\nFound 1 error.\nerror: script \"lint\" exited with code 1", "at src/a.tsx format; \u00d7 Formatter would have printed:", []string{"src/a.tsx"}},
		"a script":   {"bun run lint", "error: script \"lint\" exited with code 1", "error: script \"lint\" exited with code 1", nil},
		"only a sum": {"npm test", "3 failed, 2 passed", "3 failed, 2 passed", nil},
	} {
		want := []recall.Fact{{Kind: recall.Failure, By: recall.Output, Text: test.command, Command: test.command, Why: test.why, Files: test.files, Request: 1}}
		if diff := cmp.Diff(want, factsOf(t, all(asked("please make them pass"), ran(test.command, "Exit code 1\n"+test.output)))); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	fixed := all(ran("go build ./...", "Exit code 1\na.go:1:2: undefined: x"), ran("go test ./...", "ok  \ta\t0.1s"))
	if facts := slices.DeleteFunc(factsOf(t, fixed), func(f recall.Fact) bool { return f.Kind != recall.Failure }); len(facts) > 0 {
		t.Errorf("a build whose tests pass: %+v", facts)
	}
}

// The files that subagents use are those of their transcripts, else those that their reports
// name.
func TestFilesOfSubagents(t *testing.T) {
	t.Parallel()
	aside := func(lines ...string) string {
		return strings.ReplaceAll(strings.Join(lines, "\n"), `"isSidechain":false`, `"isSidechain":true`)
	}
	path := written(t, []byte(strings.Join(all(
		asked("please add a token refresh"), read("/w/web/a.ts"),
		used("t", "Task", `{"description":"d","prompt":"p"}`), done("t", "I read all of it.", `{"agentId":"a1b2"}`),
		used("u", "Task", `{"description":"d","prompt":"p"}`), done("u", "See `web/b.test.ts:12`, /w/docs/c.md and other/d.ts; it uses node/e.js and v1.2/x.", `{"agentId":"gone"}`),
		aside(read("/w/web/old.ts")...),
	), "\n")+"\n"))
	dir := filepath.Join(strings.TrimSuffix(path, ".jsonl"), "subagents")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	lines := aside(all(read("/w/web/a.ts"), edited("/w/web/f.ts"), used("x", "Read", `{"file_path":"/w/gone.ts"}`), failed("x", "File does not exist."), ran("cat /w/web/g.ts", "x"))...)
	if err := os.WriteFile(filepath.Join(dir, "agent-a1b2.jsonl"), []byte(lines+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var d digest.Digest
	if _, err := d.Catch(t.Context(), path, redact.New(), 0); err != nil {
		t.Fatal(err)
	}
	got := d.Context(digest.Sources{Root: "/w"}).FileUses
	want := []recall.FileUse{
		{Path: "web/old.ts", Reads: 1, Subagents: 1, Lately: true},
		{Path: "docs/c.md", Reads: 1, Subagents: 1, Lately: true},
		{Path: "web/b.test.ts", Reads: 1, Subagents: 1, Test: true, Lately: true},
		{Path: "web/g.ts", Reads: 1, Subagents: 1, Lately: true},
		{Path: "web/f.ts", Edits: 1, Subagents: 1, Lately: true},
		{Path: "web/a.ts", Reads: 2, Subagents: 1, Lately: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/w/web/f.ts"}, d.Edited); diff != "" {
		t.Error(diff)
	}
}

// Facts come from the transcripts of all agents.
func TestFactsOfCodex(t *testing.T) {
	t.Parallel()
	line := func(kind, payload string) string {
		return `{"timestamp":"2026-06-18T00:57:05.559Z","type":"` + kind + `","payload":` + payload + `}`
	}
	message := func(text string) string {
		return line("event_msg", `{"type":"user_message","message":`+quote(text)+`,"images":[]}`)
	}
	facts := factsOf(t, all(message("please add a token refresh"), message("ok, let's call it \"lease\" instead."), message("always run the linter before a commit")))
	if diff := cmp.Diff([]string{"decision: ok, let's call it \"lease\" instead.", "rule: always run the linter before a commit"}, shown(facts)); diff != "" {
		t.Error(diff)
	}
}
