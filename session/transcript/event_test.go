package transcript_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/seed-3aff656d/entire/session/transcript"
)

func TestEvents(t *testing.T) {
	t.Parallel()
	const usage = `"usage":{"input_tokens":3,"cache_creation_input_tokens":20,"cache_read_input_tokens":100,"output_tokens":9}`
	for name, test := range map[string]struct {
		line string
		want transcript.Event // of kind 0: no event
		said string
	}{
		"empty":                {},
		"no JSON":              {line: `{"type":"user","message"`},
		"book-keeping":         {line: `{"type":"mode","mode":"normal"}`},
		"a summary":            {line: `{"type":"summary","summary":"x","leafUuid":"y"}`, want: transcript.Event{Kind: transcript.TitleEvent, Titled: transcript.SummaryTitle, Leaf: "y"}, said: "x"},
		"an agent's name":      {line: `{"type":"agent-name","agentName":"pumps","sessionId":"x"}`, want: transcript.Event{Kind: transcript.TitleEvent, Titled: transcript.AgentName}, said: "pumps"},
		"a removed title":      {line: `{"type":"custom-title","customTitle":"","sessionId":"x"}`},
		"a name in Pi":         {line: `{"type":"session_info","id":"x","parentId":"y","timestamp":"t","name":"Add pumps"}`, want: transcript.Event{Kind: transcript.TitleEvent, Titled: transcript.PersonTitle}, said: "Add pumps"},
		"an attachment":        {line: `{"parentUuid":"x","attachment":{"type":"prompt_snapshot"},"type":"attachment"}`},
		"a subagent's":         {line: `{"isSidechain":true,"type":"user","message":{"content":"do it"}}`},
		"meta":                 {line: `{"isMeta":true,"type":"user","message":{"content":"do it"}}`},
		"the agent's own word": {line: `{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"x"}]}}`},
		"a title":              {line: `{"type":"ai-title","aiTitle":"The \"store\"","sessionId":"x"}`, want: transcript.Event{Kind: transcript.TitleEvent, Titled: transcript.ModelTitle}, said: `The "store"`},
		"a title of a person":  {line: `{"type":"custom-title","customTitle":"mine"}`, want: transcript.Event{Kind: transcript.TitleEvent, Titled: transcript.PersonTitle}, said: "mine"},
		"a boundary":           {line: `{"type":"system","subtype":"compact_boundary"}`, want: transcript.Event{Kind: transcript.CompactEvent}},
		"a notice":             {line: `{"type":"system","subtype":"turn_duration"}`},
		"a prompt": {
			line: `{"promptId":"p","cwd":"/w","type":"user","message":{"content":"do\nit"},"promptSource":"typed"}`,
			want: transcript.Event{Kind: transcript.UserEvent, PromptID: "p", Cwd: "/w", Prompt: "do\nit"},
		},
		"a notification": {
			line: `{"promptId":"p","type":"user","message":{"content":"<task-notification>x</task-notification>"},"origin":{"kind":"task-notification"}}`,
			want: transcript.Event{Kind: transcript.UserEvent, PromptID: "p"},
		},
		"a skill": {
			line: `{"type":"user","message":{"content":"<command-message>r is running</command-message>\n<command-name>/r</command-name>\n<command-args>a b</command-args>"}}`,
			want: transcript.Event{Kind: transcript.UserEvent, Command: "r", Prompt: "a b"},
		},
		"a command": {
			line: `{"promptId":"p","type":"user","message":{"content":"<command-name>/compact</command-name>\n<command-args>a b</command-args>"}}`,
			want: transcript.Event{Kind: transcript.UserEvent},
		},
		"a plan": {
			line: `{"type":"user","message":{"content":"Implement the following plan: x"},"planContent":"# X"}`,
			want: transcript.Event{Kind: transcript.UserEvent, Plan: "# X"},
		},
		"a plan of an older version": {
			line: `{"type":"user","message":{"content":[{"type":"text","text":"Implement the following plan:\n\n# X"}]}}`,
			want: transcript.Event{Kind: transcript.UserEvent, Plan: "# X"},
		},
		"an interruption": {
			line: `{"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}`,
			want: transcript.Event{Kind: transcript.UserEvent, Interrupted: true},
		},
		"a compaction": {
			line: `{"type":"user","message":{"content":"all that was"},"isVisibleInTranscriptOnly":true,"isCompactSummary":true}`,
			want: transcript.Event{Kind: transcript.UserEvent, Compaction: true}, said: "all that was",
		},
		"an answer": {
			line: `{"type":"assistant","message":{"id":"m","model":"o","content":[{"type":"text","text":"Well."},{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"a"}}],` + usage + `}}`,
			want: transcript.Event{Kind: transcript.AgentEvent, Model: "o", MessageID: "m", Usage: transcript.Usage{Input: 3, CacheCreation: 20, CacheRead: 100, Output: 9}, Context: 123, Uses: []transcript.ToolUse{{ID: "t", Tool: "Read", Input: []byte(`{"file_path":"a"}`)}}}, said: "Well.",
		},
		"an error": {
			line: `{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error"}]},"isApiErrorMessage":true}`,
			want: transcript.Event{Kind: transcript.AgentEvent, Failed: true}, said: "API Error",
		},
		"a result": {
			line: `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","is_error":true,"content":"bad"}]},"toolUseResult":"Error: bad"}`,
			want: transcript.Event{Kind: transcript.UserEvent, Results: []transcript.ToolResult{{Of: "t", Failed: true, Content: []byte(`"bad"`)}}},
		},
	} {
		var events transcript.Events
		got, ok := events.Line([]byte(test.line))
		if ok != (test.want.Kind != 0) {
			t.Errorf("%s: %v", name, ok)
		}
		if !ok {
			continue
		}
		diff := cmp.Diff(test.want, *got, cmpopts.IgnoreUnexported(transcript.Event{}), cmpopts.EquateEmpty())
		if diff != "" || got.Said() != test.said {
			t.Errorf("%s: said %q %s", name, got.Said(), diff)
		}
	}
}

func TestDetail(t *testing.T) {
	t.Parallel()
	var events transcript.Events
	for line, want := range map[string]string{
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}]},"toolUseResult": {"answers":{"q":"x"},"more":[1,"two",true]},"cwd":"/"}`: `{"answers":{"q":"x"},"more":[1,"two",true]}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"a\nb"}]}}`:                                                                                                                         "",
		`{"toolUseResult":{"x":1},"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"a\nb"}]}}`:                                                                                                 "",
	} {
		e, ok := events.Line([]byte(line))
		if !ok || string(e.Detail()) != want || e.Results[0].Content.Said() != "a\nb" {
			t.Errorf("%s: %s", line, e.Detail())
		}
		if want == "" {
			continue
		}
		v := e.Detail()
		if got := v.Member("answers").Member("q").Text(); got != "x" {
			t.Errorf("the member is %q", got)
		}
		var items []string
		for item := range v.Member("more").Items() {
			items = append(items, string(item))
		}
		if diff := cmp.Diff([]string{"1", `"two"`, "true"}, items); diff != "" || !transcript.Value(items[2]).True() {
			t.Error(diff)
		}
		for key := range v.Members() {
			if key != "answers" {
				t.Errorf("the first key is %q", key)
			}
			break
		}
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte(asked("x")), []byte(used("1", "Bash", `{"command":"ls"}`)))
	f.Add([]byte(answered("1", `,"is_error":true`, `,"toolUseResult":{"a":{"b":[1]}}`)), []byte(`{"type":"user","message":{"content":"<command-message>x</command-message>"},"planContent":""}`))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var events transcript.Events
		for _, line := range [][]byte{first, second, first} {
			e, ok := events.Line(line)
			if !ok {
				continue
			}
			_ = e.Said()
			for key, value := range e.Detail().Members() {
				_, _, _ = key, value.Text(), value.Said()
			}
			for _, r := range e.Results {
				_ = r.Content.Said()
			}
			for _, u := range e.Uses {
				_ = u.Input.Member("command").Text()
			}
			if e.Kind == 0 {
				t.Error("an event of no kind")
			}
		}
	})
}

func TestFollow(t *testing.T) {
	t.Parallel()
	var got []string
	restarts := 0
	to := transcript.Follower{Restart: func() { restarts++ }, Line: func(raw []byte) { got = append(got, string(raw)) }}
	path := write(t, "{\"a\":1}\n\n{\"b\":2}\n{\"c\":3}\n{\"half")
	at, rest, err := transcript.Follow(t.Context(), path, transcript.Cursor{}, to)
	if diff := cmp.Diff([]string{`{"a":1}`, `{"b":2}`, `{"c":3}`}, got); diff != "" || rest || err != nil || at.Lines != 4 || at.Offset != 25 {
		t.Errorf("%+v, rest %v, %v %s", at, rest, err, diff)
	}
	if want := scan(t, path, transcript.Cursor{}).Cursor; at != want {
		t.Errorf("%+v, not as a scan: %+v", at, want)
	}
	extend(t, path, "\":4}\n")
	got = nil
	next, rest, err := transcript.Follow(t.Context(), path, at, to)
	if diff := cmp.Diff([]string{`{"half":4}`}, got); diff != "" || rest || err != nil || restarts != 0 {
		t.Errorf("rest %v, %v, %d restarts %s", rest, err, restarts, diff)
	}
	if again, rest, err := transcript.Follow(t.Context(), path, next, to); again != next || rest || err != nil || len(got) != 1 {
		t.Errorf("%+v, rest %v, %v, %q", again, rest, err, got)
	}
	if err := os.WriteFile(path, []byte("{\"other\":1}\n{\"file\":2}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, to.Limit = nil, 1
	at, rest, err = transcript.Follow(t.Context(), path, next, to)
	if diff := cmp.Diff([]string{`{"other":1}`}, got); diff != "" || !rest || err != nil || restarts != 1 {
		t.Errorf("rest %v, %v, %d restarts %s", rest, err, restarts, diff)
	}
	if _, rest, err = transcript.Follow(t.Context(), path, at, to); rest || err != nil || len(got) != 2 {
		t.Errorf("rest %v, %v, %q", rest, err, got)
	}
}

func TestFollowFails(t *testing.T) {
	t.Parallel()
	to := transcript.Follower{Restart: func() {}, Line: func([]byte) {}}
	from := transcript.Cursor{Offset: 7}
	if at, _, err := transcript.Follow(t.Context(), write(t, "")+"x", from, to); !errors.Is(err, transcript.ErrNotFound) || at != from {
		t.Errorf("%+v, %v", at, err)
	}
	if at, _, err := transcript.Follow(t.Context(), t.TempDir(), from, to); !errors.Is(err, transcript.ErrNotRegular) || at != from {
		t.Errorf("%+v, %v", at, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if at, _, err := transcript.Follow(ctx, write(t, strings.Repeat("{}\n", 9)), from, to); !errors.Is(err, context.Canceled) || at != from {
		t.Errorf("%+v, %v", at, err)
	}
}
