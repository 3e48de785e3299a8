package mcpserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/seed-3aff656d/entire/cmd/internal/mcpserver"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/brief"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

// saved returns a checkpoint with n files of about size bytes.
func saved(n, size int) recall.Checkpoint {
	c := recall.Checkpoint{
		ID: "3f9a1c-77b0e2", Summary: "auth middleware (2 files, +10 -1)", Description: "JWT.", CreatedAt: now().Add(-2 * time.Hour),
		Status: recall.Kept, Cause: recall.Requested, Mode: recall.StatefulMode, Sessions: []string{"s1"}, Compaction: "what was said",
	}
	c.State.Analysis = recall.Analysis{CurrentTask: "validate JWT", NextSteps: []string{"refresh", "docs"}, Decisions: []string{"HS256"}}
	c.State.Files = make(map[string]recall.File, n)
	for i := range n {
		path := fmt.Sprintf("pkg/%03d.go", i)
		content := strings.Repeat("x := \"é\" // <b>\n", (size+i)/16)
		c.State.Files[path] = recall.File{
			Path: path, Content: content, Hash: strings.Repeat("a", 64), Size: int64(len(content)), Change: recall.Modified,
			LastModified: now().Add(time.Duration(i) * time.Second),
			Outline:      []recall.Declaration{{Line: 1, Text: "func A()"}},
		}
		c.State.TotalSize += int64(len(content))
	}
	return c
}

func fakeWith(c recall.Checkpoint) *fake {
	return &fake{checkpoints: map[string]recall.Checkpoint{c.ID: c}}
}

func TestTools(t *testing.T) {
	for _, version := range versions() {
		cs := client{version: version}.connect(t, (&fake{}).server())
		if got := cs.InitializeResult().ProtocolVersion; got != version {
			t.Errorf("speaks %s, want %s", got, version)
		}
		list, err := cs.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, tool := range list.Tools {
			names = append(names, tool.Name)
			if tool.Description == "" || tool.Annotations == nil || *tool.Annotations.DestructiveHint {
				t.Errorf("%s is not described", tool.Name)
			}
			hook := strings.HasSuffix(tool.Name, "_clear")
			if hook != strings.Contains(tool.Description, "no use in calling it") {
				t.Errorf("%s: %s", tool.Name, tool.Description)
			}
		}
		want := []string{
			"checkpoint_after_clear", "checkpoint_before_clear", "checkpoint_configure", "checkpoint_list",
			"checkpoint_resume", "checkpoint_save", "checkpoint_search",
			"history_blame", "history_log", "history_search", "history_why",
			"memory_for_file", "memory_search",
		}
		slices.Sort(names)
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("tools (-want +got):\n%s", diff)
		}
	}
}

func TestSave(t *testing.T) {
	f := fakeWith(saved(2, 2000))
	f.states = []*session.State{state("s1", 4711, 0)}
	text, res := call(t, client{}.connect(t, f.server()), "checkpoint_save", map[string]any{
		"summary": "auth", "description": "more", "tags": []string{"jwt"}, "mode": "summary",
	})
	want := `Captured:
- 2 files (pkg/000.go, pkg/001.go)
- Analysis: current task, 2 next steps, 1 decision
- Size: 4KB
Checkpoint saved: "auth middleware (2 files, +10 -1)" (id 3f9a1c-77b0e2)`
	if diff := cmp.Diff(want, text); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
	if want := `save "s1" by requested for "auth" "more" ["jwt"] "summary"`; f.notes() != want {
		t.Errorf("asked for %s, want %s", f.notes(), want)
	}
	got := structured[recall.Checkpoint](t, res)
	if got.ID != "3f9a1c-77b0e2" || len(got.State.Files) != 2 || got.State.Files["pkg/000.go"].Content != "" || got.State.Files["pkg/000.go"].Hash == "" {
		t.Errorf("structured: %+v", got)
	}
	type told struct {
		Message string `json:"message"`
	}
	if diff := cmp.Diff(told{want}, structured[told](t, res)); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

func structured[T any](t *testing.T, res *mcp.CallToolResult) T { //nolint:ireturn // a type parameter
	t.Helper()
	data, err := json.Marshal(res.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	return v
}

// state returns a session that was last active the given number of minutes ago.
func state(id string, pid, minutes int) *session.State {
	at := now().Add(-time.Duration(minutes) * time.Minute)
	s := &session.State{ID: id, StartedAt: at.Add(-time.Hour), LastInteraction: &at, Phase: session.Idle}
	s.Recorder.Agent.PID = pid
	return s
}

func TestCallerSession(t *testing.T) {
	ended := state("ended", 4711, 0)
	ended.Phase = session.Ended
	elsewhere := state("elsewhere", 4711, 0)
	elsewhere.WorktreePath = "/other"
	silent := state("silent", 4711, 0)
	silent.LastInteraction, silent.StartedAt = nil, now()
	tests := map[string]struct {
		states []*session.State
		named  string
		want   string
		where  string
	}{
		"nobody knows":            {want: ""},
		"the last of the process": {states: []*session.State{state("a", 4711, 9), state("b", 4711, 1), state("c", 1, 0)}, want: "b"},
		"not one that has ended":  {states: []*session.State{state("a", 4711, 9), ended}, want: "a"},
		"one that just began":     {states: []*session.State{silent, state("a", 4711, 9)}, want: "silent"},
		"that of the environment": {states: []*session.State{state("of-environment", 0, 9), state("c", 1, 0)}, want: "of-environment"},
		"the process knows best":  {states: []*session.State{state("of-environment", 0, 0), state("a", 4711, 9)}, want: "a"},
		"named":                   {states: []*session.State{state("a", 4711, 9)}, named: "c", want: "c"},
		"in another worktree":     {states: []*session.State{elsewhere}, want: "elsewhere", where: "/other"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := fakeWith(saved(0, 0))
			f.states = test.states
			s := f.server()
			open, last := s.Open, mcpserver.Place{}
			s.Open = func(ctx context.Context, at mcpserver.Place) (*mcpserver.Project, error) {
				last = at
				return open(ctx, at)
			}
			args := map[string]string{}
			if test.named != "" {
				args["session_id"] = test.named
			}
			call(t, client{}.connect(t, s), "checkpoint_save", args)
			if want := (mcpserver.Place{Dir: either(test.where, "/repo"), SessionID: test.want}); last != want {
				t.Errorf("opened %v, want %v", last, want)
			}
			if !strings.HasPrefix(f.notes(), fmt.Sprintf("save %q ", test.want)) {
				t.Errorf("asked for %s", f.notes())
			}
		})
	}
}

// either returns a, or b if a is zero.
func either[T comparable](a, b T) T { //nolint:ireturn // a type parameter
	if a == *new(T) {
		return b
	}
	return a
}

func TestListAndSearch(t *testing.T) {
	f := &fake{}
	for i := range 30 {
		f.entries = append(f.entries, contextstore.Entry{ID: fmt.Sprintf("%06x-000000", i), Summary: "s", CreatedAt: now().Add(-24 * time.Hour)})
	}
	cs := client{}.connect(t, f.server())
	type answer struct {
		Checkpoints []struct{ ID, Saved string }
		More        bool
	}
	tests := []struct {
		tool  string
		args  map[string]any
		asked string
		n     int
		more  bool
	}{
		{"checkpoint_list", nil, `list "/repo" "" 21`, 20, true},
		{"checkpoint_list", map[string]any{"all": true, "limit": 30}, `list "" "" 31`, 30, false},
		{"checkpoint_search", map[string]any{"query": "jwt", "limit": 1}, `list "" "jwt" 2`, 1, true},
	}
	for _, test := range tests {
		text, res := call(t, cs, test.tool, test.args)
		var got answer
		if err := json.Unmarshal([]byte(text), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(got, structured[answer](t, res)); diff != "" {
			t.Errorf("text and structure differ: %s", diff)
		}
		if len(got.Checkpoints) != test.n || got.More != test.more || got.Checkpoints[0].Saved != "1 day ago" {
			t.Errorf("%s %v: %s", test.tool, test.args, text)
		}
		if !strings.HasSuffix(f.notes(), test.asked) {
			t.Errorf("asked for %s, want %s", f.notes(), test.asked)
		}
	}
}

func TestResume(t *testing.T) {
	f := fakeWith(saved(2, 100))
	f.next = savedcontext.Recalled{Checkpoint: saved(0, 0), Brief: brief.Brief{Message: "m", Parts: []string{"first", "second"}}}
	cs := client{}.connect(t, f.server())
	summary := "auth middleware (2 files, +10 -1) (id 3f9a1c-77b0e2, saved 2 hours ago)\n> JWT.\nCurrent task: validate JWT\nNext steps:\n1. refresh\n2. docs"
	for args, want := range map[string]string{
		`{}`:                                "first",
		`{"id":"3f9a"}`:                     "first",
		`{"level":"summary"}`:               summary,
		`{"id":"3f9a1c","level":"summary"}`: summary,
	} {
		if text, _ := call(t, cs, "checkpoint_resume", json.RawMessage(args)); text != want {
			t.Errorf("%s answered %q, want %q", args, text, want)
		}
	}
	text, _ := call(t, cs, "checkpoint_resume", map[string]string{"level": "full"})
	var got recall.Checkpoint
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(saved(2, 100), got); diff != "" {
		t.Errorf("full (-want +got):\n%s", diff)
	}
	f.next.Brief.Parts = nil
	if text, _ := call(t, cs, "checkpoint_resume", nil); text != "m" {
		t.Errorf("without parts: %q", text)
	}
}

func TestResumeByPart(t *testing.T) {
	c := saved(1, 100)
	path := slices.Sorted(maps.Keys(c.State.Files))[0]
	long := c.State.Files[path]
	long.Content = strings.Repeat("a line of the file\n", 2000)
	c.State.Files[path] = long
	c.State.Analysis.Decisions = []string{"use JWT, not sessions", "keep the cookie"}
	cs := client{}.connect(t, fakeWith(c).server())
	for args, want := range map[string]string{
		`{"id":"3f9a","sections":["state","file contents"]}`: "state of 3f9a1c-77b0e2 within 3960\n\nfile contents of 3f9a1c-77b0e2 within 3960",
		`{"id":"3f9a","sections":["todo"],"max_tokens":500}`: "todo of 3f9a1c-77b0e2 within 480",
		`{"id":"3f9a","decision":"jwt sessions"}`:            "- use JWT, not sessions",
		`{"id":"3f9a","decision":"e"}`:                       "- use JWT, not sessions\n- keep the cookie",
	} {
		if text, _ := call(t, cs, "checkpoint_resume", json.RawMessage(args)); text != want {
			t.Errorf("%s returned %q, want %q", args, text, want)
		}
	}
	for _, limit := range []int{200, 1000, 4000} {
		text, res := call(t, cs, "checkpoint_resume", map[string]any{"id": "3f9a", "file": path, "max_tokens": limit})
		if res.IsError || brief.CountTokens(text) > limit || brief.CountTokens(text) < limit/2 {
			t.Errorf("%d tokens of at most %d: %.200s", brief.CountTokens(text), limit, text)
		}
		if !strings.HasPrefix(text, path+" (") || !strings.HasSuffix(text, "[cut; `entire recall show 3f9a1c-77b0e2 --file "+path+"` prints all]") {
			t.Errorf("of a long file: %.100s ... %s", text, text[len(text)-100:])
		}
	}
}

// TestSchemaSections compares the schema's names with those of the brief.
func TestSchemaSections(t *testing.T) {
	cs := client{}.connect(t, fakeWith(saved(0, 0)).server())
	args := map[string]any{"id": "3f9a", "sections": brief.SectionNames()}
	if text, res := call(t, cs, "checkpoint_resume", args); res.IsError {
		t.Error(text)
	}
	tools, err := cs.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		schema, err := json.Marshal(tool.InputSchema)
		if err != nil {
			t.Fatal(err)
		}
		names, err := json.Marshal(brief.SectionNames())
		if err != nil {
			t.Fatal(err)
		}
		if tool.Name == "checkpoint_resume" && !strings.Contains(string(schema), string(names)) {
			t.Errorf("the schema has other sections than %s: %s", names, schema)
		}
	}
}

// TestFullFits checks that every checkpoint fits within the client's limit, and that the result
// names the omitted parts.
func TestFullFits(t *testing.T) {
	long := saved(3, 100)
	long.State.Analysis.NextSteps = slices.Repeat([]string{strings.Repeat("é step ", 200)}, 300)
	long.Description = strings.Repeat("\x00<&", 40000)
	compacted := saved(3, 100)
	compacted.Compaction = strings.Repeat("word ", 60000)
	read := saved(3, 100)
	read.State.Context.FilesRead = slices.Repeat([]string{"a/file/that/was/read.go"}, 5000)
	tests := map[string]struct {
		c      recall.Checkpoint
		tokens int
		left   string
		whole  int // files with content, -1 for some
	}{
		"all fits":           {c: saved(10, 500), whole: 10},
		"large files go":     {c: saved(60, 5000), left: "content of pkg/0", whole: -1},
		"many are left out":  {c: saved(60, 100000), left: "contents of 40 more files", whole: 0},
		"a lot of files":     {c: saved(3000, 10), left: "some of the files", whole: -1},
		"long lists":         {c: long, left: "the rest of lists and texts", whole: -1},
		"a long compaction":  {c: compacted, left: "compaction_summary", whole: 3},
		"a lot was read":     {c: read, left: "files_read", whole: 3},
		"a client with less": {c: saved(10, 1000), tokens: 3000, left: "content of ", whole: -1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := fakeWith(test.c).server()
			s.Tokens = test.tokens
			text, res := call(t, client{}.connect(t, s), "checkpoint_resume", map[string]string{"id": "3f9a", "level": "full"})
			limit := either(test.tokens, 25000)
			if n := brief.CountTokens(text); n > limit || res.IsError {
				t.Errorf("%d tokens of %d: %.300s", n, limit, text)
			}
			var got struct {
				recall.Checkpoint

				LeftOut []string `json:"left_out"`
			}
			if err := json.Unmarshal([]byte(text), &got); err != nil {
				t.Fatal(err)
			}
			if left := strings.Join(got.LeftOut, "\n"); !strings.Contains(left, test.left) || (test.left == "") != (left == "") {
				t.Errorf("left out: %s", left)
			}
			whole := 0
			for path, file := range got.State.Files {
				if file.Content != "" {
					whole++
					if file.Content != test.c.State.Files[path].Content {
						t.Errorf("%s is cut", path)
					}
				}
			}
			if test.whole >= 0 && whole != test.whole {
				t.Errorf("%d files are whole, want %d", whole, test.whole)
			}
		})
	}
}

func TestConfigure(t *testing.T) {
	f := &fake{settings: settings.Recall{OnClear: settings.Prompt, OnStart: settings.Never, Threshold: 80, VerifyBeforeClear: true}}
	cs := client{}.connect(t, f.server())
	want := `{"success":true,"config":{"auto_checkpoint_on_clear":"prompt","auto_resume_on_start":false,"checkpoint_threshold_percent":80,"verify_before_clear":true}}`
	for args, asked := range map[string]string{
		`{}`: "configure /repo []",
		`{"auto_checkpoint_on_clear":true,"auto_resume_on_start":"prompt","checkpoint_threshold":80,"verify_before_clear":false}`: "configure /repo " +
			"[{recall.auto_checkpoint_on_clear true} {recall.auto_resume_on_start prompt} {recall.checkpoint_threshold_percent 80} {recall.verify_before_clear false}]",
		`{"checkpoint_threshold":80.5}`: "configure /repo [{recall.checkpoint_threshold_percent 80.5}]",
	} {
		text, res := call(t, cs, "checkpoint_configure", json.RawMessage(args))
		if text != want || res.IsError {
			t.Errorf("%s answered %s", args, text)
		}
		if !strings.HasSuffix(f.notes(), asked) {
			t.Errorf("%s asked for %s", args, f.notes())
		}
	}
}

// TestConfigureUserFile writes the user's file, and names the source that overrides it.
func TestConfigureUserFile(t *testing.T) {
	home := t.TempDir()
	s := (&fake{}).server()
	s.Configure = func(_ string, changes []settings.Change) (settings.Settings, error) {
		return settings.Configure(settings.Sources{Home: home, Getenv: func(name string) string {
			if name == "CONTEXTD_CHECKPOINT_THRESHOLD" {
				return "90"
			}
			return ""
		}}, changes...)
	}
	cs := client{}.connect(t, s)
	text, _ := call(t, cs, "checkpoint_configure", map[string]any{"checkpoint_threshold": 75, "auto_checkpoint_on_clear": false})
	want := `{"success":true,"config":{"auto_checkpoint_on_clear":false,"auto_resume_on_start":true,"checkpoint_threshold_percent":90,"verify_before_clear":true},` +
		`"note":"checkpoint_threshold_percent is decided by the environment (CONTEXTD_CHECKPOINT_THRESHOLD), which overrides the user's settings"}`
	if text != want {
		t.Errorf("answered %s", text)
	}
	text, res := call(t, cs, "checkpoint_configure", map[string]any{"checkpoint_threshold": 96})
	if !res.IsError || !strings.Contains(text, "settings.json: recall.checkpoint_threshold_percent is 96, allowed: ") {
		t.Errorf("answered %s", text)
	}
}

func TestBadInput(t *testing.T) {
	f := fakeWith(saved(1, 1))
	cs := client{}.connect(t, f.server())
	tests := []struct{ tool, args, want string }{
		{"checkpoint_save", `{"mode":"all"}`, `mode is "all", allowed: "stateful" or "summary"`},
		{"checkpoint_save", `{"session_id":"../x"}`, `session_id: `},
		{"checkpoint_save", `{"summery":"x"}`, `invalid input: unknown field "summery"`},
		{"checkpoint_save", `{"tags":"x"}`, `invalid input: tags can't be a string`},
		{"checkpoint_save", `[]`, `invalid input: `},
		{"checkpoint_save", `{"summary":"` + strings.Repeat("x", 2000) + `"}`, `summary has 2000 bytes, allowed: one line of at most 1024`},
		{"checkpoint_save", `{"description":"` + strings.Repeat("x", 20000) + `"}`, `description has 20000 bytes`},
		{"checkpoint_save", `{"tags":[""]}`, `tag "" has 0 bytes`},
		{"checkpoint_save", `{"tags":["a` + strings.Repeat(`","a`, 40) + `"]}`, `41 tags, allowed: at most 32`},
		{"checkpoint_list", `{"limit":0}`, `limit is 0, allowed: 1 to 100`},
		{"checkpoint_search", `{"query":"x","limit":101}`, `limit is 101, allowed: 1 to 100`},
		{"checkpoint_search", `{"query":" "}`, `query is empty`},
		{"checkpoint_search", `{"query":"` + strings.Repeat("x", 2000) + `"}`, `query has 2000 bytes`},
		{"history_search", `{"query":""}`, `query is empty`},
		{"history_search", `{"query":"x","kind":"verse"}`, `kind is "verse", allowed: prompt, answer, command, output, file, subagent`},
		{"history_log", `{"limit":31}`, `limit is 31, allowed: 1 to 30`},
		{"history_log", `{"hours":-1}`, `hours is -1, allowed: more than 0`},
		{"history_log", `{"query":"x"}`, `invalid input: unknown field "query"`},
		{"history_blame", `{}`, `path is empty, allowed: a path from the root of the worktree`},
		{"history_blame", `{"path":"a\u0000b"}`, `path has a line break or a NUL`},
		{"history_blame", `{"path":"` + strings.Repeat("x", 5000) + `"}`, `path has 5000 bytes, allowed: at most 4096`},
		{"history_blame", `{"path":"a","rev":"--output=x"}`, `rev is "--output=x", allowed: a revision as git names it`},
		{"history_blame", `{"path":"a","start":0}`, `start is 0, allowed: 1 to `},
		{"history_blame", `{"path":"a","start":9,"end":3}`, `the last line is 3, allowed: 9 and more`},
		{"history_why", `{}`, `one of these is needed: file and line, commit, text`},
		{"history_why", `{"line":1,"text":"x"}`, `one of these is needed: file and line, commit, text`},
		{"history_why", `{"file":"a"}`, `file needs a line: history_blame lists the authors of all`},
		{"history_why", `{"line":3}`, `path is empty`},
		{"history_why", `{"file":"a","line":3,"end":2}`, `the last line is 2, allowed: 3 and more`},
		{"history_why", `{"commit":"a b"}`, `commit is "a b", allowed: a revision as git names it`},
		{"history_why", `{"text":"a\nb"}`, `text has 3 bytes, allowed: words of one line`},
		{"memory_search", `{"query":" "}`, `query is empty, allowed: words to look for`},
		{"memory_search", `{"query":"x","limit":31}`, `limit is 31, allowed: 1 to 30`},
		{"memory_for_file", `{}`, `path is empty, allowed: a path from the root of the worktree`},
		{"memory_for_file", `{"path":"../x"}`, `path leads out of the worktree, allowed: a path from its root`},
		{"checkpoint_resume", `{"level":"half"}`, `level is "half", allowed: "summary", "context" or "full"`},
		{"checkpoint_resume", `{"sections":["steps"]}`, `unknown section "steps"; the sections are: requests, state, decisions, todo, files, file contents, commands, compaction`},
		{"checkpoint_resume", `{"sections":["state"],"level":"full"}`, `level, sections, file and decision exclude each other`},
		{"checkpoint_resume", `{"max_tokens":1000}`, `max_tokens is for sections, file and decision`},
		{"checkpoint_resume", `{"file":"a","max_tokens":100}`, `max_tokens is 100, allowed: 200 to 22500`},
		{"checkpoint_resume", `{"id":"3f9a","file":"gone.go"}`, `"gone.go" is not in checkpoint 3f9a1c-77b0e2; its files are: `},
		{"checkpoint_resume", `{"id":"3f9a","decision":"no such words"}`, `has all of these words: section "decisions" lists them`},
		{"checkpoint_resume", `{"id":"zzzz"}`, `no such context checkpoint: checkpoint_list shows those that there are`},
		{"checkpoint_configure", `{"threshold":70}`, `invalid input: unknown field "threshold"`},
	}
	for _, test := range tests {
		text, res := call(t, cs, test.tool, json.RawMessage(test.args))
		if !res.IsError || !strings.Contains(text, test.want) {
			t.Errorf("%s %.60s: %s", test.tool, test.args, text)
		}
	}
}

// TestToolErrors checks that a failure or a panic results in a reply, and that the server
// continues.
func TestToolErrors(t *testing.T) {
	for name, test := range map[string]struct {
		err    error
		panics bool
		want   string
	}{
		"a failure":  {err: errors.New("disk full"), want: "disk full"},
		"a panic":    {panics: true, want: "internal error: bang"},
		"a secret":   {err: errors.New("remote https://ghp_" + "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2@x failed"), want: "REDACTED"},
		"ambiguous":  {err: recall.ErrAmbiguous, want: "give more of it"},
		"it damaged": {err: recall.ErrDamaged, want: "entire doctor"},
	} {
		t.Run(name, func(t *testing.T) {
			f := fakeWith(saved(1, 1))
			f.err, f.panics = test.err, test.panics
			cs := client{}.connect(t, f.server())
			for _, tool := range []string{"checkpoint_resume", "checkpoint_resume"} {
				if text, res := call(t, cs, tool, nil); !res.IsError || !strings.Contains(text, test.want) {
					t.Errorf("answered %s", text)
				}
			}
			if !strings.Contains(f.logged(), `"level":"WARN"`) || !strings.Contains(f.logged(), `"tool":"checkpoint_resume"`) {
				t.Errorf("log: %s", f.logged())
			}
		})
	}
	s := (&fake{}).server()
	s.Dir = "/elsewhere"
	s.Configure = func(string, []settings.Change) (settings.Settings, error) { panic("bang") }
	cs := client{}.connect(t, s)
	if text, res := call(t, cs, "checkpoint_list", nil); !res.IsError || text != "/elsewhere: not a git repository" {
		t.Errorf("outside: %s", text)
	}
	if text, res := call(t, cs, "checkpoint_configure", nil); !res.IsError || text != "internal error: bang" {
		t.Errorf("panic: %s", text)
	}
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
`

// TestStdio checks that the server replies to invalid lines and continues, and that it has replied
// to everything when it ends.
func TestStdio(t *testing.T) {
	const ping = `{"jsonrpc":"2.0","id":"p","method":"ping"}` + "\n"
	const pong = `"id":"p","result"`
	tests := map[string]struct {
		in   string
		want []string
	}{
		"nothing":                {"", nil},
		"no line end":            {strings.TrimSuffix(hello+ping, "\n"), []string{pong}},
		"no JSON":                {hello + "hello\n" + ping, []string{`"code":-32700`, pong}},
		"a NUL":                  {hello + "\x00\n" + ping, []string{`"code":-32700`, pong}},
		"empty lines":            {"\n \r\n" + hello + "\n" + ping, []string{pong}},
		"another version":        {hello + `{"jsonrpc":"1.0","id":3,"method":"ping"}` + "\n" + ping, []string{`"code":-32600`, pong}},
		"an empty batch":         {hello + "[]\n" + ping, []string{`"code":-32600`, pong}},
		"a batch":                {hello + "[" + strings.TrimSpace(ping) + `,{"jsonrpc":"2.0","id":"q","method":"ping"}]` + "\n", []string{pong, `"id":"q","result"`}},
		"a number":               {hello + "3\n" + ping, []string{`"code":-32600`, pong}},
		"an answer to nothing":   {hello + `{"jsonrpc":"2.0","id":99,"result":{}}` + "\n" + ping, []string{pong}},
		"an unknown method":      {hello + `{"jsonrpc":"2.0","id":4,"method":"x/y"}` + "\n" + ping, []string{`"id":4,"error":{"code":-32601`, pong}},
		"the same id twice":      {hello + ping + ping, []string{pong}},
		"a line that is too big": {hello + strings.Repeat("x", 17<<20) + "\n" + ping, []string{"more than", pong}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := (&fake{}).server().Run(t.Context(), strings.NewReader(test.in), &out); err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %s in\n%s", want, out.String())
				}
			}
			for line := range strings.Lines(out.String()) {
				if !json.Valid([]byte(line)) {
					t.Errorf("not JSON: %s", line)
				}
			}
		})
	}
}

// TestServerEnds checks that the server ends with its context, and when its parent has exited, even
// if its input is still open.
func TestServerEnds(t *testing.T) {
	in, w := io.Pipe()
	defer func() { _ = w.Close() }()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := (&fake{}).server().Run(ctx, in, io.Discard); err != nil {
		t.Error(err)
	}
	s := (&fake{}).server()
	asked := 0
	s.Parent = func() int { // another process from the second call on
		asked++
		return 100 + min(asked, 2)
	}
	if err := s.Run(t.Context(), in, io.Discard); err != nil {
		t.Error(err)
	}
}
