package transcript

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/session/transcript/forms"
)

// Speaker is the author of an [Item] of a conversation.
type Speaker string

// The speakers.
const (
	User      Speaker = "user"
	Assistant Speaker = "assistant"
	Tool      Speaker = "tool"
)

// Item is a message or a tool use in a conversation. Its texts are those of the transcript as valid
// UTF-8; they may contain terminal escape sequences.
type Item struct {
	By Speaker
	// Text is the message of a person or agent, never empty. For a tool it is the most descriptive
	// part of its input, in one line.
	Text string
	// Tool is the tool's name, ID the id of its use; Failed reports that its result is an error.
	Tool, ID string
	Failed   bool
	// Command is the whole command if Text is a part of it and the conversation is Full.
	Command string
	// Edits are the replacements requested of an edit tool if the conversation is Full.
	Edits []TextEdit
	// ExitStatus is the status of a failed command, nil if the transcript has none. ExitStatus and
	// Output are set only if the conversation has Outputs.
	ExitStatus *int
	Output     Output
	// Line is the number of its line, or of its message in a document.
	Line int
	Time time.Time
}

// Unreadable is shown in place of the name of a tool call that the model wrote without a valid one.
const Unreadable = "(unreadable call)"

// Conversation is the readable content of a transcript: the requests of people, as in [Prompt] and
// also as accepted plans, commands and answers to the agent's questions; the agent's answers; and
// one line for each tool use. Messages of subagents, results, images and the agent's book-keeping
// are left out. Lines with any content are accepted.
type Conversation struct {
	// Root is the project's directory, empty if unknown. Paths below it or below the session's
	// directory are shown relative to it.
	Root string
	// Subagent reports that the transcript is a subagent's, whose messages are included.
	Subagent bool
	Items    []Item
	// Outputs requests the results of tool uses, Full more of their lines, whole commands and
	// edits.
	Outputs, Full bool
	// Lines is the number of non-empty lines, Unknown the number of those that can't be the agent's
	// book-keeping either. Reason describes the first line outside the conversation.
	Lines, Unknown int
	Reason         string

	cwd   string
	uses  map[string]int // tool uses by id, as indexes in Items
	kept  int            // bytes of outputs and edits in Items
	entry entry
}

// AddLine adds line n of a transcript.
func (c *Conversation) AddLine(raw []byte, n int) {
	if blank(raw) {
		return
	}
	c.Lines++
	e := &c.entry
	if ok := e.parse(raw); !ok || e.kind == nil && forms.Agent(raw) == "" {
		c.Unknown++
		c.outside(raw)
		return
	}
	if !isChain(e.kind) {
		c.outside(raw)
		return
	}
	if e.sidechain && !c.Subagent {
		return
	}
	if c.cwd == "" {
		c.cwd = Unescaped(e.cwd)
	}
	switch string(e.kind) {
	case "assistant":
		m := &e.message
		if string(m.model) == synthetic {
			return
		}
		for i := range m.blocks {
			b := &m.blocks[i]
			switch string(b.kind) {
			case "text":
				c.say(Item{By: Assistant, Text: Unescaped(b.text), Line: n, Time: e.time()})
			case "tool_use":
				c.use(b, Item{By: Tool, Line: n, Time: e.time()})
			case "tool_result":
				c.ended(b)
			}
		}
	case "user", "human":
		m := &e.message
		results := false
		for i := range m.blocks {
			b := &m.blocks[i]
			if string(b.kind) != "tool_result" {
				continue
			}
			results = true
			c.ended(b)
			c.say(Item{By: User, Text: reply(b), Line: n, Time: e.time()})
		}
		if !results && !e.silent {
			c.say(Item{By: User, Text: request(m, e.source), Line: n, Time: e.time()})
		}
	}
}

// outside sets Reason for a line outside the conversation.
func (c *Conversation) outside(raw []byte) {
	if c.Reason != "" {
		return
	}
	if c.Reason = "a line that is not a JSON object"; !json.Valid(raw) {
		return
	}
	var keys []string
	for key := range Value(raw).Members() {
		keys = append(keys, key)
	}
	const most = 5
	if c.Reason = "an object without members"; len(keys) > 0 {
		c.Reason = "objects with the members " + strings.Join(keys[:min(len(keys), most)], ", ")
	}
}

// ended processes the result of a use that is in the conversation.
func (c *Conversation) ended(b *block) {
	if at, known := c.uses[string(b.of)]; known {
		c.result(at, b, Value(b.result).Said)
	}
}

func (c *Conversation) say(item Item) {
	if item.Text = strings.TrimSpace(strings.ToValidUTF8(item.Text, "\uFFFD")); item.Text != "" {
		c.Items = append(c.Items, item)
	}
}

// use adds a tool use, unless it was added before.
func (c *Conversation) use(b *block, item Item) {
	if _, known := c.uses[string(b.id)]; known {
		return
	}
	if c.uses == nil {
		c.uses = map[string]int{}
	}
	if len(b.id) > 0 {
		c.uses[string(b.id)] = len(c.Items)
	}
	item.Tool, item.ID = toolName(Unescaped(b.name)), Unescaped(b.id)
	item.Text, item.Command = c.detail(b.input)
	if item.Tool == "" { // a malformed call of the model
		item.Tool = Unreadable
		item.Text = cmp.Or(item.Text, firstLine(Unquoted(b.name)))
	}
	if c.Full && c.kept < manyOutputs {
		used := ToolUse{Tool: item.Tool, Input: b.input}
		_, item.Edits = used.Edits()
		for _, e := range item.Edits {
			c.kept += len(e.Old) + len(e.New)
		}
	}
	c.Items = append(c.Items, item)
}
