package memory_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/memory"
)

// left returns a session on a branch, hour hours after the first.
func left(id string, hour int, branch string, body memory.Body) memory.Session {
	at := time.Date(2026, 3, 1, hour, 0, 0, 0, time.UTC)
	return memory.Session{Header: memory.Header{Format: 1, ID: id, At: at, Worktree: "/w", Branch: branch, Commit: "c" + strconv.Itoa(hour)}, Body: body}
}

func fact(kind recall.FactKind, by recall.Speaker, text string, files ...string) recall.Fact {
	return recall.Fact{Kind: kind, By: by, Text: text, Files: files}
}

func texts(facts []memory.Fact) []string {
	list := []string{}
	for _, f := range facts {
		list = append(list, f.Text)
	}
	return list
}

// Later facts about the same thing replace earlier ones; an agent's decision does not replace a
// person's.
func TestStandingFacts(t *testing.T) {
	check := func(command, result string) recall.Fact {
		return recall.Fact{Kind: recall.Failure, By: recall.Output, Command: command, Text: result}
	}
	tests := map[string]struct {
		first, second memory.Body
		want          []string
	}{
		"a later decision about the same thing": {
			first:  memory.Body{Facts: []recall.Fact{fact(recall.Decision, recall.OfAgent, "keep session tokens in an encrypted cookie")}},
			second: memory.Body{Facts: []recall.Fact{fact(recall.Decision, recall.Person, "keep session tokens in the database, not in a cookie")}},
			want:   []string{"keep session tokens in the database, not in a cookie"},
		},
		"a person's decision remains": {
			first:  memory.Body{Facts: []recall.Fact{fact(recall.Decision, recall.Person, "keep session tokens in the database")}},
			second: memory.Body{Facts: []recall.Fact{fact(recall.Decision, recall.OfAgent, "keep session tokens in an encrypted cookie")}},
			want:   []string{"keep session tokens in an encrypted cookie", "keep session tokens in the database"},
		},
		"a later decision that rejects an earlier one": {
			first:  memory.Body{Facts: []recall.Fact{fact(recall.Decision, recall.Person, "How are amounts stored? -> as strings for now")}},
			second: memory.Body{Facts: []recall.Fact{fact(recall.Decision, recall.Person, "store integer cents, not strings")}},
			want:   []string{"store integer cents, not strings"},
		},
		"a decision that rejected the same": {
			first:  memory.Body{Facts: []recall.Fact{fact(recall.Decision, recall.Person, "use decimals instead of strings")}},
			second: memory.Body{Facts: []recall.Fact{fact(recall.Decision, recall.Person, "store integer cents, not strings")}},
			want:   []string{"store integer cents, not strings", "use decimals instead of strings"},
		},
		"different things": {
			first:  memory.Body{Facts: []recall.Fact{fact(recall.Decision, recall.Person, "parse dates with the standard library")}},
			second: memory.Body{Facts: []recall.Fact{fact(recall.Decision, recall.Person, "invoices get a number when they are sent")}},
			want:   []string{"invoices get a number when they are sent", "parse dates with the standard library"},
		},
		"a failed check passed": {
			first:  memory.Body{Facts: []recall.Fact{check("go test ./auth", "FAIL"), check("make lint", "unused")}},
			second: memory.Body{Passed: []string{"go test ./auth"}},
			want:   []string{"unused"},
		},
		"a check failed again": {
			first:  memory.Body{Facts: []recall.Fact{check("go test ./auth", "FAIL: TestLogin")}},
			second: memory.Body{Facts: []recall.Fact{check("go test ./auth", "FAIL: TestLogout")}},
			want:   []string{"FAIL: TestLogout"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			m := memory.Of([]memory.Session{left("b", 2, "topic", tc.second), left("a", 1, "topic", tc.first)}, memory.Scope{Branch: "topic", Worktree: "/w"})
			if diff := cmp.Diff(tc.want, texts(m.Facts)); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}

// The work is that of the sessions of the branch and of its pull requests; facts of other branches
// are marked.
func TestMemoryOfBranch(t *testing.T) {
	commit := func(subject string) []recall.Commit { return []recall.Commit{{Subject: subject}} }
	asked := func(text string) []recall.Request { return []recall.Request{{Number: 1, Text: text}} }
	first := left("a", 1, "login", memory.Body{
		Requests: asked("add a login form"), Commits: commit("Add the form"), Todo: []string{"describe cookies in the manual", "rename the login field"},
		Files: []memory.File{{Path: "login.go", Use: memory.Changed, Hash: "1"}, {Path: "form.go", Use: memory.Changed, Hash: "2"}},
	})
	first.PullRequests = []string{"https://example.com/o/r/pull/12"}
	other := left("b", 2, "dates", memory.Body{
		Requests: asked("parse dates"), Commits: commit("Parse dates"),
		Facts: []recall.Fact{fact(recall.Rule, recall.Person, "never use a global clock")},
	})
	review := left("c", 3, "review-12", memory.Body{Requests: asked("address the review of the login form"), Commits: commit("Rename the field")})
	review.PullRequests = []string{"12"}
	last := left("d", 4, "login", memory.Body{
		Requests: asked("show an error below the field"), Todo: []string{"test it in Safari"},
		Files: []memory.File{{Path: "login.go", Use: memory.Read}},
		Facts: []recall.Fact{fact(recall.Decision, recall.Person, "errors are shown below the field", "login.go", "field.css")},
	})
	m := memory.Of([]memory.Session{first, other, review, last}, memory.Scope{Branch: "login", Worktree: "/w"})
	type summary struct {
		Sessions, Purpose, Done, Todo []string
		Files                         []memory.File
	}
	var got summary
	for _, s := range m.Sessions {
		got.Sessions = append(got.Sessions, s.ID)
	}
	for _, q := range m.Purpose {
		got.Purpose = append(got.Purpose, q.Text)
	}
	for _, c := range m.Done {
		got.Done = append(got.Done, c.Subject)
	}
	for _, q := range m.Todo {
		got.Todo = append(got.Todo, q.Text)
	}
	got.Files = m.Files
	want := summary{
		Sessions: []string{"d", "c", "a"},
		Purpose:  []string{"add a login form", "address the review of the login form", "show an error below the field"},
		Done:     []string{"Rename the field", "Add the form"},
		Todo:     []string{"describe cookies in the manual", "test it in Safari"},
		Files:    []memory.File{{Path: "login.go", Use: memory.Changed, Hash: "1", Session: "d"}, {Path: "form.go", Use: memory.Changed, Hash: "2", Session: "a"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("memory (-want +got):\n%s", diff)
	}
	if got := m.ForFile("login.go"); len(got) != 1 || !got[0].Here || got[0].Hashes[0] != "1" || got[0].Hashes[1] != "" || got[0].Commit != "c4" {
		t.Errorf("ForFile(login.go) = %+v", got)
	}
	if got := m.Search("global clock", 5); len(got) != 1 || got[0].Here {
		t.Errorf("Search(global clock) = %+v", got)
	}
}

// A fact has the contents of its files as of its own session, so that a change by a later one makes it
// stale; and those of an earlier session, if its own only read the file.
func TestHashesOfFacts(t *testing.T) {
	file := func(hash string) []memory.File {
		return []memory.File{{Path: "a.go", Use: memory.Changed, Hash: hash}}
	}
	m := memory.Of([]memory.Session{
		left("a", 1, "main", memory.Body{Files: file("1"), Facts: []recall.Fact{fact(recall.Decision, recall.Person, "sort by name", "a.go")}}),
		left("b", 2, "main", memory.Body{Facts: []recall.Fact{fact(recall.Decision, recall.Person, "cache the index", "a.go")}}),
		left("c", 3, "main", memory.Body{Files: file("3"), Facts: []recall.Fact{fact(recall.Decision, recall.Person, "retry uploads twice", "a.go")}}),
	}, memory.Scope{Branch: "main", Worktree: "/w"})
	got := map[string]string{}
	for _, f := range m.Facts {
		got[f.Text] = f.Hashes[0]
	}
	want := map[string]string{"sort by name": "1", "cache the index": "1", "retry uploads twice": "3"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hashes (-want +got):\n%s", diff)
	}
}

func TestForCommand(t *testing.T) {
	body := memory.Body{Facts: []recall.Fact{
		{Kind: recall.Rule, By: recall.Person, Text: "use pnpm, not npm", Command: "npm"},
		{Kind: recall.Failure, By: recall.Output, Text: "FAIL", Command: "cd web && make check 2>&1 | tail"},
	}}
	m := memory.Of([]memory.Session{left("a", 1, "main", body)}, memory.Scope{Branch: "main", Worktree: "/w"})
	for command, want := range map[string][]string{
		"npm install":  {"use pnpm, not npm"},
		"pnpm install": {},
		"make check":   {"FAIL"},
		"make":         {},
	} {
		if diff := cmp.Diff(want, texts(m.ForCommand(command))); diff != "" {
			t.Errorf("ForCommand(%q) (-want +got):\n%s", command, diff)
		}
	}
}
