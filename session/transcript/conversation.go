package transcript

import (
	"strings"
	"time"
)

// Speaker describes whose an [Item] of a conversation is.
type Speaker string

// The speakers.
const (
	User      Speaker = "user"
	Assistant Speaker = "assistant"
	Tool      Speaker = "tool"
)

// Item is one thing that was said or done in a conversation. Its texts are as
// the transcript has them, but valid UTF-8: they may hold anything that a
// terminal takes for a command.
type Item struct {
	By Speaker
	// Text is what was said, never empty for people and agents; of a tool the
	// part of its input that describes its use best, in one line.
	Text string
	// Tool is the tool's name, ID that of its use, Failed that its result is an error.
	Tool, ID string
	Failed   bool
	// Command is the whole command where Text is a part of it and the conversation Full.
	Command string
	// Edits are what an edit tool was to do in the file, if the conversation is Full.
	Edits []TextEdit
	// ExitStatus is a failed command's, nil if the transcript has none. It and Output are
	// only set if the conversation has Outputs.
	ExitStatus *int
	Output     Output
	// Line is the number of its line, or of its message in a document.
	Line int
	Time time.Time
}

// Conversation is what a person reads in a transcript: what people asked, as
// [Prompt] has it and also by accepted plans, commands and answers to the agent's
// questions, what the agent answered, and a line for each use of a tool.
// What subagents said, results, images and the agent's book-keeping are left
// out. Any line is taken, whatever it holds.
type Conversation struct {
	// Root is the project's directory, empty if it isn't known. Paths below it,
	// or below the directory where the session was, are shown relative to it.
	Root string
	// Subagent reports whether the transcript is a subagent's: what it said is in.
	Subagent bool
	Items    []Item
	// Outputs requests the results of tool uses, Full more lines of them, whole commands and
	// edits.
	Outputs, Full bool

	cwd     string
	uses    map[string]int // tool uses by id, as places in Items
	kept    int            // bytes of outputs and edits in Items
	message message
}

// Line takes in the line n of a transcript.
func (c *Conversation) Line(raw []byte, n int) {
	e, ok := parseEntry(raw)
	if !ok || !isChain(e.kind) || e.sidechain && !c.Subagent {
		return
	}
	if c.cwd == "" {
		c.cwd = Unescaped(e.cwd)
	}
	switch string(e.kind) {
	case "assistant":
		m := &c.message
		m.parse(e.message)
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
		m := &c.message
		m.parse(e.message)
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

// ended takes in the result of a use that is in the conversation.
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

// use takes in a tool use, once if it is written more than once.
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
	if c.Full && c.kept < manyOutputs {
		used := ToolUse{Tool: item.Tool, Input: b.input}
		_, item.Edits = used.Edits()
		for _, e := range item.Edits {
			c.kept += len(e.Old) + len(e.New)
		}
	}
	c.Items = append(c.Items, item)
}
