package agenthook_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/session/agent"
)

func TestAnswerEncode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer agenthook.Answer
		want   string
	}{
		"nothing":   {agenthook.Answer{Event: "SessionStart"}, ""},
		"a message": {agenthook.Answer{Message: "a <b>"}, `{"systemMessage":"a <b>"}` + "\n"},
		"a context": {
			agenthook.Answer{Event: "SessionStart", Context: "c"},
			`{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}` + "\n",
		},
		"both": {
			agenthook.Answer{Event: "SessionStart", Message: "m", Context: "c"},
			`{"systemMessage":"m","hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"c"}}` + "\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := c.answer.Encode(agent.ClaudeCode())
			if diff := cmp.Diff(c.want, string(got)); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	var a agenthook.Answer
	a.Say("", "one", "", "two")
	if a.Message != "one\ntwo" {
		t.Errorf("said %q", a.Message)
	}
}

// TestRecordedPayloads decodes recorded payloads of the client.
func TestRecordedPayloads(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("ENTIRE_SAMPLES")
	files, err := filepath.Glob(filepath.Join(dir, "lab-*", "*", "hook-payloads.jsonl"))
	if dir == "" || err != nil || len(files) == 0 {
		t.Skip("ENTIRE_SAMPLES names no recorded payloads")
	}
	seen := map[string]int{}
	for _, path := range files {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			var record struct {
				Event string          `json:"event"`
				Input json.RawMessage `json:"stdin"`
			}
			if err := json.Unmarshal(lines.Bytes(), &record); err != nil {
				t.Fatal(err)
			}
			p, err := agenthook.Hook{}.Decode(context.Background(), strings.NewReader(string(record.Input)))
			if err != nil {
				t.Errorf("%s: %v", record.Event, err)
			}
			what := record.Event + " " + p.Source + p.Reason
			if p.Compaction != "" {
				what += "with a summary"
			}
			seen[what]++
			if record.Event == "SessionEnd" && p.PromptID == "" {
				t.Errorf("an end without the prompt's id: %s", record.Input)
			}
		}
		if err := errors.Join(lines.Err(), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for _, what := range []string{
		"SessionStart startup", "SessionStart clear", "SessionStart compact", "SessionEnd clear",
		"SessionEnd prompt_input_exit", "PostCompact with a summary",
	} {
		if seen[what] == 0 {
			t.Errorf("no payload of %s among %v", what, seen)
		}
	}
}

func FuzzPayload(f *testing.F) {
	for _, seed := range []string{
		`{"session_id":"a","source":"clear","reason":"clear","prompt_id":"p","compact_summary":"s"}`,
		`{"session_id":"a","source":1}`, `{"session_id":"../a"}`, `{"session_id":"a","compact_summary":{"a":[]}}`, "null", "[", "\x00",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := agenthook.Hook{}.Decode(context.Background(), strings.NewReader(string(data)))
		if err == nil && (p.SessionID == "" || strings.ContainsAny(p.SessionID, "/\\\x00")) {
			t.Errorf("taken for a session: %q", p.SessionID)
		}
		for _, verb := range []string{"session-start", "pre-task", "post-task", "post-todo", "subagent-stop"} {
			_ = p.Task(verb)
		}
	})
}
