package checkpoint_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/session"
)

const (
	idA = checkpoint.ID("abcdef123456")
	idB = checkpoint.ID("ab0000000000")
)

// info returns the summary information of the tests.
func info() checkpoint.SummaryInfo {
	return checkpoint.SummaryInfo{Branch: "main", CLIVersion: "1.0.0", Strategy: checkpoint.ManualCommit}
}

// meta returns a session's metadata with every field that this tool writes.
func meta(sessionID string) checkpoint.SessionMeta {
	return checkpoint.SessionMeta{
		CLIVersion:        "1.0.0",
		SessionID:         sessionID,
		Strategy:          checkpoint.ManualCommit,
		CreatedAt:         time.Date(2026, 1, 2, 4, 4, 5, 123_000_000, time.FixedZone("", 3600)),
		Branch:            "main",
		CheckpointsCount:  2,
		FilesTouched:      []string{"b.go", "<a>.go"},
		Agent:             "Claude Code",
		TurnID:            "0f0e0d0c0b0a",
		TranscriptStart:   7,
		TokenUsage:        &checkpoint.Tokens{Input: 1, CacheCreation: 2, CacheRead: 3, Output: 4, Calls: 5, Subagents: &checkpoint.Tokens{Input: 9}},
		SessionTokenUsage: &checkpoint.Tokens{Input: 10, Output: 40, Calls: 50},
		TranscriptPath:    ".claude/projects/-x/s.jsonl",
	}
}

// put returns a change that puts one slot.
func put(f *fixture, id checkpoint.ID, slot checkpoint.Slot) checkpoint.Change {
	return checkpoint.Change{ID: id, Next: func(ctx context.Context, at checkpoint.Present) (git.OID, string, error) {
		next, err := checkpoint.Put(ctx, f.git, at, id, slot, info())
		return next, checkpoint.CommitMessage(id, slot.Meta, "refs/heads/entire/0123456-e3b0c4"), err
	}}
}

// read reads a checkpoint of the branch.
func (f *fixture) read(tb testing.TB, id checkpoint.ID) checkpoint.Checkpoint {
	tb.Helper()
	tree, err := checkpoint.Tree(tb.Context(), f.git)
	must(tb, err)
	c, err := f.readIn(tb, tree, id)
	must(tb, err)
	return c
}

// bySlot returns a checkpoint's sessions in the order of their slots.
func bySlot(c checkpoint.Checkpoint) []checkpoint.Stored {
	return slices.SortedFunc(slices.Values(c.Sessions), func(a, b checkpoint.Stored) int { return a.Index - b.Index })
}

// stored reads a session's transcript.
func (f *fixture) stored(tb testing.TB, s checkpoint.Stored) checkpoint.StoredTranscript {
	tb.Helper()
	t, found, err := s.Transcript(tb.Context(), f.git)
	must(tb, err)
	if !found {
		tb.Fatal("no transcript")
	}
	return t
}

// files lists a directory of the branch.
func (f *fixture) files(path string) []string {
	return strings.Fields(f.Git("ls-tree", "-r", "--name-only", checkpoint.MetadataBranch+":"+path))
}

func TestPutAndRead(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"plain", "sha256", "worktree", "bare", "empty", "partial"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t, kind)
			want := f.transcript(t, "s1", strings.Repeat(jsonLine(1, 1000)+"\n", 600))
			prompts := []string{"one", "two\n\nparagraphs"}
			f.update(t, put(f, idA, checkpoint.Slot{Meta: meta("s1"), Transcript: want, Prompts: prompts}), put(f, idB, checkpoint.Slot{Meta: meta("s2")}))
			c := f.read(t, idA)
			if len(c.Sessions) != 1 || c.Summary.CheckpointsCount != 2 || c.ID != idA {
				t.Fatalf("%+v", c)
			}
			expect := meta("s1")
			expect.CheckpointID, expect.LinesAtStart = idA, expect.TranscriptStart
			same := cmp.Options{cmpopts.IgnoreUnexported(checkpoint.SessionMeta{}), cmpopts.EquateApproxTime(0)}
			if diff := cmp.Diff(expect, c.Sessions[0].Meta, same); diff != "" {
				t.Error(diff)
			}
			got, err := c.Sessions[0].Prompts(t.Context(), f.git)
			must(t, err)
			if !cmp.Equal(got, prompts) || !cmp.Equal(want, f.stored(t, c.Sessions[0])) {
				t.Errorf("read back %q", got)
			}
			if none, err := f.read(t, idB).Sessions[0].Prompts(t.Context(), f.git); err != nil || none != nil {
				t.Errorf("%q, %v", none, err)
			}
			f.fsck(t)
		})
	}
}

func TestSessionKeepsSlot(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	long := f.transcript(t, "s1", strings.Repeat(jsonLine(1, 1000)+"\n", 600))
	f.update(t,
		put(f, idA, checkpoint.Slot{Meta: meta("s1"), Transcript: long, Prompts: []string{"p"}}),
		put(f, idA, checkpoint.Slot{Meta: meta("s2"), Transcript: f.transcript(t, "s2", "{}\n")}),
		put(f, idA, checkpoint.Slot{Meta: meta("s3")}),
	)
	want := []string{
		"0/content_hash.txt", "0/context.md", "0/full.jsonl", "0/full.jsonl.001", "0/full.jsonl.002", "0/metadata.json", "0/prompt.txt",
		"1/content_hash.txt", "1/full.jsonl", "1/metadata.json", "2/metadata.json", "metadata.json",
	}
	if diff := cmp.Diff(want, f.files("ab/cdef123456")); diff != "" {
		t.Error(diff)
	}
	changed := meta("s1")
	changed.CheckpointsCount, changed.FilesTouched, changed.TokenUsage = 5, []string{"z.go"}, nil
	f.update(t, put(f, idA, checkpoint.Slot{Meta: changed, Transcript: f.transcript(t, "s1", "{}\n")}))
	want = []string{
		"0/content_hash.txt", "0/full.jsonl", "0/metadata.json",
		"1/content_hash.txt", "1/full.jsonl", "1/metadata.json", "2/metadata.json", "metadata.json",
	}
	if diff := cmp.Diff(want, f.files("ab/cdef123456")); diff != "" {
		t.Error(diff)
	}
	s := f.read(t, idA).Summary
	if s.CheckpointsCount != 9 || s.TokenUsage.Input != 2 || s.TokenUsage.Subagents == nil || s.TokenUsage.Subagents.Input != 18 || len(s.Sessions) != 3 ||
		!slices.Equal(s.FilesTouched, []string{"<a>.go", "b.go", "z.go"}) {
		t.Errorf("%+v", s)
	}
}

func TestRepeatedPutChangesNothing(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	slot := checkpoint.Slot{Meta: meta("s1"), Transcript: f.transcript(t, "s1", "{}\n"), Prompts: []string{"p"}}
	first := f.update(t, put(f, idA, slot))
	if again := f.update(t, put(f, idA, slot)); again != first {
		t.Errorf("%s, was %s", again, first)
	}
}

func TestPutRefusesIDsThatArePaths(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	for _, tc := range []struct {
		id      checkpoint.ID
		session string
		want    error
	}{
		{"../../etc/pa", "s", checkpoint.ErrInvalid},
		{"", "s", checkpoint.ErrInvalid},
		{idA, "../s", session.ErrInvalid},
		{idA, "", session.ErrInvalid},
	} {
		if _, err := f.putIn(t, "", tc.id, checkpoint.Slot{Meta: meta(tc.session)}, info()); !errors.Is(err, tc.want) {
			t.Errorf("%q, %q: %v", tc.id, tc.session, err)
		}
	}
	if _, _, err := checkpoint.WriteShadow(t.Context(), f.git, checkpoint.Tip{}, nil, checkpoint.Shadow{Session: "../x"}, author()); !errors.Is(err, session.ErrInvalid) {
		t.Error(err)
	}
	if _, err := f.readIn(t, f.git.Format.EmptyTree(), "../../../../x"); !errors.Is(err, checkpoint.ErrInvalid) {
		t.Error(err)
	}
	if _, err := f.readIn(t, f.git.Format.EmptyTree(), idA); !errors.Is(err, checkpoint.ErrNotFound) {
		t.Error(err)
	}
}

func TestLargeBlobIsNotWritten(t *testing.T) {
	testkit.Long(t, "a prompt of 96 MB")
	t.Parallel()
	f := newFixture(t, "plain")
	slot := checkpoint.Slot{Meta: meta("s1"), Prompts: []string{strings.Repeat("x", 96<<20)}}
	if _, err := f.putIn(t, "", idA, slot, info()); !errors.Is(err, checkpoint.ErrTooLarge) {
		t.Error(err)
	}
	slot = checkpoint.Slot{Meta: meta("s1"), Transcript: checkpoint.StoredTranscript{Segments: make([]git.OID, 1000)}}
	if _, err := f.putIn(t, "", idA, slot, info()); !errors.Is(err, checkpoint.ErrTooLarge) {
		t.Error(err)
	}
}

// write adds files of another writer to the branch's tree.
func (f *fixture) write(tb testing.TB, files map[string]string) {
	tb.Helper()
	must(tb, checkpoint.UpdateBranch(tb.Context(), f.git, author(), func(ctx context.Context, tree git.OID) (git.OID, string, error) {
		edits := make([]git.TreeEdit, 0, len(files))
		for path, text := range files {
			blob, err := f.git.WriteBlob([]byte(text))
			must(tb, err)
			edits = append(edits, git.TreeEdit{Path: path, Mode: git.ModeFile, OID: blob})
		}
		next, err := git.EditTree(ctx, f.git, tree, edits)
		return next, "by another\n", err
	}))
}

func TestUnknownFieldsAndFilesAreKept(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	const dir = "ab/cdef123456/"
	f.write(t, map[string]string{
		dir + "metadata.json":         `{"cli_version":"9","new":{"b":[1,"<"]},"branch":"old","Session_ID":"x"}`,
		dir + "0/metadata.json":       `{"session_id":"s1","zz":null,"aa":1.50,"summary":{"intent":"i"},"initial_attribution":{"agent_percentage":12.5},"Session_ID":"evil"}`,
		dir + "0/notes.txt":           "old",
		dir + "tasks/t1/a.json":       "{}",
		dir + "1/metadata.json":       `{"session_id":"s2","files_touched":["o.go"],"checkpoints_count":3}`,
		dir + "3/metadata.json":       `not JSON`,
		dir + "01/full.jsonl":         "not a slot",
		"ff/0000000000/metadata.json": "{}",
	})
	slot := checkpoint.Slot{Meta: meta("s1")}
	tree, err := checkpoint.Tree(t.Context(), f.git)
	must(t, err)
	next, err := f.putIn(t, tree, idA, slot, checkpoint.SummaryInfo{CLIVersion: "10"})
	must(t, errors.Join(err, f.git.SyncObjects()))
	show := func(path string) string { return f.raw("show", string(next)+":"+dir+path) }
	if got := show("0/metadata.json"); !strings.Contains(got, `  "aa": 1.50,`+"\n"+`  "zz": null`+"\n}\n") ||
		!strings.Contains(got, `"intent": "i"`) || !strings.Contains(got, `"agent_percentage": 12.5`) || strings.Contains(got, "evil") {
		t.Error(got)
	}
	if got := show("metadata.json"); !strings.Contains(got, `"cli_version": "10"`) || !strings.Contains(got, `"branch": "old"`) ||
		!strings.Contains(got, "  \"new\": {\n    \"b\": [\n      1,\n      \"\\u003c\"\n    ]\n  }") || !strings.Contains(got, `"o.go"`) {
		t.Error(got)
	}
	if show("tasks/t1/a.json") != "{}" || show("01/full.jsonl") == "" || show("0/notes.txt") != "" {
		t.Error("files of others")
	}
	appended, err := f.putIn(t, next, idA, checkpoint.Slot{Meta: meta("s9")}, info())
	must(t, err)
	c, err := f.readIn(t, appended, idA)
	must(t, err)
	slots := make([]string, 0, len(c.Sessions))
	for _, s := range bySlot(c) {
		slots = append(slots, fmt.Sprintf("%d %s", s.Index, s.Meta.SessionID))
	}
	if diff := cmp.Diff([]string{"0 s1", "1 s2", "3 ", "4 s9"}, slots); diff != "" {
		t.Error(diff)
	}
}

func TestHostileMetadataIsDropped(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	f.write(t, map[string]string{
		"ab/cdef123456/metadata.json": `{"checkpoint_id":"../../../../etc","sessions":7,"files_touched":null}`,
		"ab/cdef123456/0/metadata.json": `{"checkpoint_id":"../x","session_id":"../../x","tool_use_id":"a/../b","transcript_path":"../.bashrc",
			"created_at":"yesterday","checkpoints_count":"many","agent":"Claude Code","token_usage":{"input_tokens":3}}`,
		"ab/cdef123456/1/metadata.json": `{"session_id":"s","transcript_path":"/etc/passwd"}`,
		"ab/cdef123456/2/metadata.json": `[]`,
	})
	c := f.read(t, idA)
	sessions := bySlot(c)
	m := sessions[0].Meta
	if m.CheckpointID != "" || m.SessionID != "" || m.ToolUseID != "" || m.TranscriptPath != "" || !m.CreatedAt.IsZero() ||
		m.Agent != "Claude Code" || m.TokenUsage.Input != 3 || c.Summary.CheckpointID != idA || sessions[1].Meta.TranscriptPath != "" {
		t.Errorf("%+v", c)
	}
}

func TestReadExistingToolCheckpoints(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := testkit.CleanEnv(dir, dir, os.Getenv("PATH"))
	u := testkit.NewUpstream(t, dir, filepath.Join(dir, "sessions"), env)
	f := &fixture{Repo: u.Repo, git: open(t, u.Repo)}
	c := f.read(t, testkit.UpstreamID)
	s := c.Sessions[0]
	if s.Meta.SessionID != u.Session.ID || s.Meta.TokenUsage.Input != 30 || c.Summary.CLIVersion != "0.4.2" {
		t.Errorf("%+v", c)
	}
	prompts, err := s.Prompts(t.Context(), f.git)
	must(t, err)
	text := f.raw("show", checkpoint.MetadataBranch+":"+checkpoint.ID(testkit.UpstreamID).Dir()+"/0/full.jsonl")
	if got := f.stored(t, s); len(prompts) != 1 || got.Hash != hashOf(text) || len(got.Segments) != 1 {
		t.Errorf("%q, %v", prompts, got)
	}
	before := f.raw("show", checkpoint.MetadataBranch+":"+checkpoint.ID(testkit.UpstreamID).Dir()+"/0/metadata.json")
	f.update(t, put(f, testkit.UpstreamID, checkpoint.Slot{Meta: meta("other")}))
	if after := f.raw("show", checkpoint.MetadataBranch+":"+checkpoint.ID(testkit.UpstreamID).Dir()+"/0/metadata.json"); after != before {
		t.Error("another session's slot was changed")
	}
	f.fsck(t)
}

func TestReadOldFormats(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	f.GitInput("commit "+checkpoint.MetadataBranch+"\ncommitter A <a@b> 1 +0000\ndata <<E\nInitialize sessions branch\nE\n\n", "fast-import", "--quiet")
	f.write(t, map[string]string{
		"ab/cdef123456/metadata.json":   `{"checkpoint_id":"abcdef123456","strategy":"manual-commit","checkpoints_count":1,"files_touched":null,"sessions":null}`,
		"ab/cdef123456/0/metadata.json": `{"session_id":"2026-01-02-uuid","files_touched":null,"transcript_lines_at_start":12}`,
		"ab/cdef123456/0/full.log":      "{}\n{}\n",
	})
	s := f.read(t, idA).Sessions[0]
	if got := f.stored(t, s); got.Hash != hashOf("{}\n{}\n") || s.Meta.TranscriptStart != 12 || s.Meta.SessionID != "2026-01-02-uuid" {
		t.Errorf("%+v %v", s, got)
	}
	f.update(t, put(f, idA, checkpoint.Slot{Meta: meta("new")}))
	if n := f.Git("rev-list", "--count", checkpoint.MetadataBranch); n != "3" {
		t.Errorf("%s commits", n)
	}
}

// BenchmarkPut adds a checkpoint to 2,000 existing ones.
func BenchmarkPut(b *testing.B) {
	f := newFixture(b, "plain")
	changes := make([]checkpoint.Change, 0, 2000)
	r := rand.New(rand.NewPCG(1, 2))
	newID := func() checkpoint.ID { return checkpoint.ID(fmt.Sprintf("%012x", r.Uint64()&(1<<48-1))) }
	t := f.transcript(b, "s1", "{}\n")
	for range 2000 {
		changes = append(changes, put(f, newID(), checkpoint.Slot{Meta: meta("s1"), Transcript: t, Prompts: []string{"p"}}))
	}
	f.update(b, changes...)
	f.Git("gc", "-q")
	for b.Loop() {
		f.git = open(b, f.Repo)
		f.update(b, put(f, newID(), checkpoint.Slot{Meta: meta("s1"), Transcript: t, Prompts: []string{"p"}}))
		if n := f.git.Processes(); n > 2 {
			b.Fatalf("%d processes", n)
		}
	}
}

func hashOf(text string) string { return fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text))) }

// jsonLine returns a line of a transcript of about n bytes.
func jsonLine(i, n int) string {
	return fmt.Sprintf(`{"type":"user","n":%d,"text":"s3cret %s"}`, i, strings.Repeat("x", n))
}

func TestEightySegments(t *testing.T) {
	testkit.Long(t, "80 segments")
	t.Parallel()
	f := newFixture(t, "plain")
	lines := make([]string, 0, 22_000)
	for i := range 22_000 {
		lines = append(lines, jsonLine(i, 940))
	}
	got := f.transcript(t, "long", strings.Join(lines, "\n")+"\n")
	if len(got.Segments) < 80 {
		t.Fatalf("%d segments", len(got.Segments))
	}
	var text bytes.Buffer
	_, err := got.Copy(t.Context(), f.git, &text)
	must(t, err)
	if text.String() != strings.ReplaceAll(strings.Join(lines, "\n"), "s3cret", "REDACTED") || got.Hash != hashOf(text.String()) {
		t.Error("the text is another")
	}
	tip := f.update(t, put(f, idA, checkpoint.Slot{Meta: meta("s1"), Transcript: got}))
	names := strings.Fields(f.Git("ls-tree", "--name-only", string(tip)+":ab/cdef123456/0"))
	if !slices.Contains(names, "full.jsonl") || !slices.Contains(names, fmt.Sprintf("full.jsonl.%03d", len(got.Segments)-1)) {
		t.Errorf("files %v", names)
	}
	if read := f.read(t, idA).Sessions[0]; !cmp.Equal(got, f.stored(t, read)) {
		t.Error("another transcript is read back")
	}
}

func TestFindByPrefix(t *testing.T) {
	t.Parallel()
	f := newFixture(t, "plain")
	ids := []checkpoint.ID{"a1b2c3d4e5f6", "a1b2ffffffff", "a2b2ffffffff", "b00000000000"}
	for _, id := range ids {
		f.update(t, put(f, id, checkpoint.Slot{Meta: meta("s1")}))
	}
	records, err := checkpoint.Open(t.Context(), f.git, checkpoint.BranchesFirst)
	must(t, err)
	if len(records.Trees()) != 1 {
		t.Fatalf("trees %v", records.Trees())
	}
	tests := map[string][]checkpoint.ID{
		"a1b2c3d4e5f6": ids[:1], "a1b2": ids[:2], "a1": ids[:2], "a": ids[:3], "": ids,
		"c": nil, "A1": nil, "a1b2c3d4e5f60": nil, "../a": nil,
	}
	for prefix, want := range tests {
		got, err := records.Find(t.Context(), prefix)
		must(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", prefix, diff)
		}
	}
}
