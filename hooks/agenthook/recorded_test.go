package agenthook_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/session/agent"
)

// TestRecordedHooks decodes the recorded payloads of the genuine clients into their turns.
// ENTIRE_SAMPLES names the folder of the records.
func TestRecordedHooks(t *testing.T) {
	t.Parallel()
	const pages, line = "Write two pages in docs and name them in the readme", "Add one more line to made.txt and commit"
	const delegate = "Now delegate the page to a subagent"
	for _, tt := range []struct {
		client, example string
		want            []string // prompts and ends of turns
	}{
		{"codex", "1-write-shell", []string{pages, "end", line, "end"}},
		{"copilot", "1-write-shell", []string{pages, "end", line, "end"}},
		{"gemini", "1-write-shell", []string{pages, "end", line, "end"}},
		{"qwen", "1-write-shell", []string{pages, "end", line, "end"}},
		{"codex", "3-subagent", []string{delegate, "end"}},
		{"copilot", "3-subagent", []string{delegate, "end"}},
		{"gemini", "3-subagent", []string{delegate, "end"}},
		{"qwen", "3-subagent", []string{delegate, "end", "end"}}, // the first while the subagent works,
	} {
		t.Run(tt.client+" "+tt.example, func(t *testing.T) {
			t.Parallel()
			data, err := os.ReadFile(filepath.Join(os.Getenv("ENTIRE_SAMPLES"), tt.client, tt.example, "hook-payloads.jsonl"))
			if err != nil {
				t.Skip("ENTIRE_SAMPLES names no recorded payloads")
			}
			by, _ := agent.ByName(tt.client)
			verbs := verbsOf(t, by)
			var got []string
			ids := map[string]bool{}
			for line := range bytes.Lines(data) {
				var record struct {
					Event   string          `json:"event"`
					Payload json.RawMessage `json:"payload"`
				}
				if err := json.Unmarshal(line, &record); err != nil {
					t.Fatal(err)
				}
				for _, name := range verbs[record.Event] {
					hook := agenthook.Hook{Agent: by, Verb: agenthook.Verb(by, name)}
					p, err := hook.Decode(t.Context(), bytes.NewReader(record.Payload))
					if err != nil {
						t.Errorf("%s: %v", record.Event, err)
					}
					if p.Ignored {
						continue
					}
					ids[p.SessionID] = true
					switch hook.Verb {
					case "user-prompt-submit":
						got = append(got, p.Prompt)
					case "stop":
						got = append(got, "end")
					}
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			if len(ids) != 1 || ids[""] {
				t.Errorf("the sessions are %v", ids)
			}
		})
	}
}

// verbsOf returns the verbs that an agent's hooks call, by event.
func verbsOf(t *testing.T, by agent.Agent) map[string][]string {
	t.Helper()
	dir := t.TempDir()
	s := agenthook.Settings{Agent: by, Path: filepath.Join(dir, "hooks.json"), Backup: filepath.Join(dir, "backup")}
	install(t, s)
	var settings struct {
		Hooks map[string]json.RawMessage `json:"hooks"`
	}
	if err := json.Unmarshal([]byte(read(t, s.Path)), &settings); err != nil {
		t.Fatal(err)
	}
	verbs := map[string][]string{}
	for event, hooks := range settings.Hooks {
		for rest := string(hooks); ; {
			_, after, found := strings.Cut(rest, "entire hooks "+by.Name+" ")
			if !found {
				break
			}
			rest = after
			if verb := strings.Fields(after)[0]; !slices.Contains(verbs[event], verb) {
				verbs[event] = append(verbs[event], verb)
			}
		}
	}
	return verbs
}
