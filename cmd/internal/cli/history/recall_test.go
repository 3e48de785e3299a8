package history

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/cmd/internal/ui/tui"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

// shelf holds saved contexts in memory.
type shelf struct {
	all     map[string]recall.Checkpoint
	damaged string
	brief   brief.Brief
	wanted  savedcontext.Saving
	asked   string
	kind    brief.Kind
}

func (s *shelf) Find(_ context.Context, prefix string) (string, error) {
	var found []string
	for id := range s.all {
		if strings.HasPrefix(id, prefix) {
			found = append(found, id)
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("find %s: %w", prefix, recall.ErrNotFound)
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("find %s: %w", prefix, recall.ErrAmbiguous)
}

func (s *shelf) Get(_ context.Context, id string) (recall.Checkpoint, error) {
	if id == s.damaged {
		return recall.Checkpoint{}, fmt.Errorf("read %s: %w", id, recall.ErrDamaged)
	}
	c := s.all[id]
	files := map[string]recall.File{}
	for path, f := range c.State.Files {
		f.Content = ""
		files[path] = f
	}
	c.State.Files = files
	return c, nil
}

func (s *shelf) ReadContents(_ context.Context, c *recall.Checkpoint, paths ...string) error {
	for path, f := range s.all[c.ID].State.Files {
		if len(paths) == 0 || slices.Contains(paths, path) {
			c.State.Files[path] = f
		}
	}
	return nil
}

func (s *shelf) List(_ context.Context, f contextstore.Filter) ([]contextstore.Entry, error) {
	var list []contextstore.Entry
	for _, c := range s.all {
		e := contextstore.Entry{
			ID: c.ID, Summary: c.Summary, CreatedAt: c.CreatedAt, Status: c.Status, Cause: c.Cause, Mode: c.Mode,
			Worktree: c.State.Context.WorkingDirectory, Branch: c.State.Context.GitBranch, Files: len(c.State.Files),
		}
		if (f.Worktree == "" || f.Worktree == e.Worktree) && strings.Contains(e.Summary, f.Query) && (f.Status == "" || f.Status == e.Status) {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(x, y contextstore.Entry) int { return y.CreatedAt.Compare(x.CreatedAt) })
	if f.Limit > 0 {
		list = list[:min(len(list), f.Limit)]
	}
	return list, nil
}

func (s *shelf) Discard(_ context.Context, ids ...string) error {
	for _, id := range ids {
		delete(s.all, id)
	}
	return nil
}

func (s *shelf) SaveContext(_ context.Context, want savedcontext.Saving) (recall.Checkpoint, error) {
	s.wanted = want
	return s.all["3f9a1c-77b0e2"], nil
}

func (s *shelf) Sections(_ context.Context, id string, names []string, limit int) ([]savedcontext.Section, error) {
	list := make([]savedcontext.Section, 0, len(names))
	for _, name := range names {
		list = append(list, savedcontext.Section{Name: name, Text: fmt.Sprintf("%s of %s within %d", name, id, limit)})
	}
	return list, nil
}

func (s *shelf) Recall(_ context.Context, id string, kind brief.Kind) (savedcontext.Recalled, error) {
	s.asked, s.kind = id, kind
	if id == "" {
		if len(s.all) == 0 {
			return savedcontext.Recalled{}, fmt.Errorf("recall: %w", recall.ErrNotFound)
		}
		id = "3f9a1c-77b0e2"
	}
	return savedcontext.Recalled{Checkpoint: s.all[id], Brief: s.brief}, nil
}

// newRecalling returns a run of recall on three checkpoints.
func newRecalling(t *testing.T) (r *recalling, s *shelf, out, errs *bytes.Buffer) {
	t.Helper()
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	s = &shelf{all: map[string]recall.Checkpoint{}, brief: brief.Brief{
		Message: "Resumed", Parts: []string{"Resumed\n\none\n", "two"}, Tokens: 1234,
	}}
	for _, c := range []recall.Checkpoint{
		{
			ID: "3f9a1c-77b0e2", Summary: "Implemented \x1b[31mJWT middleware", Description: "First\nsecond\x1b line", CreatedAt: now.Add(-45 * time.Minute),
			Tags: []string{"auth"}, Status: recall.Pending, Cause: recall.Clear, Mode: recall.StatefulMode,
			Sessions: []string{"11111111-aaaa"}, Checkpoints: []string{"0123456789ab"}, Prompts: 12, Tokens: 142_000,
			Compaction: "It was\nlong.", Warnings: []string{"big.bin: file too large"},
			State: recall.State{
				TotalSize: 24 << 10,
				Files: map[string]recall.File{
					"a.go":     {Path: "a.go", Change: recall.Modified, Added: 12, Removed: 3, Size: 1200, Hash: "ab", Content: "package a\r\n\x1b"},
					"x/b\n.go": {Path: "x/b\n.go", Change: recall.Added, Added: 2, Size: 20, Content: "b"},
					"big.bin":  {Path: "big.bin", Change: recall.Added, Size: 3 << 20, Hash: strings.Repeat("0", 64), Omitted: recall.TooLarge},
					"old":      {Path: "old", Change: recall.Deleted, Omitted: recall.Gone},
				},
				Analysis: recall.Analysis{
					CurrentTask: "Implement JWT validation", NextSteps: []string{"Add token refresh", "Update docs"},
					Decisions: []string{"Use HS256 for now"}, Blockers: []string{"go test ./... fails"}, RelevantDocs: []string{"README.md"},
				},
				Context: recall.Context{
					WorkingDirectory: "/work", GitBranch: "main", GitCommit: "0123456789abcdef", RelevantPackages: []string{"pkg/auth"},
					Commands:  []recall.Command{{Text: "go test ./...", Result: recall.Failed}, {Text: "go build ./...", Result: recall.Passed}},
					FilesRead: []string{"go.mod"},
				},
			},
		},
		{ID: "3f9a00-000001", Summary: "Earlier", CreatedAt: now.Add(-50 * time.Hour), Status: recall.Kept, Cause: recall.Requested, Mode: recall.SummaryMode, State: recall.State{Context: recall.Context{WorkingDirectory: "/work"}}},
		{ID: "aaaaaa-000002", Summary: "Elsewhere", CreatedAt: now, Status: recall.Kept, Cause: "new", State: recall.State{Context: recall.Context{WorkingDirectory: "/other/tree", GitBranch: strings.Repeat("b", 50), RecentCommands: []string{"make"}}}},
	} {
		s.all[c.ID] = c
	}
	out, errs = &bytes.Buffer{}, &bytes.Buffer{}
	a := &app.App{Env: app.Env{
		Dir: "/work/x", Getenv: func(string) string { return "" }, Now: func() time.Time { return now },
		Streams: ui.Streams{In: strings.NewReader(""), Out: out, Err: errs},
	}}
	a.Prompter = tui.NewPrompter(a.Streams)
	r = &recalling{App: a, root: "/work", store: s, saveContext: s.SaveContext, makeBrief: s.Recall, sections: s.Sections, is: settings.Settings{Enabled: true}}
	return r, s, out, errs
}

func TestRecallList(t *testing.T) {
	t.Parallel()
	r, _, out, _ := newRecalling(t)
	for _, opts := range []recallListOptions{{}, {all: true}, {all: true, limit: 1}, {all: true, query: "Earl"}} {
		if err := r.list(t.Context(), opts); err != nil {
			t.Fatal(err)
		}
		out.WriteString("--\n")
	}
	testkit.Golden(t, "testdata/recall-list.txt", out.String())
}

func TestRecallListEmpty(t *testing.T) {
	t.Parallel()
	r, s, out, errs := newRecalling(t)
	clear(s.all)
	for want, opts := range map[string]recallListOptions{
		"of this worktree yet": {}, "checkpoints yet. Save one": {all: true}, "has all of: a b": {all: true, query: "a b"},
	} {
		errs.Reset()
		if err := r.list(t.Context(), opts); err != nil || out.Len() > 0 || !strings.Contains(errs.String(), want) {
			t.Errorf("%v, %q, %q", err, out, errs)
		}
	}
	r.opts.json = true
	if err := r.list(t.Context(), recallListOptions{}); err != nil || !strings.Contains(out.String(), `"checkpoints": []`) {
		t.Errorf("%v, %q", err, out)
	}
	if err := r.list(t.Context(), recallListOptions{limit: -1}); err == nil {
		t.Error("a negative limit is taken")
	}
}

func TestRecallShow(t *testing.T) {
	t.Parallel()
	r, _, out, _ := newRecalling(t)
	for _, id := range []string{"", "3f9a00", "aaaa"} {
		if err := r.showOne(t.Context(), id, recallShowOptions{}); err != nil {
			t.Fatal(err)
		}
		out.WriteString("--\n")
	}
	testkit.Golden(t, "testdata/recall-show.txt", out.String())
	out.Reset()
	r.opts.json = true
	if err := r.showOne(t.Context(), "", recallShowOptions{}); err != nil {
		t.Fatal(err)
	}
	testkit.Golden(t, "testdata/recall-show.json", out.String())
	out.Reset()
	if err := r.showOne(t.Context(), "aaaa", recallShowOptions{}); err != nil || strings.Contains(out.String(), "null") {
		t.Errorf("%v, %s", err, out)
	}
}

func TestRecallShowFile(t *testing.T) {
	t.Parallel()
	r, _, out, _ := newRecalling(t)
	for _, name := range []string{"a.go", "../a.go", "/work/a.go", "./a.go"} { // the working directory is /work/x
		out.Reset()
		if err := r.showOne(t.Context(), "", recallShowOptions{file: name}); err != nil || out.String() != "package a\r\n\x1b" {
			t.Errorf("%s: %v, %q", name, err, out)
		}
	}
	for name, want := range map[string]string{
		"big.bin": "no content of big.bin is kept: file too large", "old": "no content of old is kept: deleted", "none": "none is not in checkpoint 3f9a1c-77b0e2",
	} {
		if err := r.showOne(t.Context(), "3f9a1c", recallShowOptions{file: name}); err == nil || err.Error() != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestRecallErrors(t *testing.T) {
	t.Parallel()
	r, s, _, _ := newRecalling(t)
	s.damaged = "aaaaaa-000002"
	for prefix, want := range map[string]error{"3f9a": recall.ErrAmbiguous, "aaaa": recall.ErrDamaged} {
		if err := r.showOne(t.Context(), prefix, recallShowOptions{}); !errors.Is(err, want) || app.HintOf(err) == "" {
			t.Errorf("%s: %v", prefix, err)
		}
	}
	if err := r.showOne(t.Context(), "ffff", recallShowOptions{}); err == nil || err.Error() != "no context checkpoint ffff" || app.HintOf(err) == "" {
		t.Error(err)
	}
	clear(s.all)
	if err := r.showOne(t.Context(), "", recallShowOptions{}); err == nil || !strings.Contains(app.HintOf(err), "recall save") {
		t.Error(err)
	}
}

func TestRecallBrief(t *testing.T) {
	t.Parallel()
	r, s, out, errs := newRecalling(t)
	if err := r.brief(t.Context(), "", brief.Full); err != nil {
		t.Fatal(err)
	}
	if want := "Resumed\n\none\n\n\ntwo\n"; out.String() != want {
		t.Errorf("%q", out)
	}
	if want := "checkpoint 3f9a1c-77b0e2, 2 parts, 1,234 tokens\n"; errs.String() != want {
		t.Errorf("%q", errs)
	}
	out.Reset()
	r.opts.json = true
	r.is.Recall.OnStart = settings.Never
	if err := r.brief(t.Context(), "3f9a00-000001", brief.Short); err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"schema": 1.0, "checkpoint": "3f9a00-000001", "message": "Resumed", "parts": []any{"Resumed\n\none\n", "two"}, "tokens": 1234.0}
	if d := cmp.Diff(want, got); d != "" || s.kind != brief.Short {
		t.Error(d, s.kind)
	}
}

func TestRecallBriefOfNothing(t *testing.T) {
	t.Parallel()
	r, s, out, errs := newRecalling(t)
	s.brief = brief.Brief{}
	r.is.Recall.OnStart = settings.Never
	if err := r.brief(t.Context(), "", brief.Full); err != nil || out.Len() > 0 {
		t.Errorf("%v, %q", err, out)
	}
	if err := r.brief(t.Context(), "3f9a1c-77b0e2", brief.Drift); err != nil || out.Len() > 0 {
		t.Errorf("%v, %q", err, out)
	}
	for _, want := range []string{"auto_resume_on_start is false", "recall resume 3f9a1c-77b0e2", "3f9a1c-77b0e2 is empty"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("%q", errs)
		}
	}
	clear(s.all)
	errs.Reset()
	if err := r.brief(t.Context(), "", brief.Full); err != nil || !strings.Contains(errs.String(), "hint: `entire recall save`") {
		t.Errorf("%v, %q", err, errs)
	}
	r.opts.json = true
	if err := r.brief(t.Context(), "", brief.Full); err != nil || !strings.Contains(out.String(), `"parts": []`) {
		t.Errorf("%v, %q", err, out)
	}
}

func TestRecallSave(t *testing.T) {
	t.Parallel()
	r, s, out, _ := newRecalling(t)
	r.Getenv = func(name string) string { return map[string]string{"CLAUDE_CODE_SESSION_ID": "22222222-bbbb"}[name] }
	if err := r.save(t.Context(), recallSaveOptions{message: "Now", tags: []string{"a"}, mode: "summary", description: "More"}); err != nil {
		t.Fatal(err)
	}
	want := savedcontext.Saving{SessionID: "22222222-bbbb", Cause: recall.Requested, Summary: "Now", Description: "More", Tags: []string{"a"}, Mode: recall.SummaryMode}
	s.wanted.Progress = nil // functions can't be compared
	if d := cmp.Diff(want, s.wanted); d != "" {
		t.Error(d)
	}
	if lines := strings.Split(out.String(), "\n"); lines[0] != "Captured:" || !strings.HasSuffix(out.String(), "(id 3f9a1c-77b0e2)\n") {
		t.Errorf("%q", out)
	}
	r.is.Enabled = false
	if err := r.save(t.Context(), recallSaveOptions{}); err == nil || !strings.Contains(app.HintOf(err), "entire enable") {
		t.Error(err)
	}
}

func TestRecallDiscard(t *testing.T) {
	t.Parallel()
	r, s, out, _ := newRecalling(t)
	s.damaged = "aaaaaa-000002"
	ids := []string{"3f9a1c", "3f9a1c-77b0e2", "aaaa"}
	if err := r.discard(t.Context(), ids, recallDiscardOptions{dryRun: true}); err != nil || len(s.all) != 3 {
		t.Errorf("%v, %d left", err, len(s.all))
	}
	if err := r.discard(t.Context(), append(ids, "ffff"), recallDiscardOptions{force: true}); err == nil || len(s.all) != 3 {
		t.Errorf("%v, %d left", err, len(s.all))
	}
	if err := r.discard(t.Context(), ids, recallDiscardOptions{}); err == nil || len(s.all) != 3 {
		t.Errorf("nobody was asked: %v, %d left", err, len(s.all))
	}
	if err := r.discard(t.Context(), ids, recallDiscardOptions{force: true}); err != nil || len(s.all) != 1 {
		t.Errorf("%v, %d left", err, len(s.all))
	}
	want := "Would discard 3f9a1c-77b0e2 \"Implemented \\u001b[31mJWT middleware\"\nWould discard aaaaaa-000002 \"(damaged)\"\n" +
		"Discarded 3f9a1c-77b0e2 \"Implemented \\u001b[31mJWT middleware\"\nDiscarded aaaaaa-000002 \"(damaged)\"\n"
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Error(d)
	}
}
