package transcript

import (
	"bytes"
	"cmp"
	"strings"
)

// Event is the part of a session's work that one line records. Its Values point into the line and
// are valid as long as the line is.
type Event struct {
	Kind EventKind
	// PromptID is the id of the prompt to which the line belongs, Cwd the session's directory; both
	// may be empty.
	PromptID, Cwd string
	// Branch is the checked out branch, escaped as in the line; [Unquoted] returns its name.
	Branch []byte

	// In a [UserEvent], Prompt is a person's request, Command the command that they gave with it,
	// and Plan the accepted plan that the line begins with. In a [QueueEvent], Prompt is a prompt
	// added to the client's queue.
	Prompt, Command, Plan string
	// Queue is the operation of a [QueueEvent]: "enqueue" with Prompt, "dequeue" if a line with the
	// prompt follows, "remove" if the agent got it within its turn, or "popAll" if the person
	// withdrew all prompts.
	Queue string
	// Interrupted reports whether a person stopped the agent, Compaction whether Said is the
	// agent's summary of a compacted context.
	Interrupted, Compaction bool
	// Results are the results of tools. An answer has results if the agent writes a tool's call and
	// its result in one line.
	Results []ToolResult

	// Model, MessageID, Usage and Context belong to an answer; Context is the number of tokens that the
	// model read for it. Failed reports that the request failed; Said returns the error.
	Model, MessageID string
	Usage            Usage
	Context          int64
	Failed           bool
	// Uses are the tool calls of the answer.
	Uses []ToolUse

	// Titled is the kind of the title of a [TitleEvent], Leaf the uuid in a [SummaryTitle].
	Titled TitleKind
	Leaf   string

	// Sidechain reports whether the line is a subagent's. Subagent is the subagent's id, if the
	// line has it.
	Sidechain bool
	Subagent  string

	text []byte  // raw, as written between its quotes
	tail scanner // at the value of toolUseResult, if there is one
}

// EventKind is the kind of an [Event].
type EventKind int

// The kinds.
const (
	UserEvent EventKind = iota + 1
	AgentEvent
	// CompactEvent marks a compaction of the context.
	CompactEvent
	// TitleEvent is a session's title; it has a text, and Titled and Leaf.
	TitleEvent
	// QueueEvent is a change of the queue of prompts typed while the agent worked.
	QueueEvent
	// LinkEvent is a pull request detected by the client; Said returns its URL.
	LinkEvent
)

// TitleKind is the kind of a session's title.
type TitleKind int

// The kinds, the one that describes a session best last.
const (
	// SummaryTitle is a summary of the session with the line Leaf: early versions of Claude Code wrote
	// the summaries of earlier sessions to the transcript of a later one.
	SummaryTitle TitleKind = iota + 1
	// ModelTitle is written by a model.
	ModelTitle
	// AgentName is the name under which the agent is listed.
	AgentName
	// PersonTitle is given by a person.
	PersonTitle
)

// ToolUse is a call of a tool.
type ToolUse struct {
	ID, Tool string
	Input    Value
}

// TextEdit is a replacement requested of an edit tool: New for Old. Old is empty if the tool was to
// write the whole file.
type TextEdit struct{ Old, New string }

// Edits returns the file passed to an edit tool and the requested replacements; nothing for other
// tools.
func (u *ToolUse) Edits() (path string, edits []TextEdit) {
	if effectOf(u.Tool) != effectNamed {
		return "", nil
	}
	old, single := "", -1
	for key, value := range u.Input.Members() {
		switch key {
		case "file_path", "notebook_path":
			path = value.Text()
		case "old_string":
			old = value.Text()
		case "content", "new_string", "new_source":
			single = len(edits)
			edits = append(edits, TextEdit{New: value.Text()})
		case "edits":
			for edit := range value.Items() {
				edits = append(edits, TextEdit{Old: edit.Member("old_string").Text(), New: edit.Member("new_string").Text()})
			}
		}
	}
	if single >= 0 {
		edits[single].Old = old
	}
	return path, edits
}

// Written returns the file passed to an edit tool and the texts to be written there; nothing for
// other tools.
func (u *ToolUse) Written() (path string, texts []string) {
	path, edits := u.Edits()
	for _, e := range edits {
		texts = append(texts, e.New)
	}
	return path, texts
}

// ToolResult is the result of a tool use.
type ToolResult struct {
	Of      string
	Failed  bool
	Content Value
}

// Reply returns a person's answer in the result, to the agent's questions or with a refusal, "" if
// there is none.
func (r ToolResult) Reply() string { return reply(&block{result: r.Content, failed: r.Failed}) }

// Events parses lines one after another; it keeps only its buffers between them.
type Events struct {
	// Subagents requests events for lines of subagents, too.
	Subagents bool

	entry entry
	event Event
}

// Line returns the event of a line, false if it has none: a subagent's line, the agent's
// book-keeping, or not a JSON object. The event is valid until the next call.
func (r *Events) Line(line []byte) (*Event, bool) {
	e := &r.event
	*e = Event{Uses: e.Uses[:0], Results: e.Results[:0]}
	h := &r.entry
	var attached bool
	tail, ok := h.parseUntil(line, func(key []byte) bool {
		switch string(key) {
		case "attachment", "data":
			attached = true
		case "toolUseResult": // long and rarely needed
			first := h.message.blocks
			return len(first) > 0 && string(first[0].kind) == "tool_result"
		}
		return attached || h.sidechain && !r.Subagents
	})
	if !ok || attached || h.sidechain && !r.Subagents {
		return e, false
	}
	e.PromptID, e.Cwd, e.Branch, e.tail = Unquoted(h.promptID), Unquoted(h.cwd), h.branch, tail
	e.Sidechain, e.Subagent = h.sidechain, Unquoted(h.subagent)
	switch string(h.kind) {
	case "user", "human":
		return e, e.user(h)
	case "assistant":
		return e, e.agent(h)
	case "system":
		e.Kind = CompactEvent
		return e, string(h.subtype) == "compact_boundary"
	}
	return e, e.aside(h)
}

// IsPrompt reports whether the line is a prompt: a text, a command or an accepted plan.
func (e *Event) IsPrompt() bool { return e.Kind == UserEvent && e.Prompt+e.Plan+e.Command != "" }

// Title returns the title of a prompt: the heading of a plan, the request, or the command.
func (e *Event) Title() string {
	switch {
	case e.Plan != "":
		return PlanTitle(e.Plan)
	case e.Prompt != "":
		return cmp.Or(PromptTitle(e.Prompt), e.Prompt)
	case e.Command != "":
		return "/" + e.Command
	}
	return ""
}

// Said returns the text of the agent, of a title, or of a compaction's summary.
func (e *Event) Said() string { return Unquoted(e.text) }

// Raw returns the text of Said as written in the line, for searching, or for keeping it until it is
// needed.
func (e *Event) Raw() []byte { return e.text }

// Unquoted decodes the bytes between the quotes of a JSON string to valid UTF-8.
func Unquoted(raw []byte) string { return strings.ToValidUTF8(Unescaped(raw), "\uFFFD") }

// Detail returns the agent's own record of a tool's result, nil if there is none.
func (e *Event) Detail() Value {
	if e.tail.i == 0 {
		return nil
	}
	s := e.tail
	return s.raw()
}

// aside parses a line outside the conversation: a title of the session, a pull request, or an
// operation on the client's queue of prompts.
func (e *Event) aside(h *entry) bool {
	switch string(h.kind) {
	case "queue-operation":
		for key, value := range Value(h.line).Members() {
			switch key {
			case "operation":
				e.Queue = value.Text()
			case "content":
				e.Prompt = human(value.Text(), sourceUnknown)
			}
		}
		if strings.HasPrefix(e.Prompt, "{") { // a task of the client
			e.Prompt = ""
		}
		e.Kind = QueueEvent
		return e.Queue != ""
	case "summary":
		e.Kind, e.Titled = TitleEvent, SummaryTitle
	case "ai-title":
		e.Kind, e.Titled = TitleEvent, ModelTitle
	case "agent-name":
		e.Kind, e.Titled = TitleEvent, AgentName
	case "custom-title":
		e.Kind, e.Titled = TitleEvent, PersonTitle
	case "pr-link":
		e.Kind = LinkEvent
	default:
		return false
	}
	for key, value := range Value(h.line).Members() {
		switch key {
		case "aiTitle", "customTitle", "agentName", "summary", "title", "prUrl":
			s := scanner{b: value}
			e.text = s.str()
		case "leafUuid":
			e.Leaf = value.Text()
		}
	}
	return len(e.text) > 0
}

// user parses a line by a person, or one that the client wrote in their name.
func (e *Event) user(h *entry) bool {
	e.Kind = UserEvent
	for i := range h.message.blocks {
		b := &h.message.blocks[i]
		if string(b.kind) == "tool_result" {
			e.Results = append(e.Results, ToolResult{Of: Unquoted(b.of), Failed: b.failed, Content: b.result})
		}
	}
	first := h.message.said()
	switch {
	case len(e.Results) > 0:
	case h.compaction:
		e.Compaction, e.text = true, first
	case h.silent:
		return false
	case bytes.HasPrefix(first, []byte("[Request interrupted")):
		e.Interrupted = true
	default:
		// The line may be a request.
		plain := strings.TrimSpace(Unquoted(first))
		switch {
		case len(h.plan) > 0:
			e.Plan = Unquoted(h.plan)
		case strings.HasPrefix(plain, PlanPrefix):
			e.Plan = strings.TrimSpace(plain[len(PlanPrefix):])
		case strings.HasPrefix(plain, "<command-"), strings.HasPrefix(plain, "<local-command-"):
			name, args, _ := strings.Cut(commandRequest(plain), " ")
			e.Command, e.Prompt = strings.TrimPrefix(name, "/"), args
			if e.Command == "" {
				e.PromptID = "" // the command only concerns the client
			}
		default:
			e.Prompt = asked(&h.message, h.source)
		}
	}
	return true
}

// said returns the first text of the message, raw.
func (m *message) said() []byte {
	for i := range m.blocks {
		if string(m.blocks[i].kind) == "text" {
			return m.blocks[i].text
		}
	}
	return nil
}

// agent parses a line of the agent.
func (e *Event) agent(h *entry) bool {
	e.Kind = AgentEvent
	m := &h.message
	if e.Failed = h.failed; e.Failed {
		e.text = m.said()
		return true
	}
	if string(m.model) == synthetic {
		return false
	}
	e.Model, e.MessageID, e.Usage = Unquoted(m.model), Unquoted(m.id), m.usage
	e.Context = m.usage.Input + m.usage.CacheRead + m.usage.CacheCreation
	for i := range m.blocks {
		b := &m.blocks[i]
		switch {
		case string(b.kind) == "text" && !blank(b.text):
			e.text = b.text
		case string(b.kind) == "tool_use":
			e.Uses = append(e.Uses, ToolUse{ID: Unquoted(b.id), Tool: toolName(Unquoted(b.name)), Input: b.input})
		case string(b.kind) == "tool_result":
			e.Results = append(e.Results, ToolResult{Of: Unquoted(b.of), Failed: b.failed, Content: b.result})
		}
	}
	return true
}
