package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// following returns the pair of two sessions, and a lexicon that has them and others.
func following(t *testing.T, before, after []any) (pair, *lexicon) {
	t.Helper()
	a, b := session(t, before...), session(t, after...)
	sessions := []*transcript{a, b}
	for range 20 {
		sessions = append(sessions, session(t, user("What is the weather?"), agent("I don't know.")))
	}
	return pair{name: "a→b", kind: newPair, before: a, earlier: []*transcript{a}, begun: []*transcript{a}, after: b}, newLexicon(sessions)
}

// Each kind of need is found in the later session, and a text that has it is told from one that
// doesn't.
func TestEachKindOfNeedIsFoundAndCompared(t *testing.T) {
	t.Parallel()
	test := bash("cd /r && go test ./ledger -run Dates | tail -3", "ok", false)
	failing := bash("go vet ./...", "Exit code 1\nledger.go:3: bad", true)
	for name, c := range map[string]struct {
		before, after []any
		kind, need    string
		given         string
	}{
		"file":              {[]any{user("Go"), edit()}, []any{user("On"), edit()}, fileNeed, "a.go", "**Files** (x):\n- a.go (modified)\n"},
		"file in a command": {[]any{user("Go"), edit()}, []any{user("On"), bash("sed -n 1,20p a.go", "package a", false)}, fileNeed, "a.go", "- a.go\n"},
		"command":           {[]any{user("Go"), test}, []any{user("On"), bash("go test ./...", "ok", false)}, commandNeed, "go test", "**Commands** (x):\n- `go test ./...`: passed\n"},
		"decision": {
			[]any{user("Go"), agent("Amounts are stored as integer cents instead of floating decimals.")},
			[]any{user("Why are the amounts integer cents and not floating decimals?")},
			decisionNeed, "integer cents", "**Decisions**:\n- agent: Amounts are stored as integer cents instead of floating decimals\n",
		},
		"item of the list": {
			[]any{user("Go"), use("1", "TodoWrite", map[string]any{"todos": []any{map[string]any{"content": "Translate the rejection letters", "status": "pending"}}}), answer("1", "ok", false)},
			[]any{user("Now translate the rejection letters")},
			openNeed, "rejection letters", "**Next Steps**:\n1. Translate the rejection letters\n",
		},
		"failing check": {[]any{user("Go"), failing}, []any{user("On"), bash("go vet ./...", "ok", false)}, openNeed, "fails: go vet", "**Blockers**:\n- `go vet ./...` failed and did not pass since\n"},
		"rule that is general": {
			[]any{user("Always write the changelog entry in Portuguese, please")},
			[]any{user("Add the export")},
			ruleNeed, "Portuguese", "**Rules**:\n- Always write the changelog entry in Portuguese\n",
		},
		"rule about a file": {
			[]any{user("Don't touch schema.sql by hand")},
			[]any{user("On"), use("1", "Read", map[string]any{"file_path": "/r/schema.sql"}), answer("1", "x", false)},
			ruleNeed, "schema.sql", "- person: Don't touch schema.sql by hand\n",
		},
		"number": {[]any{user("See https://github.com/o/r/pull/12")}, []any{user("Look at PR 12")}, numberNeed, "#12", "**Where**:\n- pull request #12\n"},
		"link":   {[]any{user("It runs at http://localhost:8443/admin")}, []any{user("On"), bash("curl http://localhost:8443/admin", "ok", false)}, numberNeed, "http://localhost:8443/admin", "at http://localhost:8443/admin\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, l := following(t, c.before, c.after)
			needs := l.needs(p, newLater(p.after))
			i := slices.IndexFunc(needs, func(n need) bool { return n.kind == c.kind && strings.Contains(n.text, c.need) })
			if i < 0 {
				t.Fatalf("needs: %v", needs)
			}
			if !newBrought(c.given).has(l, needs[i]) {
				t.Errorf("%q is not found in the text", needs[i].text)
			}
			if newBrought("Resumed from checkpoint: something else\n").has(l, needs[i]) {
				t.Errorf("%q is found in another text", needs[i].text)
			}
		})
	}
}

// What no later session used, or a later one settled, is not needed.
func TestNothingElseIsNeeded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ before, after []any }{
		"another file":             {[]any{user("Go"), edit()}, []any{user("On"), use("1", "Read", map[string]any{"file_path": "/r/b.go"}), answer("1", "x", false)}},
		"a command of the shell":   {[]any{user("Go"), bash("ls", "a", false)}, []any{user("On"), bash("ls", "a", false)}},
		"a check that passed":      {[]any{user("Go"), bash("go vet ./...", "Exit code 1", true), bash("go vet ./...", "", false)}, []any{user("On")}},
		"a request":                {[]any{user("Can you use integer cents instead of floating decimals?")}, []any{user("Are integer cents used and not floating decimals?")}},
		"a completed item":         {[]any{user("Go"), use("1", "TodoWrite", map[string]any{"todos": []any{map[string]any{"content": "Translate the rejection letters", "status": "completed"}}}), answer("1", "ok", false)}, []any{user("Translate the rejection letters")}},
		"a rule for another thing": {[]any{user("Don't touch schema.sql by hand")}, []any{user("Add the export")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, l := following(t, c.before, c.after)
			if needs := l.needs(p, newLater(p.after)); len(needs) > 0 {
				t.Errorf("needs: %v", needs)
			}
		})
	}
}

// Two sessions are related by what the second asks or uses, and unrelated if they share nothing.
func TestRelation(t *testing.T) {
	t.Parallel()
	before := []any{user("Mend the rounding of Danish kroner"), edit()}
	for name, c := range map[string]struct {
		after []any
		want  relation
	}{
		"goes on":       {[]any{user("continue")}, related},
		"file":          {[]any{user("Something new"), edit()}, related},
		"name of it":    {[]any{user("What is in a.go?")}, related},
		"rare words":    {[]any{user("Are Danish kroner in the invoice, too?")}, related},
		"another thing": {[]any{user("Draw the logo of the brewery in turquoise")}, unrelated},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, l := following(t, before, c.after)
			if got, why := l.relate(p); got != c.want {
				t.Errorf("%v because of %q, want %v", got, why, c.want)
			}
		})
	}
}

// Sessions are repeated in the order of their ends, and a pair has the sessions that had ended.
func TestOrderOfSessions(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	at := func(id string, from, to int, branch string) *transcript {
		s := session(t, user("Go"), agent("Done."))
		s.id, s.branch, s.firstBranch = id, branch, branch
		s.began, s.ended = begin.Add(time.Duration(from)*time.Hour), begin.Add(time.Duration(to)*time.Hour)
		return s
	}
	list := []*transcript{at("a", 0, 1, "x"), at("b", 2, 6, "x"), at("c", 3, 4, "y"), at("d", 7, 8, "x")}
	f := (&sample{list}).folders()[0]
	var order []string
	for _, s := range f.steps() {
		order = append(order, map[bool]string{true: "+", false: "-"}[s.begins]+s.session.id)
	}
	if got, want := strings.Join(order, " "), "+a -a +b +c -c -b +d -d"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for after, want := range map[string]string{"b": "a", "c": "a", "d": "a b"} {
		i := slices.IndexFunc(list, func(t *transcript) bool { return t.id == after })
		var ids []string
		for _, t := range f.pairs[list[i]].earlier {
			ids = append(ids, t.id)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("before %s: %s, want %s", after, got, want)
		}
	}
}
