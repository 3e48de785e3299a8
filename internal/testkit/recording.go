package testkit

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Recording is a stored session of Claude Code, as described in testdata/session. Replaying it
// needs installed hooks.
type Recording struct {
	Dir     string // holds events.jsonl and transcript.jsonl
	Project string // the repository in which it is replayed
	Env     Env    // HOME determines where the transcript is written
	Out     io.Writer
}

// step is one line of events.jsonl; exactly one of its parts is set.
type step struct {
	Hook    string          `json:"hook,omitempty"`    // event name; needs payload
	Payload json.RawMessage `json:"payload,omitempty"` //
	Lines   int             `json:"lines,omitempty"`   // append this many lines of the transcript
	Write   string          `json:"write,omitempty"`   // path; needs content
	Content string          `json:"content,omitempty"` //
	Run     string          `json:"run,omitempty"`     // a command of the agent
}

// Replay plays the recording: it appends to the transcript line by line, changes the files, runs
// the agent's commands, and sends the payloads to the hooks in the project's settings.
func (r Recording) Replay(tb TB) {
	tb.Helper()
	session := r.session(tb)
	session.Installed = true
	lines := r.read(tb, "transcript.jsonl")
	for number, text := range r.read(tb, "events.jsonl") {
		var s step
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			tb.Fatalf("events.jsonl:%d: %v", number+1, err)
		}
		switch {
		case s.Hook != "":
			r.hook(session, s)
		case s.Write != "":
			writeFile(tb, filepath.Join(r.Project, s.Write), s.Content)
			r.say("        writes %s", s.Write)
		case s.Run != "":
			r.say("        runs   %s", s.Run)
			call := Call{Dir: r.Project, Env: session.AgentEnv(), Name: "bash", Args: []string{"-c", s.Run}}
			call.Must(tb)
		default:
			for _, line := range lines[:s.Lines] {
				session.Transcript.Raw(r.fill(session, line) + "\n")
			}
			lines = lines[s.Lines:]
		}
	}
}

// session returns the recorded session, with its own id, in the project.
func (r Recording) session(tb TB) *Session {
	tb.Helper()
	return NewSession(&Repo{TB: tb, Dir: r.Project, Env: r.Env}, "recorded", "")
}

// Session returns the id of the recorded session.
func (r Recording) Session() string { return UUID("session", "recorded") }

func (r Recording) hook(session *Session, s step) {
	verbs := map[string]string{}
	for verb, event := range events() {
		verbs[event] = verb
	}
	payload := r.fill(session, string(s.Payload))
	var shown struct{ Prompt string }
	if err := json.Unmarshal([]byte(payload), &shown); err != nil {
		session.TB.Fatalf("payload of %s: %v", s.Hook, err)
	}
	switch s.Hook {
	case "UserPromptSubmit":
		r.say("  user  > %s", strings.ReplaceAll(shown.Prompt, Secret(), Secret()[:6]+"..."))
	case "SessionStart", "SessionEnd":
		r.say("  %s", s.Hook)
	}
	session.Hook(verbs[s.Hook], rawObject(session.TB, payload))
}

// rawObject parses a payload and keeps its order.
func rawObject(tb TB, payload string) Object {
	tb.Helper()
	decoder := json.NewDecoder(strings.NewReader(payload))
	var o Object
	if _, err := decoder.Token(); err != nil {
		tb.Fatalf("payload: %v", err)
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			tb.Fatalf("payload: %v", err)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			tb.Fatalf("payload: %v", err)
		}
		o = append(o, key, value)
	}
	return o
}

// fill replaces the placeholders of paths, the time, the made-up secret and the session.
func (r Recording) fill(session *Session, text string) string {
	return strings.NewReplacer(
		"${PROJECT}", quoted(r.Project), "${TRANSCRIPT}", quoted(session.Transcript.Path),
		"${NOW}", Stamp(), "${SECRET}", Secret(), "${SESSION}", session.ID,
	).Replace(text)
}

// quoted escapes a path for a JSON string.
func quoted(path string) string {
	text, err := encode(path)
	if err != nil {
		return path
	}
	return strings.Trim(string(text), `"`)
}

func (r Recording) say(format string, args ...any) {
	if r.Out != nil {
		fmt.Fprintf(r.Out, format+"\n", args...)
	}
}

func (r Recording) read(tb TB, name string) []string {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(r.Dir, name))
	if err != nil {
		tb.Fatalf("read recording: %v", err)
	}
	return strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
}
