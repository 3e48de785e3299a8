package transcript_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session/transcript"
)

func TestStoredReplacesBulkyRecords(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("vendor text ", 1000)
	snapshot := fmt.Sprintf(`{"parentUuid":"p","isSidechain":false,"attachment":{"type":"prompt_snapshot","systemPrompt":[%q],"n":12},"type":"attachment","uuid":"u","timestamp":"2026-01-02T03:04:05Z","rendered":[{"content":%q}],"sessionId":"s","version":"2"}`, long, long)
	hollow := `{"parentUuid":"p","isSidechain":false,"attachment":{"type":"prompt_snapshot","systemPrompt":[],"n":12},"type":"attachment","uuid":"u","timestamp":"2026-01-02T03:04:05Z","rendered":[],"sessionId":"s","version":"2"}`
	tests := map[string]struct{ line, want string }{
		"a request": {
			line: `{"type":"api-request","sessionId":"s","id":"i","timestamp":"T","params":{"model":"m"},"keep":0,"tail":["x"],"ok":null}`,
			want: `{"type":"api-request","sessionId":"s","id":"i","timestamp":"T","params":{},"keep":0,"tail":[],"ok":null}`,
		},
		"a blob": {
			line: `{"type":"api-request-blob","sessionId":"s","agentId":"a","hash":"h","message":{"role":"user"}}`,
			want: `{"type":"api-request-blob","sessionId":"s","agentId":"a","hash":"h","message":{}}`,
		},
		"a shape": {
			line: `{"type":"api-request-shape","sessionId":"s","system":` + fmt.Sprintf("%q", long) + `}`,
			want: `{"type":"api-request-shape","sessionId":"s","system":""}`,
		},
		"the type elsewhere": {
			line: `{"tools":[{"type":"user"}],"type":"api-request-shape"}`,
			want: `{"tools":[],"type":"api-request-shape"}`,
		},
		"a prompt snapshot": {line: snapshot, want: hollow},
		"CRLF":              {line: snapshot + "\r", want: hollow},
		"white space":       {line: strings.ReplaceAll(snapshot, `,"`, ` , "`), want: hollow},
		"skills":            {line: strings.Replace(snapshot, "prompt_snapshot", "skill_listing", 1), want: strings.Replace(hollow, "prompt_snapshot", "skill_listing", 1)},
		"agents":            {line: strings.Replace(snapshot, "prompt_snapshot", "agent_listing_delta", 1), want: strings.Replace(hollow, "prompt_snapshot", "agent_listing_delta", 1)},
		"tools":             {line: strings.Replace(snapshot, "prompt_snapshot", "deferred_tools_delta", 1), want: strings.Replace(hollow, "prompt_snapshot", "deferred_tools_delta", 1)},
		"the attachment's type last": {
			line: `{"type":"attachment","uuid":"u","attachment":{"names":["x"],"type":"skill_listing"}}`,
			want: `{"type":"attachment","uuid":"u","attachment":{"names":[],"type":"skill_listing"}}`,
		},
		"more keys than a short line has": {
			line: `{"type":"api-request","uuid":"u"` + strings.Repeat(`,"key":"abcdefg"`, 1000) + `}`,
			want: `{"type":"api-request","uuid":"u"}`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := transcript.Stored([]byte(tt.line))
			if diff := cmp.Diff(tt.want, string(got)); diff != "" {
				t.Error(diff)
			}
			if again := transcript.Stored(got); &again[0] != &got[0] {
				t.Errorf("a stand-in is replaced once more: %s", again)
			}
		})
	}
}

func TestStoredKeepsOtherLines(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"an empty line":                  "",
		"a prompt":                       asked("what is a prompt_snapshot, an \"api-request\"?"),
		"a message of that type":         `{"message":{"type":"api-request","x":["y"]},"type":"assistant"}`,
		"an attachment of that name":     `{"attachment":{"type":"date","names":["skill_listing"]},"type":"attachment"}`,
		"a nested attachment":            `{"attachment":{"type":"date","x":{"type":"skill_listing"}},"type":"attachment"}`,
		"that attachment, another type":  `{"attachment":{"type":"skill_listing","x":["y"]},"type":"user"}`,
		"an attachment that is text":     `{"attachment":"skill_listing","type":"attachment","x":["y"]}`,
		"book-keeping":                   `{"type":"file-history-snapshot","snapshot":{"a":[1,2,3]}}`,
		"a cut request":                  `{"type":"api-request","params":{"a":[1,2,3]},"x":`,
		"a request and something behind": `{"type":"api-request","params":{"a":[1,2,3]}} x`,
		"a request that is no JSON":      `{"type":"api-request","params":{"a":[1,2,3]},"n":nope}`,
		"a short request":                `{"type":"api-request","sessionId":"s"}`,
		"a long number":                  `{"type":"api-request","x":["y"],"uuid":` + strings.Repeat("1", 10_000) + `}`,
		"text":                           `api-request`,
		"NUL bytes":                      "\x00\x00",
	}
	for name, line := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := []byte(line)
			got := transcript.Stored(in)
			if string(got) != line || len(in) > 0 && &got[0] != &in[0] {
				t.Errorf("became %s", got)
			}
		})
	}
}

func TestStoredAllocatesNothing(t *testing.T) { // not parallel: it counts allocations
	line := []byte(asked("x"))
	if n := testing.AllocsPerRun(100, func() { transcript.Stored(line) }); n != 0 {
		t.Errorf("%v allocations for an ordinary line", n)
	}
}

// TestSamples reads real transcripts of several versions of the agent.
func TestSamples(t *testing.T) {
	t.Parallel()
	prompts, edits, calls, messages := 0, 0, 0, 0
	for _, path := range samples(t) {
		if strings.HasSuffix(path, "-payloads.jsonl") {
			continue
		}
		s := scan(t, path, transcript.Cursor{})
		if s.Bad > 0 || s.Restarted {
			t.Errorf("%s: %d bad lines", path, s.Bad)
		}
		prompts += len(s.Prompts)
		edits += len(s.Edits)
		calls += len(s.Calls)
		messages += len(s.Messages)
		for _, p := range s.Prompts {
			if !transcript.IsHuman(p.Text) {
				t.Errorf("%s:%d: no person's prompt: %.80q", path, p.Line+1, p.Text)
			}
		}
		lines := raw(t, path, 0, s.Cursor.Offset)
		if len(lines) != s.Cursor.Lines {
			t.Errorf("%s: %d lines, cursor says %d", path, len(lines), s.Cursor.Lines)
		}
		for i, line := range lines {
			checkStored(t, fmt.Sprintf("%s:%d", path, i+1), []byte(line))
		}
	}
	if prompts == 0 || edits == 0 || calls == 0 || messages == 0 {
		t.Error("nothing found", prompts, edits, calls, messages)
	}
}

// checkStored compares a line and its replacement with another parser.
func checkStored(tb testing.TB, where string, line []byte) {
	tb.Helper()
	type envelope struct {
		Type, UUID, ParentUUID, SessionID, Timestamp, AgentID any
		IsSidechain                                           any
		Attachment                                            struct{ Type any }
	}
	got := transcript.Stored(line)
	var was, is envelope
	if err := json.Unmarshal(line, &was); err != nil {
		tb.Fatalf("%s: %v", where, err)
	}
	if err := json.Unmarshal(got, &is); err != nil {
		tb.Fatalf("%s: stand-in %s: %v", where, got, err)
	}
	if diff := cmp.Diff(was, is); diff != "" {
		tb.Errorf("%s: %s", where, diff)
	}
	bulk := false
	switch was.Type {
	case "api-request", "api-request-blob", "api-request-shape":
		bulk = true
	case "attachment":
		switch was.Attachment.Type {
		case "prompt_snapshot", "skill_listing", "agent_listing_delta", "deferred_tools_delta":
			bulk = true
		}
	}
	if same := &got[0] == &line[0]; same == bulk || bulk && len(got) > 1200 {
		tb.Errorf("%s: bulk %t, kept %t, %d bytes", where, bulk, same, len(got))
	}
}
