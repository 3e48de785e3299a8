package testkit

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const clientVersion = "2.1.328"

// Transcript writes an agent's transcript file, line by line, in the format of Claude Code 2.1.328;
// the texts are this project's own.
type Transcript struct {
	tb      TB
	Path    string
	session string
	cwd     string
	count   int    // lines with an identifier
	parent  string // identifier of the last one
	prompt  string // prompt_id of the turn
	prompts int
	started bool
	pending string // the beginning of a cut line
	agent   string // the subagent that it belongs to

	// Now is the clock of the lines; nil: that of the system.
	Now func() time.Time

	Usage map[string]Usage // the largest record per message id
	Order []string         // message ids in order of appearance
}

// Usage has the token counts of a message.
type Usage struct{ Input, CacheCreation, CacheRead, Output int }

// Add returns the sum.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, CacheCreation: u.CacheCreation + v.CacheCreation,
		CacheRead: u.CacheRead + v.CacheRead, Output: u.Output + v.Output,
	}
}

// Total returns the sum with each message counted once.
func (t *Transcript) Total() Usage {
	var total Usage
	for _, id := range t.Order {
		total = total.Add(t.Usage[id])
	}
	return total
}

// Raw appends bytes unchanged; the last line may be incomplete.
func (t *Transcript) Raw(text string) {
	t.tb.Helper()
	if err := os.MkdirAll(filepath.Dir(t.Path), 0o700); err != nil {
		t.tb.Fatalf("make transcript folder: %v", err)
	}
	file, err := os.OpenFile(t.Path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.tb.Fatalf("open transcript: %v", err)
	}
	_, err = file.WriteString(text)
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		t.tb.Fatalf("write transcript: %v", err)
	}
}

// Line appends one object.
func (t *Transcript) Line(o Object) {
	t.tb.Helper()
	line := o.JSON()
	if t.agent != "" {
		line = asAgent(line, t.agent)
	}
	t.Raw(t.pending + line + "\n")
	t.pending = ""
}

// CutLine writes only the first half of the assistant's text line; Mend
// writes the rest.
func (t *Transcript) CutLine(text string) {
	t.tb.Helper()
	line := t.assistant("", []any{Object{"type", "text", "text", text}}, Usage{10, 200, 1500, 40}).JSON() + "\n"
	half := len(line) / 2
	t.Raw(line[:half])
	t.pending = line[half:]
}

// Mend writes the rest of a cut line.
func (t *Transcript) Mend() {
	t.tb.Helper()
	t.Raw(t.pending)
	t.pending = ""
}

// Stamp returns the present time in the agent's format.
func Stamp() string { return stampOf(time.Now()) }

func stampOf(at time.Time) string { return at.UTC().Format("2006-01-02T15:04:05.000Z") }

// stamp returns the time of the next line.
func (t *Transcript) stamp() string {
	if t.Now == nil {
		return Stamp()
	}
	return stampOf(t.Now())
}

// envelope returns the members at the end of every line of the conversation chain.
func (t *Transcript) envelope() Object {
	return Object{
		"userType", "external", "entrypoint", "cli", "cwd", t.cwd,
		"sessionId", t.session, "version", clientVersion, "gitBranch", "main",
	}
}

// chain returns a new identifier and the previous one (nil for the first).
func (t *Transcript) chain() (id string, parent any) {
	if t.parent != "" {
		parent = t.parent
	}
	t.count++
	id = UUID(t.session, "line", t.count)
	t.parent = id
	return id, parent
}

// begin writes the lines that a new session begins with.
func (t *Transcript) begin() {
	if t.started {
		return
	}
	t.started = true
	bulk := strings.Repeat("A long passage of the vendor's own text. ", 60)
	t.Line(Object{"type", "mode", "mode", "normal", "sessionId", t.session})
	t.Line(Object{"type", "permission-mode", "permissionMode", "acceptEdits", "sessionId", t.session})
	t.attachment(Object{"type", "environment", "snapshot", Object{"workingDirectory", t.cwd, "isGitRepo", true, "platform", "linux"}})
	t.attachment(Object{"type", "skill_listing", "content", bulk, "skillCount", 3, "isInitial", true, "names", []string{"review", "simplify"}})
	t.attachment(Object{"type", "prompt_snapshot", "systemPrompt", []string{bulk, bulk}, "systemTurns", true})
	t.Line(Object{
		"type", "api-request-shape", "sessionId", t.session, "shapeHash", UUID(t.session, "shape"), "timestamp", t.stamp(),
		"version", clientVersion, "shape",
		Object{"system", []any{Object{"type", "text", "text", bulk}}, "tools", []any{}},
	})
}

func (t *Transcript) attachment(content Object) {
	id, parent := t.chain()
	t.Line(append(Object{
		"parentUuid", parent, "isSidechain", false, "attachment", content,
		"type", "attachment", "uuid", id, "timestamp", t.stamp(),
	}, t.envelope()...))
}

// user writes a prompt of the user, or a generated one that resembles it.
func (t *Transcript) user(text, origin string) {
	t.begin()
	id, parent := t.chain()
	t.prompts++
	t.Line(Object{
		"type", "file-history-snapshot", "messageId", id, "isSnapshotUpdate", false,
		"snapshot",
		Object{"messageId", id, "trackedFileBackups", Object{}, "timestamp", t.stamp()},
	})
	source, turn := "typed", "human"
	if origin != "human" {
		source, turn = "system", strings.ReplaceAll(origin, "-", "_")
	}
	t.fromUser(id, parent, text, Object{
		"permissionMode", "acceptEdits", "origin",
		Object{"kind", origin},
		"promptSource", source, "turnOrigin", turn,
		"turnPosition",
		Object{"promptIndex", t.prompts, "turnIndex", t.prompts},
	})
}

// fromUser writes a line with a message of the user, or of the client in the user's name.
func (t *Transcript) fromUser(id string, parent, content any, more Object) {
	line := append(Object{
		"parentUuid", parent, "isSidechain", false, "promptId", t.prompt, "type", "user",
		"message",
		Object{"role", "user", "content", content},
		"uuid", id, "timestamp", t.stamp(),
	}, more...)
	t.Line(append(line, t.envelope()...))
}

// assistant returns one line of an answer. An empty message id makes a new one; several lines with
// the same id are one message, with different usage records.
func (t *Transcript) assistant(message string, content []any, usage Usage) Object {
	id, parent := t.chain()
	if message == "" {
		message = "msg_" + strings.ReplaceAll(UUID(t.session, "message", t.count), "-", "")[:24]
	}
	if old, seen := t.Usage[message]; !seen {
		t.Order = append(t.Order, message)
		t.Usage[message] = usage
	} else if usage.Output > old.Output {
		t.Usage[message] = usage
	}
	return append(Object{
		"parentUuid", parent, "isSidechain", false,
		"message",
		Object{
			"id", message, "type", "message", "role", "assistant", "model", "claude-opus-5-5", "content", content,
			"stop_reason", "end_turn", "stop_sequence", nil,
			"usage",
			Object{
				"input_tokens", usage.Input, "cache_creation_input_tokens", usage.CacheCreation,
				"cache_read_input_tokens", usage.CacheRead, "output_tokens", usage.Output, "service_tier", "standard",
			},
		},
		"requestId", "req_" + UUID(message)[:8], "type", "assistant", "uuid", id, "timestamp", t.stamp(),
		"effort", "medium", "madeBy", "model",
	}, t.envelope()...)
}

// toolUse writes a tool call and returns its id. The message has two lines: a text with a
// placeholder count, then the call with the real one.
func (t *Transcript) toolUse(name string, input Object) string {
	t.begin()
	tool := "toolu_" + strings.ReplaceAll(UUID(t.session, "tool", t.count), "-", "")[:24]
	t.Line(t.assistant("", []any{Object{"type", "text", "text", "I'll use " + name + "."}}, Usage{10, 2000, 15000, 2}))
	message := t.Order[len(t.Order)-1]
	t.Line(t.assistant(message, []any{Object{"type", "tool_use", "id", tool, "name", name, "input", input}}, Usage{10, 2000, 15000, 42}))
	return tool
}

// toolResult writes the result of a call.
func (t *Transcript) toolResult(tool, text string, result any) { t.toolEnd(tool, text, false, result) }

// toolError writes the result of a failed call.
func (t *Transcript) toolError(tool, text string) { t.toolEnd(tool, text, true, "Error: "+text) }

func (t *Transcript) toolEnd(tool, text string, failed bool, result any) {
	id, parent := t.chain()
	content := []any{Object{"tool_use_id", tool, "type", "tool_result", "content", text, "is_error", failed}}
	t.fromUser(id, parent, content, Object{"toolUseResult", result, "sourceToolAssistantUUID", parent})
}

// patch returns the structuredPatch of a change: one hunk with three lines of context; none for a
// new file, and none without a change.
func patch(old, text string) []any {
	before, after := splitLines(old), splitLines(text)
	if len(before) == 0 || old == text {
		return []any{}
	}
	const context = 3
	first, last := 0, 0 // numbers of equal lines at both ends
	for first < min(len(before), len(after)) && before[first] == after[first] {
		first++
	}
	for last < min(len(before), len(after))-first && before[len(before)-1-last] == after[len(after)-1-last] {
		last++
	}
	start, tail := max(0, first-context), min(last, context)
	var lines []string
	add := func(mark string, some []string) {
		for _, line := range some {
			lines = append(lines, mark+line)
		}
	}
	add(" ", before[start:first])
	add("-", before[first:len(before)-last])
	add("+", after[first:len(after)-last])
	add(" ", before[len(before)-last:len(before)-last+tail])
	return []any{Object{
		"oldStart", start + 1, "oldLines", len(before) - last + tail - start,
		"newStart", start + 1, "newLines", len(after) - last + tail - start, "lines", lines,
	}}
}

// splitLines returns the lines of a text without their ends.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// text writes an answer without a tool.
func (t *Transcript) text(text string) {
	t.begin()
	t.Line(t.assistant("", []any{Object{"type", "text", "text", text}}, Usage{10, 300, 16000, 20 + len(text)%7}))
}

// interrupted writes the line with which the client records that a person stopped the agent.
func (t *Transcript) interrupted() {
	id, parent := t.chain()
	t.fromUser(id, parent, []any{Object{"type", "text", "text", "[Request interrupted by user]"}}, nil)
}

// system writes a line that the client adds after a turn.
func (t *Transcript) system(subtype string, extra Object) {
	id, parent := t.chain()
	line := append(Object{"parentUuid", parent, "isSidechain", false, "type", "system", "subtype", subtype}, extra...)
	line = append(line, "timestamp", t.stamp(), "uuid", id, "isMeta", false)
	t.Line(append(line, t.envelope()...))
}

// Slug returns the name of a project's folder in the agent's folder of sessions.
func Slug(path string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '-'
	}, path)
}

// Lines returns the complete lines of the live transcript.
func (t *Transcript) Lines() []string {
	t.tb.Helper()
	data, err := os.ReadFile(t.Path)
	if err != nil {
		t.tb.Fatalf("read transcript: %v", err)
	}
	text := strings.TrimSuffix(string(data), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

func (u Usage) String() string {
	return fmt.Sprintf("input %d, cache creation %d, cache read %d, output %d", u.Input, u.CacheCreation, u.CacheRead, u.Output)
}
