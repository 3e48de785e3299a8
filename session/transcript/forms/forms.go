// Package forms converts lines of the transcripts of other agents to the form of Claude Code, which
// package transcript reads.
//
// Line is a function of a single line: transcripts are read from any offset, and each of their
// lines is one line of the conversation. If another agent writes a call and its result in one line,
// the converted line is a message of the agent that contains both.
package forms

import (
	"bytes"
	"encoding/json"
	"strconv"
	"time"
)

// The agents whose lines are converted, as metadata names them.
const (
	Codex      = "Codex"
	CopilotCLI = "Copilot CLI"
	Cursor     = "Cursor"
	GeminiCLI  = "Gemini CLI"
	OpenCode   = "OpenCode"
	PiAgent    = "Pi"
	QwenCode   = "Qwen Code"
)

// far is the length of the beginning of a line by which its form is recognized.
const far = 256

// formOf returns the agent that writes lines of this form and the conversion of such a line, nil
// for a line of another form.
func formOf(line []byte) (agent string, convert func(line []byte) []byte) {
	begin := line[:min(len(line), far)]
	has := func(member string) bool { return bytes.Contains(begin, []byte(member)) }
	kind, rest := firstType(line)
	next := func(member string) bool { return bytes.HasPrefix(bytes.TrimLeft(rest, ` ,`), []byte(member)) }
	switch {
	// {"timestamp", "ordinal", "type", "payload"}
	case startsWith(line, `"timestamp":`) && has(`"payload":`):
		return Codex, codexLine
	// The envelope of Claude Code with messages of Gemini's API.
	case startsWith(line, `"uuid":`) &&
		(bytes.Contains(line, []byte(`"parts":`)) || bytes.Contains(line, []byte(`"systemPayload":`))):
		return QwenCode, qwenLine
	// {"type", "data", "id", "timestamp"}
	case kind != "" && kind != "progress" && next(`"data":`):
		return CopilotCLI, copilotLine
	// A change of earlier lines, the header of a file, or a message.
	case startsWith(line, `"$set":`),
		startsWith(line, `"sessionId":`) && has(`"projectHash":`),
		startsWith(line, `"id":`) && has(`"timestamp":`) && has(`"type":`):
		return GeminiCLI, geminiLine
	// {"type", "id", "parentId", "timestamp"}, after a first line with a version; in early versions
	// without version, id and parentId
	case kind == "session" && (next(`"version":`) || next(`"id":`)), isPiKind(kind) && (next(`"id":`) || next(`"timestamp":`)):
		return PiAgent, piLine
	// {"role", "message": {"content"}}
	case startsWith(line, `"role":`):
		return Cursor, cursorLine
	// Package handed writes a message of OpenCode in this form.
	case startsWith(line, `"opencode":`):
		return OpenCode, openCodeLine
	}
	return "", nil
}

// Agent returns the agent that writes lines of this form, "" if the form is not known here.
func Agent(line []byte) string {
	agent, _ := formOf(bytes.Trim(line, padding))
	return agent
}

// padding is what a file system may leave around a line that was written before a power cut.
const padding = "\x00"

// Line returns a line in Claude Code's form, nil if it is not part of the conversation. Lines of
// other forms than those of this package are returned unchanged, without the padding at their ends.
func Line(line []byte) []byte {
	if text := bytes.Trim(line, padding); len(text) > 0 {
		line = text
	}
	if _, convert := formOf(line); convert != nil {
		return convert(line)
	}
	return line
}

// startsWith reports whether a line is an object that begins with the member.
func startsWith(line []byte, member string) bool {
	return len(line) > len(member) && line[0] == '{' && string(line[1:1+len(member)]) == member
}

// entry is a line in Claude Code's form.
type entry struct {
	Type      string    `json:"type"`
	Subtype   string    `json:"subtype,omitempty"`
	Title     string    `json:"customTitle,omitempty"`
	UUID      string    `json:"uuid,omitempty"`
	SessionID string    `json:"sessionId,omitempty"`
	Time      string    `json:"timestamp,omitempty"`
	PromptID  string    `json:"promptId,omitempty"`
	Dir       string    `json:"cwd,omitempty"`
	Branch    string    `json:"gitBranch,omitempty"`
	Sidechain bool      `json:"isSidechain,omitempty"`
	Subagent  string    `json:"agentId,omitempty"`
	Meta      bool      `json:"isMeta,omitempty"`
	Compact   bool      `json:"isCompactSummary,omitempty"`
	Origin    *origin   `json:"origin,omitempty"`
	Message   *message  `json:"message,omitempty"`
	Result    *detached `json:"toolUseResult,omitempty"`
}

type origin struct {
	Kind string `json:"kind"`
}

// detached is the result of a tool that continues in the background.
type detached struct {
	Async bool   `json:"isAsync"`
	Agent string `json:"agentId,omitempty"`
}

type message struct {
	ID      string  `json:"id,omitempty"`
	Model   string  `json:"model,omitempty"`
	Role    string  `json:"role"`
	Usage   *usage  `json:"usage,omitempty"`
	Content []block `json:"content"`
}

type usage struct {
	Input      int64 `json:"input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	Output     int64 `json:"output_tokens"`
}

type block struct {
	Type    string `json:"type"`
	Text    string `json:"text,omitempty"`
	ID      string `json:"id,omitempty"`
	Name    string `json:"name,omitempty"`
	Input   any    `json:"input,omitempty"`
	Started string `json:"started_at,omitempty"` // set for a use whose line was written at its end
	Of      string `json:"tool_use_id,omitempty"`
	Failed  bool   `json:"is_error,omitempty"`
	Content string `json:"content,omitempty"`
}

// spent returns an entry with the tokens of a model's response. u.Input includes the tokens read
// from the cache and written to it; the entry counts them separately.
func spent(id, model string, u usage) *entry {
	u.Input = max(0, u.Input-u.CacheRead-u.CacheWrite)
	return &entry{Type: "assistant", Message: &message{ID: id, Model: model, Role: "assistant", Usage: &u, Content: []block{}}}
}

// The kinds of blocks for the start and the end of a call whose use and result are in one line,
// written at its end. They show only that the tool may write files in between.
const (
	Begun = "tool_begun"
	Ended = "tool_ended"
)

func textBlock(s string) block { return block{Type: "text", Text: s} }

func useBlock(id, name string, input any) block {
	return block{Type: "tool_use", ID: id, Name: name, Input: input}
}

func resultBlock(of, content string, failed bool) block {
	return block{Type: "tool_result", Of: of, Content: content, Failed: failed}
}

// withStatus returns the output of a command in Claude Code's form: that of a failed command begins
// with its exit status.
func withStatus(status int, output string) string {
	if status == 0 {
		return output
	}
	return "Exit code " + strconv.Itoa(status) + "\n" + output
}

// edit is a text in a file and its replacement.
type edit struct {
	Old string `json:"old_string"`
	New string `json:"new_string"`
}

// patched is the input of a tool that edits a file.
type patched struct {
	Path  string `json:"file_path"`
	Edits []edit `json:"edits,omitempty"`
}

// written is the input of a tool that writes a whole file.
type written struct {
	Path    string `json:"file_path"`
	Content string `json:"content"`
}

// command is the input of a shell.
type command struct {
	Command    string `json:"command"`
	Background bool   `json:"run_in_background,omitempty"`
}

// encode returns the entry as a line, nil if e is nil.
func encode(e *entry) []byte {
	if e == nil {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(e) != nil { // fails only for invalid JSON numbers, and there are none
		return nil
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// startedAt sets the start of the tool uses in m.Content, in milliseconds of Unix time, and returns
// m.Content.
func (m *message) startedAt(ms int64) []block {
	for i := range m.Content {
		if b := &m.Content[i]; b.Type == "tool_use" && ms > 0 {
			b.Started = time.UnixMilli(ms).UTC().Format(time.RFC3339Nano)
		}
	}
	return m.Content
}
