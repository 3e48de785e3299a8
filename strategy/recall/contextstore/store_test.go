package contextstore_test

import (
	"context"
	"crypto/rand"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/catalog"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/git/gittest"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
)

// bench is a repository with a store and a catalog, and a clock that only tests advance.
type bench struct {
	testing.TB
	*gittest.Sandbox

	root  string
	now   time.Time
	store contextstore.Store
}

func newBench(t testing.TB) *bench {
	t.Helper()
	b := benchIn(gittest.New(t))
	b.Git(b.Mkdir("repo"), "init", "-q", "-b", "main")
	b.write("a.go", "package a\n")
	b.Git(b.root, "add", "-A")
	b.Git(b.root, "commit", "-qm", "first")
	b.open()
	return b
}

func benchIn(s *gittest.Sandbox) *bench {
	return &bench{TB: s.T, Sandbox: s, root: s.Path("repo"), now: time.Now().Add(time.Minute)}
}

func (b *bench) open() {
	b.Helper()
	b.store = b.at(b.root)
}

// at returns the store as opened from a worktree.
func (b *bench) at(root string) contextstore.Store {
	b.Helper()
	repo := b.Open(root)
	return contextstore.Store{
		Repo: repo, Random: rand.Reader,
		Now: func() time.Time { return b.now },
		By: func(context.Context) (git.Signature, error) {
			return git.Signature{Name: "Ada", Email: "ada@example.com", When: b.now}, nil
		},
		Catalog: func(ctx context.Context) (*catalog.Catalog, error) { return catalog.Open(ctx, b.catalogPath()) },
	}
}

func (b *bench) catalogPath() string { return filepath.Join(b.Dir, "catalog", "agentfs.db") }

func (b *bench) write(path, content string) {
	b.Helper()
	b.Write(b.root, path, content)
}

// blob stores a content, as a capture does.
func (b *bench) blob(content string) string {
	b.Helper()
	oid, err := b.store.Repo.WriteBlob([]byte(content))
	fine(b, err)
	return string(oid)
}

// checkpoint returns a checkpoint with a value in every field.
func (b *bench) checkpoint(summary string) recall.Checkpoint {
	return recall.Checkpoint{
		Summary: summary, Description: "What was asked.", CreatedAt: b.now.UTC().Truncate(time.Second),
		Tags: []string{"auth"}, Status: recall.Pending, Cause: recall.Clear, Mode: recall.StatefulMode,
		Sessions: []string{"s2", "s1"}, Checkpoints: []string{"aabbccddeeff"}, Prompts: 3, Tokens: 12345,
		Compaction: "so far", Warnings: []string{"x.bin: too large"},
		State: recall.State{
			Files: map[string]recall.File{
				"a.go": {
					Path: "a.go", Hash: strings.Repeat("a", 64), Size: 10, LastModified: b.now.UTC(), Change: recall.Modified,
					Added: 2, Removed: 1, Outline: []recall.Declaration{{Line: 1, Text: "func A()"}}, Blob: b.blob("package a\n"),
				},
				"pkg/b.go": {Path: "pkg/b.go", Size: 10, Change: recall.Added, Blob: b.blob("package b\n")},
				"gone.go":  {Path: "gone.go", Change: recall.Deleted, Omitted: recall.Gone},
			},
			Analysis: recall.Analysis{
				CurrentTask: "Validate <JWT> & co", NextSteps: []string{"Refresh"}, Decisions: []string{"HS256"},
				Blockers: []string{"none yet"}, RelevantDocs: []string{"README.md"},
			},
			Context: recall.Context{
				WorkingDirectory: b.root, RelevantPackages: []string{"pkg"}, RecentCommands: []string{"go test"},
				GitBranch: "main", GitCommit: strings.Repeat("c", 40),
				Commands: []recall.Command{{Text: "go test", Result: recall.Failed}}, FilesRead: []string{"go.mod"},
			},
		},
	}
}

// put stores a checkpoint, a second later than the one before, and returns its id.
func (b *bench) put(c recall.Checkpoint) string {
	b.Helper()
	b.now = b.now.Add(time.Second)
	c.CreatedAt = b.now
	id, err := b.store.Put(b.Context(), c)
	fine(b, err)
	return id
}

func fine(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

func (b *bench) summaries(f contextstore.Filter) []string {
	b.Helper()
	list, err := b.store.List(b.Context(), f)
	fine(b, err)
	var names []string
	for _, e := range list {
		names = append(names, e.Summary)
	}
	return names
}

func (b *bench) lists(f contextstore.Filter, want ...string) {
	b.Helper()
	if diff := cmp.Diff(want, b.summaries(f)); diff != "" {
		b.Errorf("%+v: %s", f, diff)
	}
}

func TestPutRoundTrip(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	want := b.checkpoint("Implemented auth")
	id, err := b.store.Put(t.Context(), want)
	fine(t, err)
	if !contextstore.IsID(id) {
		t.Errorf("%q is no id", id)
	}
	got, err := b.store.Get(t.Context(), id)
	fine(t, err)
	want.ID, want.Worktree, want.State.TotalSize = id, b.root, 20
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	fine(t, b.store.ReadContents(t.Context(), &got))
	if got.State.Files["a.go"].Content != "package a\n" || got.State.Files["gone.go"].Content != "" {
		t.Errorf("the contents are %+v", got.State.Files)
	}
}

func TestGitShowsACheckpoint(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.put(b.checkpoint("Implemented\n auth"))
	ref := contextstore.Refs + id
	if got := b.Git(b.root, "show", ref+":files/pkg/b.go"); got != "package b" {
		t.Errorf("the file is %q", got)
	}
	if got := b.Git(b.root, "log", "--format=%P|%B", ref); got != "|Implemented auth" && got != "|Implemented auth\n" {
		t.Errorf("the log is %q", got)
	}
	text := b.Git(b.root, "show", ref+":checkpoint.json")
	for _, want := range []string{`"current_task": "Validate <JWT> & co"`, `"format": 1`, `"status": "pending"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	if strings.Contains(text, `"content":`) {
		t.Error("the contents are in the description")
	}
	b.Git(b.root, "fsck", "--strict")
}

func TestInvalidTreePathsKeepContents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.checkpoint("odd")
	want := map[string]string{
		"a": "1", "a/b": "2", "../up": "3", ".git/config": "4", "x//y": "5", "new\nline": "6", "d/e": "7", "d": "8", strings.Repeat("n", 5000): "9", "": "10",
	}
	c.State.Files = map[string]recall.File{}
	for path, content := range want {
		c.State.Files[path] = recall.File{Content: content}
	}
	got, err := b.store.Get(t.Context(), b.put(c))
	fine(t, err)
	fine(t, b.store.ReadContents(t.Context(), &got))
	has := map[string]string{}
	for path, f := range got.State.Files {
		has[path] = f.Content
	}
	if diff := cmp.Diff(want, has); diff != "" {
		t.Error(diff)
	}
	b.Git(b.root, "fsck")
}

func TestInvalidNamesAreReported(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.checkpoint("odd")
	c.State.Files = map[string]recall.File{"\xff": {Content: "1"}, "\xfe": {Content: "2"}}
	got, err := b.store.Get(t.Context(), b.put(c))
	fine(t, err)
	if len(got.State.Files) != 1 || len(got.Warnings) != 2 {
		t.Errorf("%d files, %q", len(got.State.Files), got.Warnings)
	}
}

func TestMissingObjectKeepsRefValid(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	c := b.checkpoint("pruned")
	f := c.State.Files["a.go"]
	f.Blob = string(b.store.Repo.Format.HashBlob([]byte("never stored")))
	c.State.Files["a.go"] = f
	got, err := b.store.Get(t.Context(), b.put(c))
	fine(t, err)
	if got.State.Files["a.go"].Omitted != recall.Unreadable || got.State.Files["pkg/b.go"].Omitted != "" || len(got.Warnings) != 2 {
		t.Errorf("%+v", got)
	}
	b.Git(b.root, "gc", "-q", "--prune=now")
}

func TestContentsSurviveGC(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.put(b.checkpoint("kept"))
	b.Git(b.root, "gc", "-q", "--prune=now")
	b.open()
	got, err := b.store.Get(t.Context(), id)
	fine(t, err)
	fine(t, b.store.ReadContents(t.Context(), &got, "a.go"))
	if got.State.Files["a.go"].Content != "package a\n" || got.State.Files["pkg/b.go"].Content != "" {
		t.Errorf("%+v", got.State.Files)
	}
	b.lists(contextstore.Filter{}, "kept")
}

// A content far larger than its file was is not read. A warning names it, and the others are read.
func TestAttackLargeContents(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	large, err := b.store.Repo.WriteBlob(make([]byte, 1<<20))
	fine(t, err)
	c := b.checkpoint("large")
	f := c.State.Files["a.go"]
	f.Blob = string(large)
	c.State.Files["a.go"] = f
	got, err := b.store.Get(t.Context(), b.put(c))
	fine(t, err)
	fine(t, b.store.ReadContents(t.Context(), &got))
	if f := got.State.Files["a.go"]; f.Omitted != recall.TooLarge || f.Content != "" || f.Blob != "" {
		t.Errorf("%s of %d bytes", f.Omitted, len(f.Content))
	}
	if got.State.Files["pkg/b.go"].Content == "" {
		t.Error("the other content is missing")
	}
	if n := len(got.Warnings); n == 0 || got.Warnings[n-1] != "content of a.go left out: too large to be read" {
		t.Errorf("warnings: %q", got.Warnings)
	}
}

func TestCheckpointsAreNotTransferred(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(b.checkpoint("mine"))
	b.Git(b.Dir, "clone", "-q", "--no-local", "repo", "clone")
	b.Git(b.Dir, "init", "-q", "--bare", "hub")
	b.Git(b.root, "push", "-q", "--all", filepath.Join(b.Dir, "hub"))
	b.Git(b.root, "push", "-q", "--tags", filepath.Join(b.Dir, "hub"))
	for _, other := range []string{"clone", "hub"} {
		if got := b.Git(filepath.Join(b.Dir, other), "for-each-ref", "refs/entire"); got != "" {
			t.Errorf("%s has %s", other, got)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ids := []string{"3f9a1c-77b0e2", "3f9a1c-000000", "abcdef-123456"}
	for _, id := range ids {
		b.store.Random = strings.NewReader(unhex(t, id))
		if got := b.put(b.checkpoint(id)); got != id {
			t.Fatalf("it got %s", got)
		}
	}
	for prefix, want := range map[string]any{
		"3f9a1c-77b0e2": ids[0], "3f9a1c77b0e2": ids[0], "3F9A1C-7": ids[0], "abcd": ids[2], "abcdef-": ids[2],
		"3f9a": recall.ErrAmbiguous, "3f9a1c": recall.ErrAmbiguous,
		"abc": recall.ErrNotFound, "": recall.ErrNotFound, "ffff": recall.ErrNotFound, "*": recall.ErrNotFound, "abcdef-1234567": recall.ErrNotFound,
	} {
		got, err := b.store.Find(t.Context(), prefix)
		if id, ok := want.(string); ok && (err != nil || got != id) {
			t.Errorf("%q: %q, %v", prefix, got, err)
		} else if fail, ok := want.(error); ok && !errors.Is(err, fail) {
			t.Errorf("%q: %q, %v, want %v", prefix, got, err, fail)
		}
	}
	// An id that is in use is drawn again.
	b.store.Random = strings.NewReader(unhex(t, ids[2]) + unhex(t, "000001-000002"))
	if got := b.put(b.checkpoint("new")); got != "000001-000002" {
		t.Errorf("it got %s", got)
	}
}

func unhex(t *testing.T, id string) string {
	t.Helper()
	var raw []byte
	for i := range 6 {
		digits := strings.ReplaceAll(id, "-", "")[2*i : 2*i+2]
		n := strings.IndexByte("0123456789abcdef", digits[0])*16 + strings.IndexByte("0123456789abcdef", digits[1])
		raw = append(raw, byte(n))
	}
	return string(raw)
}

func TestGetMissing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, id := range []string{"", "x", "abcdef-123456", "../../heads/main", "abcdef123456"} {
		if _, err := b.store.Get(t.Context(), id); !errors.Is(err, recall.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
		if err := b.store.SetStatus(t.Context(), id, recall.Kept); !errors.Is(err, recall.ErrNotFound) {
			t.Errorf("%q: %v", id, err)
		}
		fine(t, b.store.Discard(t.Context(), id))
	}
	c := b.checkpoint("discarded meanwhile")
	c.ID = "abcdef-123456"
	if _, err := b.store.Put(t.Context(), c); !errors.Is(err, recall.ErrNotFound) {
		t.Errorf("replaced: %v", err)
	}
}

func TestStatusAndReplace(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.put(b.checkpoint("first"))
	older, err := b.store.Get(t.Context(), id)
	fine(t, err)
	b.lists(contextstore.Filter{Status: recall.Pending}, "first")
	fine(t, b.store.SetStatus(t.Context(), id, recall.Kept))
	fine(t, b.store.SetStatus(t.Context(), id, recall.Kept))
	b.lists(contextstore.Filter{Status: recall.Pending})
	b.lists(contextstore.Filter{Status: recall.Kept}, "first")

	older.Summary = "better" // as a model improves it, read while it was pending
	older.State.Files["new.go"] = recall.File{Content: "package n\n"}
	got, err := b.store.Put(t.Context(), older)
	if err != nil || got != id {
		t.Errorf("replaced: %s, %v", got, err)
	}
	now, err := b.store.Get(t.Context(), id)
	fine(t, err)
	fine(t, b.store.ReadContents(t.Context(), &now))
	if now.Status != recall.Kept || now.Summary != "better" || now.State.Files["new.go"].Content != "package n\n" || now.State.Files["a.go"].Content != "package a\n" {
		t.Errorf("%+v", now)
	}
	b.lists(contextstore.Filter{}, "better")
	if n := strings.Count(b.Git(b.root, "for-each-ref", contextstore.Refs), "\n"); n != 0 {
		t.Errorf("%d more refs", n)
	}
	fine(t, b.store.Discard(t.Context(), id, "abcdef-123456"))
	b.lists(contextstore.Filter{})
}

func TestConcurrentChanges(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := b.put(b.checkpoint("one"))
	done := make(chan error)
	for n := range 4 {
		store := b.at(b.root)
		go func() {
			if n%2 == 0 {
				done <- store.SetStatus(t.Context(), id, recall.Kept)
				return
			}
			c, err := store.Get(t.Context(), id)
			if err == nil {
				c.Description = "changed"
				_, err = store.Put(t.Context(), c)
			}
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	got, err := b.store.Get(t.Context(), id)
	if err != nil || got.Status != recall.Kept || got.Description != "changed" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestListFilters(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for n, summary := range []string{"one", "two", "three"} {
		c := b.checkpoint(summary)
		c.Sessions = []string{summary}
		if c.Status = recall.Kept; n == 2 {
			c.Status, c.Worktree, c.State.Context.GitBranch = recall.Pending, "/elsewhere", "topic"
			c.State.Analysis.NextSteps = []string{"Größe prüfen"}
		}
		b.put(c)
	}
	b.lists(contextstore.Filter{}, "three", "two", "one")
	b.lists(contextstore.Filter{Limit: 2}, "three", "two")
	b.lists(contextstore.Filter{Worktree: b.root}, "two", "one")
	b.lists(contextstore.Filter{Worktree: b.root, Limit: 1}, "two")
	b.lists(contextstore.Filter{Branch: "topic"}, "three")
	b.lists(contextstore.Filter{Session: "one"}, "one")
	b.lists(contextstore.Filter{Status: recall.Pending}, "three")
	b.lists(contextstore.Filter{Query: "GRÖSSE PRÜFEN"})
	b.lists(contextstore.Filter{Query: "prüfen GRÖßE"}, "three")
	b.lists(contextstore.Filter{Query: "pkg/b.go auth", Limit: 1}, "three")
	b.lists(contextstore.Filter{Query: "hs256 two"}, "two")
	b.lists(contextstore.Filter{Query: "nowhere"})
	list, err := b.store.List(t.Context(), contextstore.Filter{Session: "two"})
	fine(t, err)
	want := []contextstore.Entry{{
		ID: list[0].ID, Summary: "two", CreatedAt: b.now.Add(-time.Second).UTC().Truncate(time.Second),
		Status: recall.Kept, Cause: recall.Clear, Mode: recall.StatefulMode, Worktree: b.root, Branch: "main",
		Commit: strings.Repeat("c", 40), Session: "two", Files: 3, Size: 20,
	}}
	if diff := cmp.Diff(want, list); diff != "" {
		t.Error(diff)
	}
}

func TestOrderWithinOneSecond(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.now = b.now.Truncate(time.Second)
	var want []string
	for _, summary := range []string{"a", "b", "c", "d", "e", "f"} {
		b.now = b.now.Add(time.Millisecond)
		c := b.checkpoint(summary)
		_, err := b.store.Put(t.Context(), c)
		fine(t, err)
		want = append([]string{summary}, want...)
	}
	b.lists(contextstore.Filter{}, want...)
}

func TestPrune(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	add := func(summary, worktree string, cause recall.Cause) {
		c := b.checkpoint(summary)
		c.Worktree, c.Cause = worktree, cause
		b.put(c)
	}
	add("x1", "/x", recall.Clear)
	add("x2", "/x", recall.Requested)
	add("y1", "/y", recall.Exit)
	add("x3", "/x", recall.Compact)
	add("x4", "/x", recall.Lost)
	gone, err := b.store.Prune(t.Context(), 2, 0)
	fine(t, err)
	if len(gone) != 1 || gone[0].Summary != "x1" {
		t.Errorf("%+v went", gone)
	}
	b.lists(contextstore.Filter{}, "x4", "x3", "y1", "x2")
	_, err = b.store.Prune(t.Context(), 0, time.Hour)
	fine(t, err)
	b.lists(contextstore.Filter{}, "x4", "y1", "x2")
	b.now = b.now.Add(2 * time.Hour)
	_, err = b.store.Prune(t.Context(), 10, time.Hour)
	fine(t, err)
	b.lists(contextstore.Filter{}, "x2")
}
