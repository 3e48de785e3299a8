package brief_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/recall/memory"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// material returns a small checkpoint with a file in each state.
func material() brief.Material {
	m := brief.Material{
		Checkpoint: recall.Checkpoint{
			ID: "3f9a1c-77b0e2", Summary: "Implemented JWT middleware (4 files, +30 -2)", CreatedAt: noon.Add(-time.Hour),
			Cause: recall.Clear, Sessions: []string{"1234abcd-0000-4000-8000-000000000000"}, Checkpoints: []string{"a3b2c4d5e6f7"},
			State: recall.State{
				Files: map[string]recall.File{},
				Analysis: recall.Analysis{
					CurrentTask: "Implementing JWT validation",
					NextSteps:   []string{"Add token refresh", "Update docs"},
					Decisions:   []string{"Use HS256 for now"},
					Blockers:    []string{"go vet fails"}, RelevantDocs: []string{"docs/auth.md"},
					Requests: []recall.Request{
						{Number: 1, Text: "Implementing JWT validation is\nwhat we need"},
						{Number: 2, Text: "5", RepliesTo: "5. Add token refresh"},
						{Number: 3, Text: "never store the key"},
					},
					Progress: recall.Progress{
						Commits: []recall.Commit{{Hash: "abc1234", Subject: "auth: validate tokens", Request: 1}}, Pushed: true, PullRequests: []string{"12"},
						Reported: "Refresh is half done.",
					},
					Todo:         []recall.Todo{{Text: "Write the refresh", State: "in_progress"}, {Text: "Add token refresh", State: "pending"}},
					OpenQuestion: "Shall I rotate keys?",
				},
				Context: recall.Context{
					WorkingDirectory: "/home/ann/repo", GitBranch: "feature/auth", GitCommit: "1111111111111111111111111111111111111111",
					Commands:  []recall.Command{{Text: "go vet ./...", Result: recall.Failed}, {Text: "go test ./auth", Result: recall.Passed}, {Text: "make watch", Result: recall.Unknown}},
					FilesRead: []string{"go.mod", "cmd/main.go", "/etc/hosts", "web/node_modules/x/index.js"},
					FileNotes: []recall.FileNote{{Path: "auth/new.go", Why: "add the constructor"}, {Path: "auth/edited.go", Request: 2, Tracked: recall.Committed}},
				},
			},
		},
		Now: noon, Present: map[string]brief.Present{}, Base: map[string]string{}, Parts: 2,
		Branch: "feature/auth", Commit: "1111111111111111111111111111111111111111",
	}
	put(&m, "auth/new.go", recall.Added, "package auth\n\nfunc New() {}\n")
	put(&m, "auth/edited.go", recall.Modified, "package auth\n\nfunc Edited() {}\n")
	fresh := m.Checkpoint.State.Files["auth/new.go"]
	fresh.Tracked = recall.Uncommitted
	m.Checkpoint.State.Files["auth/new.go"] = fresh
	put(&m, "auth/stale.go", recall.Modified, "package auth\n\nfunc Old() {}\n")
	put(&m, "auth/lost.go", recall.Modified, "package auth\n\nfunc Lost() {}\n")
	put(&m, "auth/gone.go", recall.Added, "package auth\n")
	m.Present["auth/stale.go"] = brief.Present{Exists: true, Hash: sum("x"), Content: "package auth\n\nfunc Newer() {}\n"}
	m.Present["auth/lost.go"] = brief.Present{Exists: true, Hash: sum("y")}
	m.Present["auth/gone.go"] = brief.Present{}
	return m
}

// put adds a file that is on disk as saved.
func put(m *brief.Material, path string, change recall.Change, content string) {
	m.Checkpoint.State.Files[path] = recall.File{
		Path: path, Content: content, Hash: sum(content), Size: int64(len(content)), Change: change,
		LastModified: noon.Add(-2 * time.Hour).Add(time.Duration(len(m.Checkpoint.State.Files)) * -time.Minute),
	}
	m.Present[path] = brief.Present{Exists: true, Hash: sum(content)}
}

func check(t testing.TB, name string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// The state includes a commit made after the checkpoint.
func TestWriteLaterCommit(t *testing.T) {
	t.Parallel()
	const line = "- committed after the checkpoint as `2222222222`: auth: refresh tokens\n"
	m := material()
	m.Subject = "auth: refresh tokens"
	if text := brief.Write(m).Parts[0]; strings.Contains(text, "committed after") {
		t.Errorf("HEAD has not moved:\n%s", text)
	}
	m.Commit = strings.Repeat("2", 40)
	if text := brief.Write(m).Parts[0]; !strings.Contains(text, "**State**:\n"+line) {
		t.Errorf("no %q in\n%s", line, text)
	}
}

// The brief has what the earlier sessions of the branch were asked and did, and what stands of what was
// said; a person's words come first, and those of another person have the name.
func TestWriteMemory(t *testing.T) {
	t.Parallel()
	m := material()
	own := m.Checkpoint.Sessions[0]
	fact := func(session, person string, here bool, f recall.Fact) memory.Fact {
		return memory.Fact{Fact: f, Session: session, Person: person, Here: here}
	}
	m.Memory = memory.Memory{
		Sessions: []memory.Source{{ID: own, At: noon}, {ID: "99990000-x", At: noon.Add(-48 * time.Hour), Person: "Ann"}},
		Purpose:  []memory.Quote{{Text: "log in with a token", Session: "99990000-x"}, {Text: "Implementing JWT", Session: own}},
		Files:    []memory.File{{Path: "auth/keys.go", Use: memory.Changed, Session: "99990000-x"}, {Path: "auth/read.go", Use: memory.Read, Session: "99990000-x"}},
		Done:     []memory.Commit{{Commit: recall.Commit{Subject: "auth: add keys"}, Session: "99990000-x"}},
		Facts: []memory.Fact{
			fact(own, "", true, recall.Fact{Kind: recall.Decision, By: recall.OfAgent, Text: "kept HS256 rather than RS256", Why: "one service verifies"}),
			fact("99990000-x", "Ann", true, recall.Fact{Kind: recall.Decision, By: recall.Person, Text: "tokens expire after an hour"}),
			fact("77770000-x", "", false, recall.Fact{Kind: recall.Rule, By: recall.Person, Text: "never mock the clock", Times: 3}),
			fact("77770000-x", "", false, recall.Fact{Kind: recall.Decision, By: recall.Person, Text: "of another branch"}),
			fact(own, "", true, recall.Fact{Kind: recall.Attempt, By: recall.OfAgent, Text: "a cookie for the token", Why: "blocked by CORS"}),
			fact(own, "", true, recall.Fact{Kind: recall.Failure, By: recall.Output, Command: "make e2e", Text: "make e2e", Why: "--- FAIL: TestLogin"}),
			fact(own, "", true, recall.Fact{Kind: recall.Environment, By: recall.Output, Text: "the server listens on port 8080"}),
		},
	}
	text := brief.Write(m).Parts[0]
	for _, want := range []string{
		"**Branch** (its earlier sessions, oldest first):\n- session 99990000, 2 days ago, by Ann: log in with a token; committed: auth: add keys; changed: auth/keys.go\n**Requests**",
		"**Decisions**:\n- Ann: tokens expire after an hour, session 99990000\n- agent: kept HS256 rather than RS256 (one service verifies)\n",
		"**Rules** (said by persons in earlier sessions):\n- person: never mock the clock (said 3 times), session 77770000\n",
		"**Tried and Given Up**:\n- agent: a cookie for the token (blocked by CORS)\n",
		"**Blockers**:\n- failed and did not pass since: `make e2e` (--- FAIL: TestLogin)\n- go vet fails\n",
		"**Environment**:\n- the server listens on port 8080\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "of another branch") {
		t.Errorf("a decision of another branch is in\n%s", text)
	}
	m.Kind = brief.Opening
	const purpose = "**Branch**: begun a session ago with: log in with a token\n"
	if text := brief.Write(m).Parts[0]; !strings.Contains(text, purpose) || !strings.Contains(text, "never mock the clock") {
		t.Errorf("no %q or no rule in\n%s", purpose, text)
	}
}

// A file without changed lines since the session's start, and in none of the session's commits, is
// not reported as committed.
func TestWriteUndone(t *testing.T) {
	t.Parallel()
	m := material()
	for name, change := range map[string]recall.Change{"auth/undone.go": recall.Modified, "auth/tried.go": recall.Deleted, "auth/kept.go": recall.Modified} {
		f := recall.File{Path: name, Change: change, Tracked: recall.Committed, Hash: sum(name)}
		if name == "auth/kept.go" {
			f.Added = 3
		}
		m.Checkpoint.State.Files[name] = f
		m.Present[name] = brief.Present{Exists: change != recall.Deleted, Hash: sum(name)}
	}
	text := strings.Join(brief.Write(m).Parts, "")
	for _, want := range []string{"- auth/undone.go (modified, no difference from HEAD)\n", "- auth/tried.go (deleted by the session)\n", "- auth/kept.go (modified +3 -0, committed)\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestWriteFull(t *testing.T) {
	t.Parallel()
	b := brief.Write(material())
	check(t, "parts", []string{`Resumed from checkpoint: Implemented JWT middleware (4 files, +30 -2) (saved 1 hour ago)
Checkpoint 3f9a1c-77b0e2 recorded session 1234abcd before its context was cleared; ignore it if the new request is about something else.

**Requests** (in the person's words, newest last):
1. Implementing JWT validation is what we need
2. "5", in reply to: 5. Add token refresh
3. never store the key
**State**:
- committed as ` + "`abc1234`" + `: auth: validate tokens, for request 1
- pushed after the last commit
- not committed: auth/new.go
- the agent reported at the end: Refresh is half done.
**Decisions**:
- Use HS256 for now
**Next Steps**:
1. Write the refresh (in progress)
2. Add token refresh
3. Update docs
**Open Question** (the agent's last words; no reply followed):
- Shall I rotate keys?
**Blockers**:
- go vet fails
**Files** (changed by the session; as they were saved: ` + "`entire recall show 3f9a1c-77b0e2 --file PATH`" + `):
- auth/new.go (added, not committed): add the constructor
- auth/edited.go (modified, committed): for request 2
- auth/stale.go (modified, changed since)
- auth/lost.go (modified, changed since)
- auth/gone.go (added, deleted since)
**Files Read** (not changed, latest first):
- go.mod, cmd/main.go
**Docs**:
- docs/auth.md
**Where**:
- branch feature/auth at 1111111111, not moved since; committed checkpoints a3b2c4d5e6f7
- pull request 12
- worktree /home/ann/repo
**Commands** (latest first):
- ` + "`go vet ./...`: failed\n- `go test ./auth`: passed\n- `make watch`: result unknown" + `
### auth/new.go (added, not committed)
` + "```go\npackage auth\n\nfunc New() {}\n```"}, b.Parts)
	check(t, "message", "Resumed from checkpoint: Implemented JWT middleware (4 files, +30 -2) (saved 1 hour ago)", b.Message)
	check(t, "whole", []string{"auth/new.go"}, b.Whole)
	check(t, "named", []string{"auth/edited.go", "auth/stale.go", "auth/lost.go", "auth/gone.go"}, b.Named)
	check(t, "tokens", brief.CountTokens(b.Parts[0]), b.Tokens)
}

// A short brief contains no contents of files and no names of files that were only read.
func TestWriteShort(t *testing.T) {
	t.Parallel()
	m := material()
	m.Kind = brief.Short
	b := brief.Write(m)
	if len(b.Parts) != 1 || strings.Contains(b.Parts[0], "func") || strings.Contains(b.Parts[0], "cmd/main.go") {
		t.Errorf("parts: %q", b.Parts)
	}
	for _, want := range []string{"Resumed from checkpoint: ", "Add token refresh", "- auth/edited.go (modified, committed): for request 2\n", "`go vet ./...`: failed"} {
		if !strings.Contains(b.Parts[0], want) {
			t.Errorf("no %q in\n%s", want, b.Parts[0])
		}
	}
	check(t, "whole", []string(nil), b.Whole)
}

func TestWriteNotice(t *testing.T) {
	t.Parallel()
	m := material()
	m.Kind = brief.Notice
	b := brief.Write(m)
	check(t, "parts", []string{"Checkpoint 3f9a1c-77b0e2: Implemented JWT middleware (4 files, +30 -2) (saved 1 hour ago) on branch feature/auth\n" +
		"Not loaded. If the request continues that work, `entire recall resume 3f9a1c-77b0e2` prints it."}, b.Parts)
}

func TestWriteDrift(t *testing.T) {
	t.Parallel()
	m := material()
	m.Kind, m.Branch, m.Commit = brief.Drift, "main", "2222222222222222222222222222222222222222"
	m.Others = []brief.Other{{Session: "9999aaaa-0000", Files: []string{"auth/stale.go"}, At: noon.Add(-5 * time.Minute)}}
	check(t, "parts", []string{`Changed since checkpoint: Implemented JWT middleware (4 files, +30 -2) (saved 1 hour ago)
**Where**:
- branch feature/auth at 1111111111; now main at 2222222222; committed checkpoints a3b2c4d5e6f7
**Other Sessions**:
- session 9999aaaa changed after the checkpoint, 5 minutes ago: auth/stale.go
**Files** (changed by the session; as they were saved: ` + "`entire recall show 3f9a1c-77b0e2 --file PATH`" + `):
- auth/stale.go (modified, changed since)
- auth/lost.go (modified, changed since)
- auth/gone.go (added, deleted since)
### auth/stale.go (modified, changed since): changes since the checkpoint
` + "```diff\n@@ -1,3 +1,3 @@\n package auth\n \n-func Old() {}\n+func Newer() {}\n```"}, brief.Write(m).Parts)
}

// Without any drift the brief is empty.
func TestWriteNoDrift(t *testing.T) {
	t.Parallel()
	m := material()
	m.Kind, m.Checkpoint.State.Files = brief.Drift, map[string]recall.File{}
	put(&m, "a.go", recall.Added, "package a\n")
	check(t, "brief", brief.Brief{}, brief.Write(m))
}

// A file in each state is described correctly, and stale contents aren't shown.
func TestWriteStates(t *testing.T) {
	t.Parallel()
	const saved = "the saved text\n"
	for name, test := range map[string]struct {
		change  func(*recall.File, *brief.Present)
		want    string
		content string // the content shown
	}{
		"current":     {func(*recall.File, *brief.Present) {}, "f.txt (modified)\n", saved},
		"figures":     {func(f *recall.File, _ *brief.Present) { f.Added, f.Removed = 3, 1 }, "f.txt (modified +3 -1)\n", saved},
		"changed":     {func(_ *recall.File, p *brief.Present) { p.Hash = sum("z") }, "- f.txt (modified, changed since)\n", ""},
		"changed now": {func(_ *recall.File, p *brief.Present) { p.Hash, p.Content = sum("z"), "z\n" }, "f.txt (modified, changed since): as it is now\n", "z\n"},
		"deleted":     {func(_ *recall.File, p *brief.Present) { *p = brief.Present{} }, "- f.txt (modified, deleted since)\n", ""},
		"by session": {func(f *recall.File, p *brief.Present) {
			*p = brief.Present{}
			*f = recall.File{Path: "f.txt", Change: recall.Deleted, Omitted: recall.Gone}
		}, "- f.txt (deleted by the session)\n", ""},
		"again": {func(f *recall.File, _ *brief.Present) {
			*f = recall.File{Path: "f.txt", Change: recall.Deleted, Omitted: recall.Gone}
		}, "- f.txt (deleted by the session, exists again)\n", ""},
		"binary":    {func(f *recall.File, _ *brief.Present) { f.Content, f.Omitted = "", recall.Binary }, "- f.txt (modified, binary)\n", ""},
		"unchecked": {func(_ *recall.File, p *brief.Present) { p.Hash = "" }, "f.txt (modified, as saved, not checked)\n", saved},
		"summary": {func(f *recall.File, p *brief.Present) {
			f.Content, f.Omitted, p.Content = "", recall.NotWanted, saved
		}, "f.txt (modified)\n", saved},
		"empty":     {func(f *recall.File, p *brief.Present) { f.Content, f.Size, f.Hash, p.Hash = "", 0, sum(""), sum("") }, "### f.txt (modified)\n```txt\n```", ""},
		"invisible": {func(f *recall.File, _ *brief.Present) { f.Content = "a\x1b[1m\u202eb\n" }, "f.txt (modified); some characters left out\n", "a[1mb\n"},
		"fence":     {func(f *recall.File, _ *brief.Present) { f.Content = "a\n````\nb" }, "`````txt\na\n````\nb\n`````", ""},
		"crlf":      {func(f *recall.File, _ *brief.Present) { f.Content = "a\r\nb\r\n" }, "f.txt (modified)\n", "```txt\na\nb\n```"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := material()
			m.Checkpoint.State.Files = map[string]recall.File{}
			m.Checkpoint.State.Analysis.Progress.Commits = nil
			put(&m, "f.txt", recall.Modified, saved)
			f, p := m.Checkpoint.State.Files["f.txt"], m.Present["f.txt"]
			test.change(&f, &p)
			m.Checkpoint.State.Files["f.txt"], m.Present["f.txt"] = f, p
			text := strings.Join(brief.Write(m).Parts, "\n") + "\n"
			if !strings.Contains(text, test.want) || !strings.Contains(text, test.content) {
				t.Errorf("no %q with %q in\n%s", test.want, test.content, text)
			}
			if test.content != saved && strings.Contains(text, saved) {
				t.Errorf("stale content in\n%s", text)
			}
		})
	}
}

// A brief contains the content of a small uncommitted file or its changes, and only the names of
// all other files.
func TestWriteContents(t *testing.T) {
	t.Parallel()
	var old strings.Builder
	old.WriteString("package big\n")
	for i := range 900 {
		fmt.Fprintf(&old, "func Declared%d() int { return %d }\n", i, i)
	}
	big := strings.Replace(old.String(), "return 500 }", "return -1 }", 1)
	m := material()
	m.Checkpoint.State.Files = map[string]recall.File{}
	m.Checkpoint.State.Analysis.Progress.Commits = nil
	put(&m, "big.go", recall.Modified, big)
	put(&m, "new.go", recall.Added, big)
	put(&m, "done.go", recall.Added, "package done\n")
	put(&m, "small.go", recall.Added, "package small\n")
	done := m.Checkpoint.State.Files["done.go"]
	done.Tracked = recall.Committed
	m.Checkpoint.State.Files["done.go"] = done
	m.Base["big.go"] = old.String()
	b := brief.Write(m)
	check(t, "whole", []string{"small.go"}, b.Whole)
	check(t, "hunks", []string{"big.go"}, b.Hunks)
	check(t, "named", []string{"new.go", "done.go"}, b.Named)
	text := strings.Join(b.Parts, "\n")
	if want := "### big.go (modified): changes of the session\n```diff\n@@ -499,7 +499,7 @@\n"; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	m.Checkpoint.State.Analysis.Progress.Commits = []recall.Commit{{Subject: "x"}}
	if b := brief.Write(m); len(b.Whole)+len(b.Hunks) > 0 {
		t.Errorf("contents of files that may be committed: %v %v", b.Whole, b.Hunks)
	}
}

// Contents take at most three tenths of a brief.
func TestWriteContentsShare(t *testing.T) {
	t.Parallel()
	m := material()
	for i := range 40 {
		name := fmt.Sprintf("f%d.txt", i)
		put(&m, name, recall.Added, strings.Repeat(fmt.Sprintf("the file %d has words\n", i), 20))
		f := m.Checkpoint.State.Files[name]
		f.Tracked = recall.Uncommitted
		m.Checkpoint.State.Files[name] = f
	}
	b := brief.Write(m)
	text, blocks := strings.Join(b.Parts, "\n"), 0
	_, after, _ := strings.Cut(text, "### ")
	for block := range strings.SplitSeq(after, "### ") {
		blocks += brief.CountTokens(block)
	}
	if len(b.Whole) == 0 || blocks*10 > b.Tokens*3 {
		t.Errorf("%d of %d tokens are contents of %v", blocks, b.Tokens, b.Whole)
	}
}

// A decision that repeats the task isn't written again.
func TestWriteTaskOnce(t *testing.T) {
	t.Parallel()
	m := material()
	m.Checkpoint.State.Analysis.CurrentTask = "Use the other one instead of this"
	m.Checkpoint.State.Analysis.Decisions = []string{"user: Use the other one instead...", "user: Use tabs"}
	text := brief.Write(m).Parts[0]
	if strings.Count(text, "the other one") != 1 || !strings.Contains(text, "- user: Use tabs\n") {
		t.Error(text)
	}
}

// The rest that doesn't fit in the first part is in the second one, under its own title.
func TestWriteTwoParts(t *testing.T) {
	t.Parallel()
	m := material()
	for i := range 60 {
		m.Checkpoint.State.Analysis.Requests = append(m.Checkpoint.State.Analysis.Requests, recall.Request{Number: 4 + i, Text: strings.Repeat("please do the work ", 30)})
		put(&m, fmt.Sprintf("a/long/path/to/the/file%d.txt", i), recall.Added, "words\n")
	}
	b := brief.Write(m)
	if len(b.Parts) != 2 || !strings.HasPrefix(b.Parts[1], "Checkpoint 3f9a1c-77b0e2, continued:\n**") {
		t.Fatalf("parts: %q", b.Parts)
	}
	if text := strings.Join(b.Parts, "\n"); !strings.Contains(text, "63. please do") || !strings.Contains(text, "other ones\n") {
		t.Errorf("not the last requests:\n%s", text)
	}
	m.Parts = 1
	if b := brief.Write(m); len(b.Parts) != 1 {
		t.Errorf("%d parts", len(b.Parts))
	}
}

// An Opening contains the last requests, the state and the files within its own limit.
func TestWriteOpening(t *testing.T) {
	t.Parallel()
	m := material()
	m.Kind = brief.Opening
	for i := range 30 {
		m.Checkpoint.State.Analysis.Requests = append(m.Checkpoint.State.Analysis.Requests, recall.Request{Number: 4 + i, Text: strings.Repeat("please do the work ", 30)})
		put(&m, fmt.Sprintf("a/long/path/to/the/file%d.txt", i), recall.Added, "words\n")
	}
	b := brief.Write(m)
	if len(b.Parts) != 1 || b.Tokens > brief.MaxOpeningTokens {
		t.Fatalf("%d tokens in %q", b.Tokens, b.Parts)
	}
	for _, want := range []string{"Resumed from checkpoint: ", "33. please do", "**State**:\n- committed as `abc1234`", "auth/", "entire recall resume 3f9a1c-77b0e2"} {
		if !strings.Contains(b.Parts[0], want) {
			t.Errorf("no %q in\n%s", want, b.Parts[0])
		}
	}
}

// An Opening names files even if the summary, the requests and the state are long.
func TestWriteOpeningNamesFiles(t *testing.T) {
	t.Parallel()
	m := material()
	m.Kind = brief.Opening
	long := strings.Repeat("the changes of auth ", 40)
	m.Checkpoint.Summary = long
	a := &m.Checkpoint.State.Analysis
	a.Requests = []recall.Request{{Number: 1, Text: long}, {Number: 2, Text: long}}
	a.Progress = recall.Progress{Reported: long, Commits: []recall.Commit{{Hash: "abc1234", Subject: long, Request: 1}}}
	text := strings.Join(brief.Write(m).Parts, "\n")
	for _, want := range []string{"**Requests**", "**State**", "**Files**"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// An Opening of a session that left nothing to do has only the names of files, unless the session was
// on the branch of the reader and that is one for a single piece of work.
func TestWriteOpeningOfFinishedWork(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		change func(*brief.Material)
		short  bool
	}{
		"on main":                 {func(*brief.Material) {}, true},
		"on its branch":           {func(m *brief.Material) { m.Branch, m.Checkpoint.State.Context.GitBranch = "auth", "auth" }, false},
		"on another branch":       {func(m *brief.Material) { m.Checkpoint.State.Context.GitBranch = "auth" }, true},
		"an open question":        {func(m *brief.Material) { m.Checkpoint.State.Analysis.OpenQuestion = "Shall I rotate keys?" }, false},
		"an unfinished item":      {func(m *brief.Material) { m.Checkpoint.State.Analysis.NextSteps = []string{"Rotate the keys"} }, false},
		"the turn did not end":    {func(m *brief.Material) { m.Checkpoint.State.Analysis.Progress.Reported = "" }, false},
		"a pull request":          {func(m *brief.Material) { m.Checkpoint.State.Analysis.Progress.PullRequests = []string{"12"} }, false},
		"a plan":                  {func(m *brief.Material) { m.Checkpoint.Cause = recall.Plan }, false},
		"a file is not committed": {func(m *brief.Material) { put(m, "auth/keys.go", recall.Added, "package auth\n") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := brief.Material{Kind: brief.Opening, Now: noon, Branch: "main", Present: map[string]brief.Present{}}
			m.Checkpoint = recall.Checkpoint{ID: "3f9a1c-77b0e2", Summary: "Validate tokens", CreatedAt: noon.Add(-time.Hour), State: recall.State{Files: map[string]recall.File{}}}
			m.Checkpoint.State.Context.GitBranch = "main"
			m.Checkpoint.State.Analysis.Requests = []recall.Request{{Number: 1, Text: "Tokens must be validated."}}
			m.Checkpoint.State.Analysis.Progress.Reported = "Tokens are validated."
			put(&m, "auth/token.go", recall.Added, "package auth\n")
			f := m.Checkpoint.State.Files["auth/token.go"]
			f.Tracked = recall.Committed
			m.Checkpoint.State.Files["auth/token.go"] = f
			tt.change(&m)
			text := strings.Join(brief.Write(m).Parts, "\n")
			if !strings.Contains(text, "Validate tokens") || !strings.Contains(text, "auth/token.go") || !strings.Contains(text, "entire recall resume 3f9a1c-77b0e2") {
				t.Errorf("not the first line, the file and the command:\n%s", text)
			}
			if has := strings.Contains(text, "Tokens must be validated."); has == tt.short {
				t.Errorf("requests: %v, want %v:\n%s", has, !tt.short, text)
			}
		})
	}
}

// An Opening contains the agent's last words cut to a line and the last request, even one of many
// tokens. It has no count of the omitted lines of the state.
func TestWriteOpeningIsCut(t *testing.T) {
	t.Parallel()
	m := material()
	m.Kind = brief.Opening
	a := &m.Checkpoint.State.Analysis
	a.Requests = []recall.Request{{Number: 1, Text: "please fix it"}, {Number: 2, Text: "it lists these: " + strings.Repeat("> * 2026-01-06-c93f3533 (1) \u2022 ", 40)}}
	a.Progress = recall.Progress{Reported: "All 1309 tests pass. " + strings.Repeat("The fix is one line of the route. ", 20), LastCall: "Bash make", Stopped: recall.Midway}
	text := strings.Join(brief.Write(m).Parts, "\n")
	for _, want := range []string{"\n2. it lists these: > *", "- the agent reported at the end: All 1309 tests pass. The fix"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, " more\n**Files") {
		t.Error(text)
	}
}

// The files that the session edited last come first, even if a formatter or a checkout wrote other
// files later.
func TestWriteOrdersFilesByEdits(t *testing.T) {
	t.Parallel()
	m := material()
	m.Checkpoint.State.Analysis = recall.Analysis{}
	m.Checkpoint.State.Files, m.Checkpoint.State.Context.FileNotes = map[string]recall.File{}, []recall.FileNote{{Path: "last.go"}, {Path: "before.go"}}
	for i, name := range []string{"formatted.go", "before.go", "last.go"} { // the latest first
		put(&m, name, recall.Modified, "package p\n")
		f := m.Checkpoint.State.Files[name]
		f.LastModified = noon.Add(-time.Duration(i) * time.Hour)
		m.Checkpoint.State.Files[name] = f
	}
	text := strings.Join(brief.Write(m).Parts, "\n")
	last, before, formatted := strings.Index(text, "- last.go"), strings.Index(text, "- before.go"), strings.Index(text, "- formatted.go")
	if last < 0 || before < last || formatted < before {
		t.Error(text)
	}
}

// A commit is not attributed to a request that only asked to commit the work of earlier requests.
func TestWriteCommitOnRequest(t *testing.T) {
	t.Parallel()
	m := material()
	a := &m.Checkpoint.State.Analysis
	a.Requests = []recall.Request{{Number: 1, Text: "mend the dates"}, {Number: 2, Text: "then commit it"}}
	a.Progress = recall.Progress{Commits: []recall.Commit{{Hash: "abc1235", Subject: "dates", Request: 2}, {Hash: "abc1234", Subject: "clock", Request: 1}}}
	text := strings.Join(brief.Write(m).Parts, "\n")
	for _, want := range []string{"- committed as `abc1235`: dates\n", "- committed as `abc1234`: clock, for request 1\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// A command with an unknown result is left out if a later command runs the same checks.
func TestWriteCommands(t *testing.T) {
	t.Parallel()
	m := material()
	m.Checkpoint.State.Context.Commands = []recall.Command{
		{Text: "make lint | tail -5", Result: recall.Unknown},
		{Text: "make test", Result: recall.Passed},
		{Text: "make lint", Result: recall.Passed},
		{Text: "make lint test | tail -3", Result: recall.Unknown},
		{Text: "make build | tail", Result: recall.Unknown},
		{Text: "make watch", Result: recall.Unknown},
	}
	text := strings.Join(brief.Write(m).Parts, "\n")
	want := "**Commands** (latest first):\n- `make lint | tail -5`: result unknown\n- `make test`: passed\n- `make lint`: passed\n- `make build | tail`: result unknown\n- `make watch`: result unknown\n"
	if !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

// An Opening contains the last request even with many uncommitted files, which it counts in the
// state and names once.
func TestWriteOpeningOfManyFiles(t *testing.T) {
	t.Parallel()
	m := material()
	m.Kind = brief.Opening
	m.Checkpoint.State.Files = map[string]recall.File{}
	for i := range 12 {
		name := fmt.Sprintf("cmd/program/commands/integration_test/a_long_name_of_file_number_%d_test.go", i)
		m.Checkpoint.State.Files[name] = recall.File{Path: name, Change: recall.Modified, Tracked: recall.Uncommitted}
	}
	m.Checkpoint.State.Analysis.Requests = []recall.Request{{Number: 1, Text: strings.Repeat("the review that was pasted ", 40)}}
	text := brief.Write(m).Parts[0]
	for _, want := range []string{"1. the review", "- not committed: 12 files\n", "file_number_0_test.go"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	m.Kind = brief.Full
	if text := brief.Write(m).Parts[0]; !strings.Contains(text, ", and 6 more\n") {
		t.Error(text)
	}
}

// A compaction summary begins with the remaining work, unless the session continued after it.
func TestWriteCompaction(t *testing.T) {
	t.Parallel()
	m := material()
	m.Checkpoint.Compaction = "1. Primary Request:\nthe request\n6. All user messages:\n- go\n7. Pending Tasks:\n- the rest\n8. Current Work:\nthe work\n```go\nfunc X()\n```\n9. Next Step:\nthe step\n"
	text := strings.Join(brief.Write(m).Parts, "\n")
	if want := "> 7. Pending Tasks:\n> - the rest\n> 8. Current Work:\n> the work\n> 9. Next Step:\n> the step\n> 1. Primary Request:\n> the request\n"; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
	m.Checkpoint.State.Analysis.Progress.PastCompaction = true
	text = strings.Join(brief.Write(m).Parts, "\n")
	if strings.Contains(text, "the rest") || strings.Contains(text, "the step") || !strings.Contains(text, "> the request\n") {
		t.Error(text)
	}
}

// Each section can be written alone, and an unknown one is an error.
func TestSection(t *testing.T) {
	t.Parallel()
	m := material()
	m.Checkpoint.Compaction = "7. Pending Tasks:\n- the rest\n"
	const limit = 300
	for name, want := range map[string]string{
		"requests": "3. never store the key", "state": "- pull request 12", "decisions": "- Use HS256 for now", "todo": "- go vet fails", "files": "- go.mod, cmd/main.go",
		"file contents": "func Edited() {}", "commands": "`go test ./auth`: passed", "compaction": "> - the rest",
	} {
		text, err := brief.Section(m, name, limit)
		if err != nil || !strings.Contains(text, want) || brief.CountTokens(text) > limit || !slices.Contains(brief.SectionNames(), name) {
			t.Errorf("%s: no %q in %q, %v", name, want, text, err)
		}
	}
	if _, err := brief.Section(m, "weather", limit); err == nil {
		t.Error("no error")
	}
}

// A checkpoint of an earlier version has no requests, so the brief contains its task.
func TestWriteEarlierVersion(t *testing.T) {
	t.Parallel()
	m := material()
	a := &m.Checkpoint.State.Analysis
	a.Requests, a.Todo, a.Progress, a.OpenQuestion = nil, nil, recall.Progress{}, ""
	m.Checkpoint.Description = "Asked: Implementing JWT validation\nThe agent said last: Half done."
	text := strings.Join(brief.Write(m).Parts, "\n")
	for _, want := range []string{"**Current Task**: Implementing JWT validation\n", "- The agent said last: Half done.\n", "1. Add token refresh\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// Long lists are cut in turns, so that no section displaces another.
func TestWriteIsFair(t *testing.T) {
	t.Parallel()
	m := material()
	m.Checkpoint.State.Analysis.Decisions = slices.Repeat([]string{strings.Repeat("a long decision ", 15)}, 500)
	m.Checkpoint.State.Context.FilesRead = slices.Repeat([]string{"some/file/that/was/read.go"}, 5000)
	m.Checkpoint.Compaction = strings.Repeat("a line of the summary\n", 500)
	text := strings.Join(brief.Write(m).Parts, "\n")
	for _, want := range []string{"3. Update docs", "- go vet fails", "make watch", "docs/auth.md", "/home/ann/repo", "feature/auth", "more\n", "> a line of the summary\n", "more lines"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

func TestAgo(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]string{
		-time.Hour: "just now", 59 * time.Second: "just now", time.Minute: "1 minute ago", 45 * time.Minute: "45 minutes ago",
		time.Hour: "1 hour ago", 23 * time.Hour: "23 hours ago", 25 * time.Hour: "1 day ago", 90 * 24 * time.Hour: "90 days ago",
	} {
		check(t, age.String(), want, brief.Ago(noon, noon.Add(-age)))
	}
}

// An Opening keeps its limit even if the name, the summary and the branch of its checkpoint take
// two to four tokens for each letter.
func TestOpeningOfCostlyNames(t *testing.T) {
	t.Parallel()
	for _, letter := range []string{"é", "漢", "😀", "~^", "x1", "Q9", "zqX"} {
		name := strings.Repeat(letter, 200)
		m := brief.Material{Kind: brief.Opening, Now: noon, Branch: "main"}
		m.Checkpoint = recall.Checkpoint{ID: name, Summary: name, Sessions: []string{name}, Cause: recall.Plan, CreatedAt: noon}
		m.Checkpoint.State.Context.GitBranch = name
		b := brief.Write(m)
		if b.Tokens > brief.MaxOpeningTokens || !strings.Contains(b.Message, letter) {
			t.Errorf("%s: %d tokens: %s", letter, b.Tokens, b.Parts)
		}
	}
}
