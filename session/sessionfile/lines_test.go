package sessionfile_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/session/sessionfile"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// bare returns the lines of an early rollout of Codex, without envelopes.
func bare(id, dir string) string {
	return fmt.Sprintf(`{"id":"%s","timestamp":"2025-08-18T01:16:13.522Z","instructions":null,"git":{"branch":"main"}}
{"record_type":"state"}
{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>\n  <cwd>%s</cwd>\n</environment_context>"}]}
{"type":"message","role":"user","content":[{"type":"input_text","text":"Write it"}]}
{"record_type":"state"}
{"type":"reasoning","summary":[]}
{"type":"function_call","name":"shell","arguments":"{\"command\":[\"apply_patch\",\"*** Begin Patch\\n*** Add File: new.txt\\n+a\\n+b\\n*** End Patch\\n\"],\"workdir\":\"/p/sub\"}","call_id":"c1"}
{"type":"function_call_output","call_id":"c1","output":"{\"output\":\"Success\",\"metadata\":{\"exit_code\":0}}"}
{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"go test ./...\"]}","call_id":"c2"}
{"type":"function_call_output","call_id":"c2","output":"{\"output\":\"FAIL\",\"metadata\":{\"exit_code\":1}}"}
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]}
`, id, dir)
}

// geminiDocument returns a session of an early version of Gemini CLI.
func geminiDocument(id string) string {
	return fmt.Sprintf(`{
  "sessionId": "%s",
  "projectHash": "h",
  "startTime": "2025-09-01T10:00:00.000Z",
  "lastUpdated": "2025-09-01T10:05:00.000Z",
  "messages": [
    {
      "id": "m1",
      "timestamp": "2025-09-01T10:00:01.000Z",
      "type": "user",
      "content": "Write it"
    },
    {
      "id": "m2",
      "timestamp": "2025-09-01T10:00:02.000Z",
      "type": "gemini",
      "content": "I'll write it.",
      "toolCalls": [
        {
          "id": "write_file-1",
          "name": "write_file",
          "args": {"file_path": "/p/new.txt", "content": "a\n"},
          "result": [{"functionResponse": {"id": "write_file-1", "name": "write_file", "response": {"output": "ok"}}}],
          "status": "success",
          "timestamp": "2025-09-01T10:00:03.000Z"
        }
      ],
      "thoughts": [],
      "model": "gemini-2.5-pro",
      "tokens": {"input": 7, "output": 3, "cached": 0, "thoughts": 0, "tool": 0, "total": 10}
    },
    {"id": "m3", "timestamp": "2025-09-01T10:04:00.000Z", "type": "info", "content": "A note of the client"},
    {"id": "m4", "timestamp": "2025-09-01T10:05:00.000Z", "type": "gemini", "content": "Done."}
  ]
}`, id)
}

// open writes a file and opens it as one that a person named.
func open(t *testing.T, name, text string) sessionfile.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	write(t, path, text)
	f, err := sessionfile.Open(t.Context(), path, agent.Agent{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// turns describes the conversation in the lines of a session.
func turns(t *testing.T, f sessionfile.File) []string {
	t.Helper()
	var got []string
	var events transcript.Events
	for _, line := range linesOf(t, f) {
		e, ok := events.Line(line)
		if !ok {
			continue
		}
		if e.IsPrompt() {
			got = append(got, "asked: "+e.Title())
		}
		if e.Interrupted {
			got = append(got, "interrupted")
		}
		if e.Kind == transcript.AgentEvent && e.Said() != "" {
			got = append(got, "said: "+e.Said())
		}
		for _, u := range e.Uses {
			path, texts := u.Written()
			got = append(got, strings.TrimSpace(fmt.Sprintf("used: %s %s %q", u.Tool, path, texts)))
		}
		for _, r := range e.Results {
			got = append(got, fmt.Sprintf("result: %v %s", r.Failed, r.Content.Said()))
		}
	}
	return got
}

func item(payload string) string {
	return `{"timestamp":"2025-10-01T10:00:01.000Z","type":"response_item","payload":` + payload + "}\n"
}

func said(role, text string) string {
	return fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":"input_text","text":%q}]}`, role, text)
}

func event(payload string) string {
	return `{"timestamp":"2025-10-01T10:00:01.000Z","type":"event_msg","payload":` + payload + "}\n"
}

const codexMeta = `{"timestamp":"2025-10-01T10:00:00.000Z","type":"session_meta","payload":{"id":"` + idA + `","cwd":"/p"}}` + "\n"

func TestLinesOfCodex(t *testing.T) {
	t.Parallel()
	const added = "*** Begin Patch\n*** Add File: new.txt\n+a\n*** Update File: old.txt\n*** Move to: moved.txt\n@@\n-x\n+y\n*** End Patch"
	quoted := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	patched := []string{`used: Write new.txt ["a\n"]`, `used: Delete old.txt []`, `used: MultiEdit moved.txt ["y\n"]`}
	tests := map[string]struct {
		text string
		want []string
	}{
		"early, without envelopes": {
			text: bare(idA, "/p"),
			want: []string{
				"asked: Write it", "used: Bash  []", `used: Write /p/sub/new.txt ["a\nb\n"]`, "result: false",
				"result: false Success", "used: Bash  []", "result: true Exit code 1\nFAIL", "said: Done.",
			},
		},
		"items only": {
			text: codexMeta + item(said("developer", "<permissions instructions>")) + item(said("user", "<environment_context>\n<cwd>/p</cwd>")) + item(said("user", "Write it")) +
				item(`{"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":`+quoted(added)+`}`) +
				item(`{"type":"custom_tool_call_output","call_id":"c1","output":"Exit code: 0\nOutput:\nok"}`) + item(said("assistant", "Done.")),
			want: append(append([]string{"asked: Write it"}, patched...), "result: false", "result: false", "result: false", "said: Done."),
		},
		"a patch that failed": {
			text: codexMeta + item(said("user", "Write it")) +
				item(`{"type":"function_call","call_id":"c1","name":"apply_patch","arguments":`+quoted(quoted(map[string]string{"input": "*** Begin Patch\n*** Add File: /p/new.txt\n+a\n"}))+`}`) +
				item(`{"type":"function_call_output","call_id":"c1","output":"Exit code: 1\nOutput:\nno"}`),
			want: []string{"asked: Write it", "used: apply_patch  []", `used: Write /p/new.txt ["a\n"]`, "result: true", "result: true Exit code 1\nno"},
		},
		"interrupted, and a command of the person": {
			text: codexMeta + item(said("user", "Write it")) + item(said("user", "<turn_aborted>\nby the user")) + item(said("user", "<user_shell_command>\n<command>ls</command>")) + item(said("assistant", "Stopped.")),
			want: []string{"asked: Write it", "interrupted", "said: Stopped."},
		},
		"continued by a version that writes events": {
			text: bare(idA, "/p") + item(said("user", "Go on")) + event(`{"type":"user_message","message":"Go on"}`) + item(said("assistant", "Going.")) + event(`{"type":"agent_message","message":"Going."}`),
			want: []string{
				"asked: Write it", "used: Bash  []", `used: Write /p/sub/new.txt ["a\nb\n"]`, "result: false",
				"result: false Success", "used: Bash  []", "result: true Exit code 1\nFAIL", "said: Done.", "asked: Go on", "said: Going.",
			},
		},
		"events of messages, and none of patches": {
			text: codexMeta + item(said("user", "Write it")) + event(`{"type":"user_message","message":"Write it"}`) +
				item(`{"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":`+quoted(added)+`}`) +
				item(`{"type":"custom_tool_call_output","call_id":"c1","output":"Exit code: 0\nOutput:\nok"}`) + event(`{"type":"agent_message","message":"Done."}`),
			want: append(append([]string{"asked: Write it"}, patched...), "result: false", "result: false", "result: false", "said: Done."),
		},
		"with events": {
			text: codexMeta + item(said("user", "Write it")) + event(`{"type":"user_message","message":"Write it"}`) +
				item(`{"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":`+quoted(added)+`}`) +
				event(`{"type":"patch_apply_end","call_id":"c1","success":true,"changes":{"/p/new.txt":{"type":"add","content":"a\n"}}}`) +
				item(`{"type":"custom_tool_call_output","call_id":"c1","output":"ok"}`) +
				event(`{"type":"agent_message","message":"Done."}`) + item(said("assistant", "Done.")),
			want: []string{"asked: Write it", `used: Write /p/new.txt ["a\n"]`, "result: false", "said: Done."},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t, "rollout.jsonl", tt.text)
			if f.Agent.Name != agent.Codex().Name || f.ID != idA || f.Dir != "/p" {
				t.Errorf("%+v", f)
			}
			got := turns(t, f)
			for i := range got {
				got[i] = strings.TrimRight(got[i], " ")
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
			for _, line := range linesOf(t, f) {
				if transcript.Form(line) != transcript.Codex || !json.Valid(line) {
					t.Errorf("not a line of Codex: %s", line)
				}
			}
			if scan := scanOf(t, f); scan.Bad > 0 {
				t.Errorf("%d bad lines", scan.Bad)
			}
		})
	}
}

func TestLinesOfDocuments(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		name, text, agent, id, dir string
		form                       string
		want                       []string
	}{
		"Gemini CLI": {
			name: "session-2025-09-01T10-00-44444444.json", text: geminiDocument(idA), agent: "gemini", id: idA, form: transcript.GeminiCLI,
			want: []string{"asked: Write it", "said: I'll write it.", `used: Write /p/new.txt ["a\n"]`, "result: false ok", "said: Done."},
		},
		"Gemini CLI, a document that it has copied to lines": {
			name: "session-2025-09-01T10-00-44444444.jsonl", agent: "gemini", id: idA, form: transcript.GeminiCLI,
			text: gemini(idA) + `{"id":"m2","timestamp":"2025-09-01T10:00:02.000Z","type":"gemini","content":"I'll write it.","toolCalls":[{"id":"c1","name":"write_file","args":{"file_path":"/p/new.txt","content":"a\n"},"result":[],"status":"success"}]}
{"id":"m3","timestamp":"2025-09-01T10:00:03.000Z","type":"gemini","content":"Then the other."}
{"$set":{"lastUpdated":"2025-09-01T10:00:03.000Z"}}
{"id":"m3","timestamp":"2025-09-01T10:00:03.000Z","type":"gemini","content":"Then the other.","toolCalls":[{"id":"c2","name":"write_file","args":{"file_path":"/p/old.txt","content":"a\n"},"result":[],"status":"success"}]}
`,
			want: []string{"asked: Write it", "said: I'll write it.", `used: Write /p/new.txt ["a\n"]`, "result: false ", "said: Then the other.", `used: Write /p/old.txt ["a\n"]`, "result: false "},
		},
		"Gemini CLI, in one line and without ids": {
			name: "x.json", text: `{"sessionId":"s","projectHash":"h","messages":[{"type":"user","content":"Write it"},{"content":"Done.","type":"assistant"}]}`, agent: "gemini", id: "s", form: transcript.GeminiCLI,
			want: []string{"asked: Write it", "said: Done."},
		},
		"an export of OpenCode": {
			name: "export.json", agent: "opencode", id: "ses_1", dir: "/p", form: transcript.OpenCode,
			text: `{"info":{"id":"ses_1","directory":"/p","time":{"created":1795353000000,"updated":1795353060000}},"messages":[
				{"info":{"id":"m1","role":"user","time":{"created":1795353001000}},"parts":[{"type":"text","text":"Write it"}]},
				{"info":5},
				{"info":{"id":"m2","role":"assistant","time":{"created":1795353002000},"error":{"name":"MessageAbortedError"}},"parts":[{"type":"text","text":"I'll"}]}]}`,
			want: []string{"asked: Write it", "said: I'll", "interrupted"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t, tt.name, tt.text)
			if f.Agent.Name != tt.agent || f.ID != tt.id || f.Dir != tt.dir {
				t.Errorf("%+v", f)
			}
			if d := cmp.Diff(tt.want, turns(t, f)); d != "" {
				t.Error(d)
			}
			for _, line := range linesOf(t, f) {
				if bytes.ContainsRune(line, '\n') || !json.Valid(line) || transcript.Form(line) != tt.form {
					t.Errorf("not a line of %s: %s", tt.form, line)
				}
			}
		})
	}
	f := open(t, "session.json", geminiDocument(idA))
	if f.Start != time.Date(2025, 9, 1, 10, 0, 0, 0, time.UTC) || f.End != time.Date(2025, 9, 1, 10, 5, 0, 0, time.UTC) {
		t.Error(f.Start, f.End)
	}
	if scan := scanOf(t, f); len(scan.Messages) != 1 || scan.Messages[0].Usage.Input+scan.Messages[0].Usage.Output != 10 || scan.Model != "gemini-2.5-pro" {
		t.Errorf("%+v", scan.Messages)
	}
}

// TestUnknownDocument: a document of no known agent is read if the agent is named.
func TestUnknownDocument(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "x.json")
	write(t, path, `{"messages":[{"role":"user","content":"Write it"},{"role":"assistant","content":[{"type":"text","text":"Done."}]}]}`)
	if _, err := sessionfile.Open(t.Context(), path, agent.Agent{}); err == nil || !strings.HasSuffix(err.Error(), "it has the form of no known agent") {
		t.Error(err)
	}
	f, err := sessionfile.Open(t.Context(), path, agent.ClaudeCode())
	if err != nil || f.ID != "x" {
		t.Fatal(f, err)
	}
	if d := cmp.Diff([]string{"asked: Write it", "said: Done."}, turns(t, f)); d != "" {
		t.Error(d)
	}
}

// TestEarlyPi reads a session of an early version of Pi, whose lines have no ids.
func TestEarlyPi(t *testing.T) {
	t.Parallel()
	f := open(t, "2025-11-01T10-00-00-000Z_"+idA+".jsonl", `{"type":"session","id":"`+idA+`","timestamp":"2025-11-01T10:00:00.000Z","cwd":"/p","provider":"x","modelId":"m","thinkingLevel":"off"}
{"type":"message","timestamp":"2025-11-01T10:00:01.000Z","message":{"role":"user","content":[{"type":"text","text":"Write it"}]}}
{"type":"message","timestamp":"2025-11-01T10:00:02.000Z","message":{"role":"assistant","model":"m","content":[{"type":"text","text":"I'll write it."},{"type":"toolCall","id":"c1","name":"write","arguments":{"path":"/p/new.txt","content":"a\n"}}],"usage":{"input":7,"output":3,"cacheRead":0,"cacheWrite":0}}}
{"type":"message","timestamp":"2025-11-01T10:00:03.000Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"write","content":[{"type":"text","text":"ok"}],"isError":false}}
{"type":"model_change","timestamp":"2025-11-01T10:00:04.000Z","provider":"x","modelId":"n"}
{"type":"message","timestamp":"2025-11-01T10:00:05.000Z","message":{"role":"assistant","model":"n","content":[{"type":"text","text":"Done."}],"usage":{"input":20,"output":1,"cacheRead":0,"cacheWrite":0}}}
`)
	if f.Agent.Name != agent.Pi().Name || f.ID != idA || f.Dir != "/p" || f.End.Sub(f.Start) != 5*time.Second {
		t.Errorf("%+v", f)
	}
	want := []string{"asked: Write it", "said: I'll write it.", `used: Write /p/new.txt ["a\n"]`, "result: false ok", "said: Done."}
	if d := cmp.Diff(want, turns(t, f)); d != "" {
		t.Error(d)
	}
	if got, want := summary(t, f), `["Write it"], ["new.txt"], 31 tokens, 0 bad`; got != want {
		t.Error(got)
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	first := claude(idA, "/p")
	last := `{"type":"user","uuid":"u9","sessionId":"` + idA + `","message":{"role":"user","content":"Go on"}}`
	long := `{"type":"user","uuid":"u8","message":{"role":"user","content":"` + strings.Repeat("long ", 200_000) + `"}}`
	tests := map[string]struct{ text, want string }{
		"a last line without a newline": {first + last, first + last},
		"a last line that is cut":       {first + last[:40], first},
		"a last line that is no object": {first + `"text"`, first},
		"padding":                       {first + "\x00\x00\x00", first},
		"empty lines":                   {"\n\n" + first + "\n \n\x00\x00\n" + last + "\n\n", first + last},
		"damaged lines":                 {first + "{\"type\":\nno JSON\n" + last + "\n", first + "{\"type\":\nno JSON\n" + last},
		"other ends of lines":           {strings.ReplaceAll(first, "\n", "\r\n"), first},
		"a byte order mark":             {"\ufeff" + first, first},
		"a long line":                   {first + long + "\n" + last + "\n", first + long + "\n" + last},
		"a long last line":              {first + long, first + long},
		"a long last line that is cut":  {first + long[:900_000], first},
	}
	for name, tt := range tests {
		for _, ending := range []string{"", ".gz", ".zst"} {
			t.Run(name+ending, func(t *testing.T) {
				t.Parallel()
				text := tt.text
				switch ending {
				case ".gz":
					text = gzipped(text)
				case ".zst":
					text = zstandard(text)
				}
				f := open(t, idA+".jsonl"+ending, text)
				if f.ID != idA || f.Size != int64(len(text)) {
					t.Errorf("%s, %d bytes", f.ID, f.Size)
				}
				if got := string(bytes.Join(linesOf(t, f), []byte("\n"))); got != strings.TrimSuffix(tt.want, "\n") {
					t.Errorf("%.2000q", got)
				}
			})
		}
	}
}

// TestGrowingFile: a file is read up to its size at the start.
func TestGrowingFile(t *testing.T) {
	t.Parallel()
	f := open(t, idA+".jsonl", strings.Repeat(claude(idA, "/p"), 2000))
	before := len(linesOf(t, f))
	n := 0
	err := f.Lines(t.Context(), func([]byte) error {
		if n++; n%1000 > 0 {
			return nil
		}
		file, err := os.OpenFile(f.Path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = file.WriteString(claude(idA, "/p"))
		return errors.Join(err, file.Close())
	})
	if err != nil || n != before {
		t.Error(n, before, err)
	}
	if after := len(linesOf(t, f)); after <= before {
		t.Error("it didn't grow:", after)
	}
}

func TestLinesStop(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	for name, text := range map[string]string{"lines.jsonl": claude(idA, "/p"), "rollout.jsonl": bare(idA, "/p"), "session.json": geminiDocument(idA)} {
		f := open(t, name, text)
		n := 0
		if err := f.Lines(t.Context(), func([]byte) error { n++; return stop }); err != stop || n != 1 { //nolint:errorlint // it must be unchanged
			t.Errorf("%s: %v after %d lines", name, err, n)
		}
		ctx, cancel := context.WithCancel(t.Context())
		n = 0
		if err := f.Lines(ctx, func([]byte) error { n++; cancel(); return nil }); !errors.Is(err, context.Canceled) || n != 1 {
			t.Errorf("%s: %v after %d lines", name, err, n)
		}
		if err := os.Remove(f.Path); err != nil {
			t.Fatal(err)
		}
		if err := f.Lines(t.Context(), func([]byte) error { return nil }); err == nil || err.Error() != "read "+f.Path+": no such file or directory" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCutCompression: the lines before the cut are yielded, and then an error.
func TestCutCompression(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 20_000 {
		text.WriteString(claude(hashOf(strconv.Itoa(i)), "/p"))
	}
	for ending, whole := range map[string]string{".gz": gzipped(text.String()), ".zst": zstandard(text.String())} {
		f := open(t, idA+".jsonl"+ending, whole[:len(whole)/2])
		n := 0
		err := f.Lines(t.Context(), func(line []byte) error {
			n++
			if !json.Valid(line) {
				t.Errorf("%s", line)
			}
			return nil
		})
		if err == nil || !strings.HasSuffix(err.Error(), "its compressed content is cut off") || n == 0 || n >= 60_000 {
			t.Errorf("%s: %v after %d lines", ending, err, n)
		}
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ text, want string }{
		"empty.jsonl": {"", "it is empty"},
		"text.jsonl":  {"some text\n", "none of its lines is a JSON object"},
		"other.jsonl": {`{"some":"object"}` + "\n", "it has the form of no known agent"},
		"title.jsonl": {`{"type":"summary","summary":"x","leafUuid":"y"}` + "\n", "it has no line of a conversation"},
		"x.db":        {"SQLite format 3\x00", "it is a database with many sessions"},
	} {
		path := filepath.Join(t.TempDir(), name)
		write(t, path, tt.text)
		if _, err := sessionfile.Open(t.Context(), path, agent.Agent{}); err == nil || err.Error() != "read "+path+": "+tt.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := sessionfile.Open(t.Context(), t.TempDir(), agent.Agent{}); err == nil {
		t.Error("a folder was opened")
	}
	for name, tt := range map[string]struct{ text, agent, id string }{
		"any name":           {claude(idA, "/p"), "claude-code", idA},
		"a copy.jsonl":       {claude(idA, "/p"), "claude-code", idA},
		"events.jsonl":       {copilot(idA, "/p"), "copilot", idA},
		"x.jsonl":            {cursor, "cursor", "x"},
		"y.jsonl":            {qwen(idB, "/p"), "qwen", idB},
		"rollout-x-y.jsonl":  {codex(idB, "/p"), "codex", idB},
		"agent-a1b2.jsonl":   {strings.ReplaceAll(claude(idA, "/p"), `"uuid"`, `"isSidechain":true,"uuid"`), "claude-code", "a1b2"},
		"z.jsonl.gz":         {gzipped(pi(idA, "/p")), "pi", idA},
		"session-g.jsonl":    {gemini(idA), "gemini", idA},
		"opencode-own.jsonl": {`{"opencode":1,"timestamp":"2026-03-01T10:00:00.000Z","sessionId":"ses_1","cwd":"/p","message":{"info":{"id":"m1","role":"user"},"parts":[{"type":"text","text":"Write it"}]}}` + "\n", "opencode", "ses_1"},
	} {
		if f := open(t, name, tt.text); f.Agent.Name != tt.agent || f.ID != tt.id {
			t.Errorf("%s: %s %s", name, f.Agent.Name, f.ID)
		}
	}
}

// TestSubagents finds the transcripts of subagents where each agent keeps them.
func TestSubagents(t *testing.T) {
	t.Parallel()
	sidechain := func(id string) string {
		return strings.ReplaceAll(claude(id, "/p"), `"uuid"`, `"isSidechain":true,"uuid"`)
	}
	child := func(id, parent, session string) string {
		return strings.Replace(codex(id, "/p"), `"source":"cli"`, session+`"source":{"subagent":{"thread_spawn":{"parent_thread_id":"`+parent+`"}}}`, 1)
	}
	tests := map[string]struct {
		files map[string]string
		want  []string
	}{
		"Claude Code": {
			map[string]string{
				".claude/projects/-p/" + idA + ".jsonl":                            claude(idA, "/p"),
				".claude/projects/-p/" + idA + "/subagents/agent-1.jsonl":          sidechain(idA),
				".claude/projects/-p/" + idA + "/subagents/agent-2.jsonl.gz":       gzipped(sidechain(idA)),
				".claude/projects/-p/" + idA + "/subagents/agent-1.meta.json":      "{}",
				".claude/projects/-p/" + idA + "/subagents/agent-empty.jsonl":      "",
				".claude/projects/-p/agent-3.jsonl":                                sidechain(idA),
				".claude/projects/-p/agent-4.jsonl":                                sidechain(idB),
				".claude/projects/-p/" + idB + "/subagents/agent-5.jsonl":          sidechain(idB),
				".claude/projects/-p/" + idA + "/tool-results/agent-6.jsonl":       sidechain(idA),
				".claude/projects/-p/" + idA + "/subagents/agent-7.jsonl/a folder": "",
			},
			[]string{"1", "2", "3"},
		},
		"Codex": {
			map[string]string{
				".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-" + idA + ".jsonl": codex(idA, "/p"),
				".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-01-child.jsonl":       child("child", idA, `"session_id":"`+idA+`",`),
				".codex/sessions/2026/03/02/rollout-2026-03-02T00-00-01-grandchild.jsonl":  child("grandchild", "child", ""),
				".codex/archived_sessions/rollout-2026-03-01T10-00-01-archived.jsonl.zst":  zstandard(child("archived", idA, "")),
				".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-01-other.jsonl":       child("other", idB, ""),
			},
			[]string{"archived", "child", "grandchild"},
		},
		"Gemini CLI": {
			map[string]string{
				".gemini/tmp/" + hashOf("/p") + "/chats/session-2026-03-01T10-00-11111111.jsonl": gemini(idA),
				".gemini/tmp/" + hashOf("/p") + "/chats/" + idA + "/sub-1.jsonl":                 strings.Replace(gemini("sub-1"), "main", "subagent", 1),
			},
			[]string{"sub-1"},
		},
		"Qwen Code": {
			map[string]string{
				".qwen/projects/-p/chats/" + idA + ".jsonl":             qwen(idA, "/p"),
				".qwen/projects/-p/subagents/" + idA + "/agent-1.jsonl": strings.ReplaceAll(qwen(idA, "/p"), `"parentUuid"`, `"isSidechain":true,"parentUuid"`),
			},
			[]string{"1"},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			for path, text := range tt.files {
				write(t, filepath.Join(home, path), text)
				if err := os.Chtimes(filepath.Join(home, path), time.Time{}, time.Date(2026, 3, 1, 10, 5, 0, 0, time.UTC)); err != nil {
					t.Fatal(err)
				}
			}
			files, _, err := sessionfile.Find(t.Context(), query(home, "/p"))
			if err != nil || len(files) != 1 || files[0].ID != idA {
				t.Fatal(files, err)
			}
			opened, err := sessionfile.Open(t.Context(), files[0].Path, agent.Agent{})
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range []sessionfile.File{files[0], opened} {
				subs, err := f.Subagents(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, s := range subs {
					got = append(got, s.ID)
					if s.Dir != files[0].Dir && f.Dir != "" || s.Agent.Name != f.Agent.Name || len(linesOf(t, s)) == 0 {
						t.Errorf("%+v", s)
					}
				}
				if d := cmp.Diff(tt.want, got); d != "" {
					t.Error(d)
				}
			}
		})
	}
}

// FuzzLines opens arbitrary files and reads their lines.
func FuzzLines(f *testing.F) {
	for name, text := range map[string]string{
		"a.jsonl": claude(idA, "/p"), "b.jsonl": bare(idA, "/p"), "c.json": geminiDocument(idA), "d.jsonl.gz": gzipped(qwen(idA, "/p")),
		"e.jsonl.zst": zstandard(pi(idA, "/p")), "f.jsonl": cursor, "g.json": `{"info":{"id":"x"},"messages":[{"info":{"id":"m","role":"user"},"parts":[]}]}`,
		"h.jsonl": instructed(idA, "/p", 1), "i.jsonl": copilot(idA, "/p"), "j.jsonl": gemini(idA), "k.json": `{"messages":[null,{},[]]}`,
		"l.jsonl": codexMeta + item(said("user", "x")) + item(`{"type":"function_call_output","call_id":"c1","output":null}`) + item(`{"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":"*** Add File: x\n+y"}`),
	} {
		f.Add(name, []byte(text))
	}
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		path := filepath.Join(t.TempDir(), "x"+filepath.Ext(strings.ReplaceAll(filepath.Base(name), "\x00", "")))
		if os.WriteFile(path, text, 0o600) != nil {
			t.Skip("no name of a file")
		}
		opened, err := sessionfile.Open(t.Context(), path, agent.Agent{})
		if err != nil {
			if opened, err = sessionfile.Open(t.Context(), path, agent.Codex()); err != nil {
				return
			}
		}
		err = opened.Lines(t.Context(), func(line []byte) error {
			if len(bytes.Trim(line, "\x00 \t")) == 0 || bytes.ContainsRune(line, '\n') {
				t.Errorf("not a line: %q", line)
			}
			return nil
		})
		if err != nil && !strings.HasPrefix(err.Error(), "read "+path) {
			t.Error(err)
		}
		if _, err := opened.Subagents(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkLines(b *testing.B) {
	block := strings.Repeat("a line of a file\\n", 200)
	tool := item(`{"type":"function_call_output","call_id":"c1","output":"` + block + `"}`)
	for name, text := range map[string]string{
		"Claude Code": strings.Repeat(strings.ReplaceAll(claude(idA, "/p"), "Done.", block), 10_000),
		"Codex":       instructed(idA, "/p", 100) + strings.Repeat(tool, 10_000),
		"early Codex": codexMeta + item(said("user", "Write it")) + strings.Repeat(tool, 10_000),
	} {
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "x.jsonl")
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				b.Fatal(err)
			}
			f, err := sessionfile.Open(b.Context(), path, agent.Agent{})
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if err := f.Lines(b.Context(), func([]byte) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
