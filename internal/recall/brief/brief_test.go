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

	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/brief"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func sum(text string) string {
	h := sha256.Sum256([]byte(text))
	return hex.EncodeToString(h[:])
}

// material is a small checkpoint with a file in each state.
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
				},
				Context: recall.Context{
					WorkingDirectory: "/home/ann/repo", GitBranch: "feature/auth", GitCommit: "1111111111111111111111111111111111111111",
					Commands:  []recall.Command{{Text: "go vet ./...", Result: recall.Failed}, {Text: "go test ./auth", Result: recall.Passed}, {Text: "make watch", Result: recall.Unknown}},
					FilesRead: []string{"go.mod", "cmd/main.go"},
				},
			},
		},
		Now: noon, Present: map[string]brief.Present{}, Base: map[string]string{}, Parts: 2,
		Branch: "feature/auth", Commit: "1111111111111111111111111111111111111111",
	}
	put(&m, "auth/new.go", recall.Added, "package auth\n\nfunc New() {}\n")
	put(&m, "auth/edited.go", recall.Modified, "package auth\n\nfunc Edited() {}\n")
	put(&m, "auth/stale.go", recall.Modified, "package auth\n\nfunc Old() {}\n")
	put(&m, "auth/lost.go", recall.Modified, "package auth\n\nfunc Lost() {}\n")
	put(&m, "auth/gone.go", recall.Added, "package auth\n")
	m.Present["auth/stale.go"] = brief.Present{Exists: true, Hash: sum("x"), Content: "package auth\n\nfunc Newer() {}\n"}
	m.Present["auth/lost.go"] = brief.Present{Exists: true, Hash: sum("y")}
	m.Present["auth/gone.go"] = brief.Present{}
	return m
}

// put adds a file that is on disk as it was saved.
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

func TestWriteFull(t *testing.T) {
	t.Parallel()
	b := brief.Write(material())
	check(t, "parts", []string{`Resumed from checkpoint: Implemented JWT middleware (4 files, +30 -2) (saved 1 hour ago)
Checkpoint 3f9a1c-77b0e2 recorded session 1234abcd before its context was cleared; ignore it if the new request is about something else.

**Current Task**: Implementing JWT validation
**Next Steps**:
1. Add token refresh
2. Update docs
**Decisions Made**:
- Use HS256 for now
**Blockers**:
- go vet fails
**Recent Commands** (latest first):
- go vet ./...: failed
- go test ./auth: passed
- make watch: result unknown
**Files Read** (not changed, latest first):
- go.mod, cmd/main.go
**Docs**:
- docs/auth.md
**Working Directory**: /home/ann/repo
**Git Branch**: feature/auth at 1111111111, not moved since; committed checkpoints a3b2c4d5e6f7
**Working Files** (current: on disk as saved, by SHA-256; as they were saved: ` + "`entire recall show 3f9a1c-77b0e2 --file PATH`" + `):
- auth/lost.go (modified, changed since)
- auth/gone.go (added, deleted since)
### auth/new.go (added, current)
` + "```go\npackage auth\n\nfunc New() {}\n```" + `
### auth/edited.go (modified, current)
` + "```go\npackage auth\n\nfunc Edited() {}\n```" + `
### auth/stale.go (modified, changed since): as it is now
` + "```go\npackage auth\n\nfunc Newer() {}\n```"}, b.Parts)
	check(t, "message", "Resumed from checkpoint: Implemented JWT middleware (4 files, +30 -2) (saved 1 hour ago)", b.Message)
	check(t, "whole", []string{"auth/new.go", "auth/edited.go", "auth/stale.go"}, b.Whole)
	check(t, "named", []string{"auth/lost.go", "auth/gone.go"}, b.Named)
	check(t, "tokens", brief.CountTokens(b.Parts[0]), b.Tokens)
}

// What a short brief says is without files' contents and names of files read.
func TestWriteShort(t *testing.T) {
	t.Parallel()
	m := material()
	m.Kind = brief.Short
	b := brief.Write(m)
	if len(b.Parts) != 1 || strings.Contains(b.Parts[0], "func") || strings.Contains(b.Parts[0], "cmd/main.go") {
		t.Errorf("parts: %q", b.Parts)
	}
	for _, want := range []string{"Resumed from checkpoint: ", "Add token refresh", "- auth/edited.go (modified, current)\n", "go vet ./...: failed"} {
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
		"Not loaded; if the request goes on with that work: `entire recall resume 3f9a1c-77b0e2` prints it."}, b.Parts)
}

func TestWriteDrift(t *testing.T) {
	t.Parallel()
	m := material()
	m.Kind, m.Branch, m.Commit = brief.Drift, "main", "2222222222222222222222222222222222222222"
	m.Others = []brief.Other{{Session: "9999aaaa-0000", Files: []string{"auth/stale.go"}, At: noon.Add(-5 * time.Minute)}}
	check(t, "parts", []string{`Changed since checkpoint: Implemented JWT middleware (4 files, +30 -2) (saved 1 hour ago)
**Git Branch**: feature/auth at 1111111111; now main at 2222222222
**Other Sessions**:
- session 9999aaaa changed after the checkpoint, 5 minutes ago: auth/stale.go
**Working Files** (current: on disk as saved, by SHA-256; as they were saved: ` + "`entire recall show 3f9a1c-77b0e2 --file PATH`" + `):
- auth/lost.go (modified, changed since)
- auth/gone.go (added, deleted since)
### auth/stale.go (modified, changed since): changes since the checkpoint
` + "```diff\n@@ -1,3 +1,3 @@\n package auth\n \n-func Old() {}\n+func Newer() {}\n```"}, brief.Write(m).Parts)
}

// Nothing that drifted is nothing to say.
func TestWriteDriftOfNothing(t *testing.T) {
	t.Parallel()
	m := material()
	m.Kind, m.Checkpoint.State.Files = brief.Drift, map[string]recall.File{}
	put(&m, "a.go", recall.Added, "package a\n")
	check(t, "brief", brief.Brief{}, brief.Write(m))
}

// A file in each state is called what it is, and stale contents aren't shown.
func TestWriteStates(t *testing.T) {
	t.Parallel()
	const saved = "the saved text\n"
	for name, test := range map[string]struct {
		change  func(*recall.File, *brief.Present)
		want    string
		content string // that is shown
	}{
		"current":     {func(*recall.File, *brief.Present) {}, "f.txt (modified, current)\n", saved},
		"figures":     {func(f *recall.File, _ *brief.Present) { f.Added, f.Removed = 3, 1 }, "f.txt (modified +3 -1, current)\n", saved},
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
		"binary":    {func(f *recall.File, _ *brief.Present) { f.Content, f.Omitted = "", recall.Binary }, "- f.txt (modified, current, binary)\n", ""},
		"unchecked": {func(_ *recall.File, p *brief.Present) { p.Hash = "" }, "f.txt (modified, as saved, not checked)\n", saved},
		"summary": {func(f *recall.File, p *brief.Present) {
			f.Content, f.Omitted, p.Content = "", recall.NotWanted, saved
		}, "f.txt (modified, current)\n", saved},
		"empty":     {func(f *recall.File, p *brief.Present) { f.Content, f.Size, f.Hash, p.Hash = "", 0, sum(""), sum("") }, "### f.txt (modified, current)\n```txt\n```", ""},
		"invisible": {func(f *recall.File, _ *brief.Present) { f.Content = "a\x1b[1m\u202eb\n" }, "f.txt (modified, current); some characters left out\n", "a[1mb\n"},
		"fence":     {func(f *recall.File, _ *brief.Present) { f.Content = "a\n````\nb" }, "`````txt\na\n````\nb\n`````", ""},
		"crlf":      {func(f *recall.File, _ *brief.Present) { f.Content = "a\r\nb\r\n" }, "f.txt (modified, current)\n", "```txt\na\nb\n```"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := material()
			m.Checkpoint.State.Files = map[string]recall.File{}
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

// A file that is too large for the brief stands in it by its changes, else by
// its declarations, else by its name.
func TestWriteTiers(t *testing.T) {
	t.Parallel()
	var old strings.Builder
	old.WriteString("package big\n")
	for i := range 900 {
		fmt.Fprintf(&old, "func Declared%d() int { return %d }\n", i, i)
	}
	big := strings.Replace(old.String(), "return 500 }", "return -1 }", 1)
	m := material()
	m.Checkpoint.State.Files = map[string]recall.File{}
	put(&m, "big.go", recall.Modified, big)
	put(&m, "new.go", recall.Added, big)
	put(&m, "big.txt", recall.Added, strings.Repeat("some words on a line\n", 3000))
	put(&m, "small.go", recall.Added, "package small\n")
	m.Base["big.go"] = old.String()
	b := brief.Write(m)
	check(t, "whole", []string{"small.go"}, b.Whole)
	check(t, "hunks", []string{"big.go"}, b.Hunks)
	check(t, "outlined", []string{"new.go"}, b.Outlined)
	check(t, "named", []string{"big.txt"}, b.Named)
	text := strings.Join(b.Parts, "\n")
	for _, want := range []string{"### big.go (modified, current): changes of the session\n```diff\n@@ -499,7 +499,7 @@\n", "### new.go (added, current): outline, 60 of 200 declarations\n```\n2: func Declared0() int { return 0 }\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// A decision that is the task once more isn't said twice.
func TestWriteSaysTheTaskOnce(t *testing.T) {
	t.Parallel()
	m := material()
	m.Checkpoint.State.Analysis.CurrentTask = "Use the other one instead of this"
	m.Checkpoint.State.Analysis.Decisions = []string{"user: Use the other one instead...", "user: Use tabs"}
	text := brief.Write(m).Parts[0]
	if strings.Count(text, "the other one") != 1 || !strings.Contains(text, "- user: Use tabs\n") {
		t.Error(text)
	}
}

// What doesn't fit in one part stands in the second.
func TestWriteTwoParts(t *testing.T) {
	t.Parallel()
	m := material()
	m.Checkpoint.State.Files = map[string]recall.File{}
	for i := range 6 {
		put(&m, fmt.Sprintf("f%d.txt", i), recall.Added, strings.Repeat(fmt.Sprintf("the file %d has words\n", i), 90))
	}
	b := brief.Write(m)
	if len(b.Parts) != 2 || !strings.HasPrefix(b.Parts[1], "Files of checkpoint 3f9a1c-77b0e2, continued:\n### f") {
		t.Fatalf("parts: %q", b.Parts)
	}
	for _, name := range b.Whole {
		if n := strings.Count(strings.Join(b.Parts, "\n"), "### "+name+" "); n != 1 {
			t.Errorf("%s is in it %d times", name, n)
		}
	}
	if len(b.Whole) < 4 {
		t.Errorf("only %v", b.Whole)
	}
	m.Parts = 1
	if b := brief.Write(m); len(b.Parts) != 1 {
		t.Errorf("%d parts", len(b.Parts))
	}
}

// Long lists are cut in turns, so that no section starves another.
func TestWriteIsFair(t *testing.T) {
	t.Parallel()
	m := material()
	m.Checkpoint.State.Analysis.Decisions = slices.Repeat([]string{strings.Repeat("a long decision ", 15)}, 500)
	m.Checkpoint.State.Context.FilesRead = slices.Repeat([]string{"some/file/that/was/read.go"}, 5000)
	m.Checkpoint.Compaction = strings.Repeat("a line of the summary\n", 500)
	text := strings.Join(brief.Write(m).Parts, "\n")
	for _, want := range []string{"2. Update docs", "- go vet fails", "make watch", "docs/auth.md", "/home/ann/repo", "feature/auth", "more\n", "> a line of the summary\n", "more lines"} {
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
