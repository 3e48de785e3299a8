package transcript_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-3aff656d/entire/session/transcript"
)

func TestRead(t *testing.T) {
	t.Parallel()
	path := write(t, lines(
		`{"type":"mode","mode":"normal","sessionId":"s"}`,
		asked("add a flag"),
		used("t1", "Read", `{"file_path":"/p/read.go"}`),
		answered("t1", "", `,"toolUseResult":{"file":{"content":"x"}}`),
		used("t2", "Edit", `{"file_path":"/p/edit.go","old_string":"\"","new_string":"{"}`),
		answered("t2", "", ""),
		used("t3", "Bash", `{"command":"make"}`),
		answered("t3", `,"is_error":false`, `,"toolUseResult":{"stdout":"","backgroundTaskId":null}`),
		`{"type":"assistant","message":{"id":"m-end","content":[{"type":"text","text":"a \"done\" \u00fc"}],"usage":{"input_tokens":1,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":4}},"uuid":"last","timestamp":"2026-01-02T03:04:09.5Z"}`,
	))
	got := scan(t, path, transcript.Cursor{})
	at := func(s string) time.Time {
		when, err := time.Parse(time.RFC3339Nano, "2026-01-02T03:04:"+s+"Z")
		if err != nil {
			t.Fatal(err)
		}
		return when
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	want := transcript.Scan{
		Cursor:  transcript.Cursor{Offset: info.Size(), Lines: 9},
		Prompts: []transcript.Prompt{{Text: "add a flag", Line: 1, Time: at("05.678"), UUID: "u-add a flag"}},
		Edits:   []transcript.Edit{{Path: "/p/edit.go", Line: 4, ToolID: "t2", Start: at("06"), End: at("07")}},
		Calls:   []transcript.Call{{ID: "t3", Tool: "Bash", Start: at("06"), End: at("07"), Line: 6, Command: "make"}},
		Messages: []transcript.Message{
			{ID: "m-t1", Line: 2},
			{ID: "m-t2", Line: 4},
			{ID: "m-t3", Line: 6},
			{ID: "m-end", Line: 8, Usage: transcript.Usage{Input: 1, CacheCreation: 2, CacheRead: 3, Output: 4}},
		},
		Model: "x", LastAssistant: `a "done" ü`, LastUUID: "last",
		FirstTime: at("05.678"), LastTime: at("09.5"),
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(transcript.Cursor{}, "Device", "Inode", "Tail")); diff != "" {
		t.Error(diff)
	}
}

func TestReadEdits(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		lines []string
		want  []string
	}{
		"each tool that names its file": {
			lines: []string{
				used("1", "Write", `{"file_path":"a","content":"x"}`), used("2", "Edit", `{"old_string":"x","file_path":"b"}`),
				used("3", "MultiEdit", `{"file_path":"c","edits":[{"file_path":"no"}]}`), used("4", "NotebookEdit", `{"notebook_path":"d"}`),
				used("5", "mcp__acp__Write", `{"file_path":"e"}`), used("6", "mcp__acp__Edit", `{"file_path":"f"}`),
				used("7", "Read", `{"file_path":"g"}`), used("8", "Bash", `{"file_path":"h"}`),
			},
			want: []string{"a", "b", "c", "d", "e", "f"},
		},
		"a refused edit did not happen": {
			lines: []string{
				used("1", "Write", `{"file_path":"a"}`), used("2", "Write", `{"file_path":"a"}`), used("3", "Edit", `{"file_path":"b"}`),
				answered("1", `,"is_error":true`, ""), answered("2", "", ""), answered("3", `,"is_error":true`, ""),
			},
			want: []string{"a"},
		},
		"a path with escapes": {
			lines: []string{used("1", "Write", `{"file_path":"\u00fc\\ \"\n\ud83d\ude00"}`)},
			want:  []string{"ü\\ \"\n😀"},
		},
		"subagents count": {
			lines: []string{strings.Replace(used("1", "Write", `{"file_path":"a"}`), `{"parentUuid"`, `{"isSidechain":true,"parentUuid"`, 1)},
			want:  []string{"a"},
		},
		"a line written twice counts once": {
			lines: []string{used("1", "Write", `{"file_path":"a"}`), used("1", "Write", `{"file_path":"a"}`)},
			want:  []string{"a"},
		},
		"a use without id": {
			lines: []string{used("", "Write", `{"file_path":"a"}`), used("", "Write", `{"file_path":"b"}`)},
			want:  []string{"a", "b"},
		},
		"inputs that are none": {
			lines: []string{
				used("1", "Write", `"file_path"`), used("2", "Write", `null`), used("3", "Write", `{"file_path":7}`),
				used("4", "Write", `{"file_path":""}`), used("5", "Write", `[{"file_path":"x"}]`),
				used("6", "Write", `{"nested":{"file_path":"x"},"s":"\"file_path\":\"x\""}`),
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := scan(t, write(t, lines(tt.lines...)), transcript.Cursor{})
			if diff := cmp.Diff(tt.want, paths(got)); diff != "" || got.Bad > 0 {
				t.Error(got.Bad, diff)
			}
		})
	}
}

func TestReadCalls(t *testing.T) {
	t.Parallel()
	done := time.Date(2026, 1, 2, 3, 4, 7, 0, time.UTC)
	tests := map[string]struct {
		lines []string
		want  []transcript.Call
	}{
		"reading tools are none": {
			lines: []string{used("1", "Grep", `{}`), used("2", "TodoWrite", `{}`), used("3", "ExitPlanMode", `{}`), used("4", "Skill", `{}`)},
		},
		"commands, servers, subagents and unknown tools are": {
			lines: []string{used("1", "Bash", `{}`), used("2", "mcp__db__query", `{}`), used("3", "Agent", `{}`), used("4", "Novel", `{}`)},
			want: []transcript.Call{
				{ID: "1", Tool: "Bash", Open: true},
				{ID: "2", Tool: "mcp__db__query", Open: true, Line: 1},
				{ID: "3", Tool: "Agent", Open: true, Line: 2},
				{ID: "4", Tool: "Novel", Open: true, Line: 3},
			},
		},
		"a result ends it, an error too": {
			lines: []string{used("1", "Bash", `{}`), used("2", "Bash", `{}`), answered("2", `,"is_error":true`, `,"toolUseResult":"Error"`), answered("1", "", "")},
			want:  []transcript.Call{{ID: "1", Tool: "Bash", End: done}, {ID: "2", Tool: "Bash", End: done, Line: 1}},
		},
		"in the background it stays open": {
			lines: []string{
				used("1", "Bash", `{"command":"x","run_in_background":true}`), answered("1", "", ""),
				used("2", "Bash", `{}`), answered("2", "", `,"toolUseResult":{"stdout":"","backgroundTaskId":"b1"}`),
				used("3", "Agent", `{}`), answered("3", "", `,"toolUseResult":{"isAsync":true,"status":"async_launched"}`),
				used("4", "Agent", `{}`), answered("4", "", `,"toolUseResult":{"isAsync":false,"status":"completed"}`),
				used("5", "Bash", `{"run_in_background":true}`), answered("5", `,"is_error":true`, ""),
			},
			want: []transcript.Call{
				{ID: "1", Tool: "Bash", Open: true, Command: "x", Background: true},
				{ID: "2", Tool: "Bash", Open: true, Line: 2, Background: true},
				{ID: "3", Tool: "Agent", Open: true, Line: 4, Background: true},
				{ID: "4", Tool: "Agent", End: done, Line: 6},
				{ID: "5", Tool: "Bash", End: done, Line: 8},
			},
		},
		"a malformed name": {
			lines: []string{used("1", "Task\" >\n<parameter name=", `{}`), used("2", "", `{}`), used("3", strings.Repeat("x", 500), `{}`)},
			want: []transcript.Call{
				{ID: "1", Tool: "Task", Open: true},
				{ID: "2", Open: true, Line: 1},
				{ID: "3", Tool: strings.Repeat("x", 128), Open: true, Line: 2},
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := scan(t, write(t, lines(tt.lines...)), transcript.Cursor{})
			if diff := cmp.Diff(tt.want, got.Calls, cmpopts.IgnoreFields(transcript.Call{}, "Start")); diff != "" {
				t.Error(diff)
			}
			if got.Closed != nil {
				t.Errorf("closed %v", got.Closed)
			}
		})
	}
}

func TestReadUsage(t *testing.T) {
	t.Parallel()
	says := func(id, model, usage string) string {
		return fmt.Sprintf(`{"message":{"usage":%s,"id":%q,"model":%q,"content":[{"type":"text","text":"from %s"}]},"type":"assistant"}`, usage, id, model, model)
	}
	path := write(t, lines(
		says("a", "m", `{"input_tokens":1,"output_tokens":3,"cache_creation":{"output_tokens":99}}`),
		says("b", "m", `{"output_tokens":5}`),
		says("a", "m", `{"input_tokens":2,"output_tokens":30}`),
		says("a", "m", `{"input_tokens":3,"output_tokens":7}`),
		says("c", "m", `{"input_tokens":-3,"output_tokens":1e3,"cache_read_input_tokens":"7","cache_creation_input_tokens":99999999999999999999999}`),
		says("d", "m", `null`),
		says("", "m", `{"output_tokens":5}`),
		says("e", "<synthetic>", `{"output_tokens":5}`),
	))
	got := scan(t, path, transcript.Cursor{})
	want := []transcript.Message{
		{ID: "a", Usage: transcript.Usage{Input: 2, Output: 30}},
		{ID: "b", Line: 1, Usage: transcript.Usage{Output: 5}},
		{ID: "c", Line: 4},
		{ID: "d", Line: 5},
	}
	if diff := cmp.Diff(want, got.Messages); diff != "" {
		t.Error(diff)
	}
	if got.LastAssistant != "from m" {
		t.Errorf("last text is %q", got.LastAssistant)
	}
}

func TestReadMessageAcrossScans(t *testing.T) {
	t.Parallel()
	says := `{"message":{"id":"a","content":[],"usage":{"output_tokens":%d}},"type":"assistant"}` + "\n"
	path := write(t, fmt.Sprintf(says, 3))
	first := scan(t, path, transcript.Cursor{})
	extend(t, path, fmt.Sprintf(says, 42))
	second := scan(t, path, first.Cursor)
	want := [][]transcript.Message{
		{{ID: "a", Usage: transcript.Usage{Output: 3}}},
		{{ID: "a", Line: 1, Usage: transcript.Usage{Output: 42}}},
	}
	if diff := cmp.Diff(want, [][]transcript.Message{first.Messages, second.Messages}); diff != "" {
		t.Error(diff)
	}
}

func TestReadSurvivesAnyLine(t *testing.T) {
	t.Parallel()
	deep := strings.Repeat(`{"a":[`, 100_000) + strings.Repeat(`]}`, 100_000)
	huge := strings.Repeat(`\"{[`, 3<<20)
	tests := map[string]struct {
		line string
		bad  int
		want []string
	}{
		"text":                      {line: "hello", bad: 1},
		"an array":                  {line: `[1]`, bad: 1},
		"a cut object":              {line: `{"type":"user","message":{"content":"x"`, bad: 1},
		"a cut book-keeping line":   {line: `{"type":"mode","mo`, bad: 1},
		"two objects":               {line: `{"type":"user"}{"type":"user"}`, bad: 1},
		"an open string":            {line: `{"type":"user","x":"\\\"}`, bad: 1},
		"NUL bytes":                 {line: "\x00\x00\x00", bad: 1},
		"NUL bytes after the text":  {line: `{"type":"user","message":{"content":"q"}}` + strings.Repeat("\x00", 512), want: []string{"q"}},
		"NUL bytes before the text": {line: strings.Repeat("\x00", 512) + `{"type":"user","message":{"content":"q"}}`, want: []string{"q"}},
		"an empty object":           {line: `{}`},
		"no type":                   {line: `{"message":{"content":"x"}}`},
		"a type that is a number":   {line: `{"type":7,"message":{"content":"x"}}`},
		"a message that is text":    {line: `{"type":"user","message":"x"}`},
		"a content that is none":    {line: `{"type":"user","message":{"content":null}}`},
		"blocks that are none":      {line: `{"type":"user","message":{"content":[1,"x",null,[],{}]}}`},
		"a result without an id":    {line: `{"type":"user","message":{"content":[{"type":"tool_result"}]}}`},
		"deep nesting":              {line: `{"type":"user","x":` + deep + `,"message":{"content":"q"}}`, want: []string{"q"}},
		"a huge line":               {line: `{"type":"user","message":{"content":"q"},"toolUseResult":"` + huge + `"}`, want: []string{"q"}},
		"type behind the message":   {line: `{"message":{"type":"assistant","content":"q"},"type":"user"}`, want: []string{"q"}},
		"a nested type before it":   {line: `{"attachment":{"type":"user"},"message":{"content":"q"},"type":"attachment"}`},
		"white space between":       {line: ` { "type" : "user" , "message" : { "content" : [ { "type" : "text" , "text" : "q" } ] } } `, want: []string{"q"}},
		"bytes that are no UTF-8":   {line: "{\"type\":\"user\",\"message\":{\"content\":\"q\xff\"}}", want: []string{"q\uFFFD"}},
		"half a surrogate pair":     {line: `{"type":"user","message":{"content":"q\ud83d"}}`, want: []string{"q\uFFFD"}},
		"an older name of the type": {line: `{"type":"human","message":{"content":"q"}}`, want: []string{"q"}},
		"a raw control byte":        {line: "{\"type\":\"user\",\"message\":{\"content\":\"q\tr\"}}", want: []string{"q\tr"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := scan(t, write(t, lines(tt.line, asked("after"))), transcript.Cursor{})
			if diff := cmp.Diff(append(tt.want, "after"), texts(got)); diff != "" || got.Bad != tt.bad {
				t.Errorf("bad %d, want %d %s", got.Bad, tt.bad, diff)
			}
			if got.Cursor.Lines != 2 {
				t.Errorf("%d lines", got.Cursor.Lines)
			}
		})
	}
}

func TestReadTimes(t *testing.T) {
	t.Parallel()
	path := write(t, lines(
		`{"type":"system","timestamp":"2026-01-02T03:04:05.100Z","uuid":"a"}`,
		`{"type":"system","timestamp":"2026-01-02T05:04:05.050+02:00","uuid":"b"}`,
		`{"type":"attachment","timestamp":"yesterday","uuid":"c"}`,
		`{"type":"user","isSidechain":true,"message":{"content":"sub"},"uuid":"side"}`,
		`{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"text","text":"sub"}]}}`,
		`{"type":"last-prompt","uuid":"none","timestamp":"2030-01-02T03:04:05.100Z"}`,
	))
	got := scan(t, path, transcript.Cursor{})
	base := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	if !got.FirstTime.Equal(base.Add(50*time.Millisecond)) || !got.LastTime.Equal(base.Add(100*time.Millisecond)) {
		t.Errorf("times %s to %s", got.FirstTime, got.LastTime)
	}
	if got.LastUUID != "c" || got.LastAssistant != "" || got.Prompts != nil {
		t.Errorf("uuid %q, text %q, prompts %v", got.LastUUID, got.LastAssistant, got.Prompts)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.jsonl")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	tests := map[string]struct {
		path string
		want error
	}{
		"a path without a file": {path: filepath.Join(dir, "none.jsonl"), want: transcript.ErrNotFound},
		"a directory":           {path: dir, want: transcript.ErrNotRegular},
		"a pipe":                {path: pipe, want: transcript.ErrNotRegular},
		"a device":              {path: os.DevNull, want: transcript.ErrNotRegular},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := transcript.Read(t.Context(), tt.path, transcript.Cursor{}); !errors.Is(err, tt.want) {
				t.Error(err)
			}
			if err := transcript.Lines(t.Context(), tt.path, 0, 0, nil); !errors.Is(err, tt.want) {
				t.Error(err)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := transcript.Read(ctx, write(t, asked("x")), transcript.Cursor{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestReadAnswers(t *testing.T) {
	t.Parallel()
	path := write(t, lines(used("1", "Agent", `{}`), used("2", "Bash", `{}`), used("3", "Task", `{}`), answered("1", "", ""), answered("2", "", "")))
	first := scan(t, path, transcript.Cursor{})
	extend(t, path, lines(answered("3", "", "")))
	second := scan(t, path, first.Cursor)
	if diff := cmp.Diff([]string{"1"}, slices.Collect(maps.Keys(first.Answers))); diff != "" {
		t.Errorf("commands have no answers: %s", diff)
	}
	if second.Answers["3"] == "" || len(second.Answers) != 1 {
		t.Errorf("%v", second.Answers)
	}
}
