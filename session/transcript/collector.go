package transcript

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/session/transcript/forms"
)

// collector builds a Scan line by line.
type collector struct {
	scan Scan
	// uses are the tool uses of this scan by id.
	uses map[string]use
	// failed are the ids of edits whose result is an error.
	failed map[string]bool
	// messages maps ids to indexes in scan.Messages.
	messages map[string]int
	// lastText and lastUUID are the last ones, escaped as in their lines.
	lastText, lastUUID []byte
	// rawDir is the last directory, escaped as in its line, lastDir the same decoded.
	rawDir, lastDir string
	entry           entry
}

// use is a tool use that began in this scan.
type use struct {
	effect effect
	// call is the index in scan.Calls, -1 for other tools.
	call int
	// edit is the index in scan.Edits, -1 for other tools.
	edit       int
	background bool
	// task reports whether the tool starts a subagent.
	task  bool
	input []byte
}

// moment is the number and the time of a line, and the session's directory there.
type moment struct {
	line int
	time time.Time
	dir  string
}

// line processes a non-empty line.
func (c *collector) line(raw []byte, number int) {
	e := &c.entry
	if !e.parse(raw) {
		c.scan.Bad++
		return
	}
	dir := c.dir(e)
	if !isChain(e.kind) {
		return
	}
	at := moment{line: number, time: e.time(), dir: dir}
	if !at.time.IsZero() && (c.scan.FirstTime.IsZero() || at.time.Before(c.scan.FirstTime)) {
		c.scan.FirstTime = at.time
	}
	if at.time.After(c.scan.LastTime) {
		c.scan.LastTime = at.time
	}
	if len(e.uuid) > 0 && !e.sidechain {
		c.lastUUID = append(c.lastUUID[:0], e.uuid...)
	}
	switch string(e.kind) {
	case "assistant":
		m := &e.message
		genuine := string(m.model) != synthetic
		if genuine {
			c.count(m, number)
			if !e.sidechain && len(m.model) > 0 && string(m.model) != c.scan.Model {
				c.scan.Model = Unescaped(m.model)
			}
		}
		for i := range m.blocks {
			b := &m.blocks[i]
			switch {
			case string(b.kind) == "tool_use", string(b.kind) == forms.Begun:
				c.use(b, at)
			case string(b.kind) == "tool_result", string(b.kind) == forms.Ended:
				c.result(b, e, at)
			case string(b.kind) == "text" && len(b.text) > 0 && genuine && !e.sidechain:
				c.lastText = append(c.lastText[:0], b.text...)
			}
		}
	case "user", "human":
		c.user(e, at)
	}
}

// dir returns the directory that a line names, or the last one before it. Lines of most sessions name
// the same one.
func (c *collector) dir(e *entry) string {
	if len(e.cwd) > 0 && string(e.cwd) != c.rawDir {
		c.rawDir, c.lastDir = string(e.cwd), Unescaped(e.cwd)
	}
	return c.lastDir
}

func (c *collector) user(e *entry, at moment) {
	m := &e.message
	results := false
	for i := range m.blocks {
		b := &m.blocks[i]
		if string(b.kind) == "tool_result" {
			results = true
			c.result(b, e, at)
		}
	}
	if results || e.silent || e.sidechain {
		return
	}
	if asked := asked(m, e.source); asked != "" {
		c.scan.Prompts = append(c.scan.Prompts,
			Prompt{Text: asked, Line: at.line, Time: at.time, UUID: Unescaped(e.uuid)})
	}
}

// synthetic is the model name of messages that the agent's client wrote.
const synthetic = "<synthetic>"

// count keeps the usage record of a message with the most output tokens.
func (c *collector) count(m *message, line int) {
	if len(m.id) == 0 {
		return
	}
	i, known := c.messages[string(m.id)]
	switch {
	case !known:
		if c.messages == nil {
			c.messages = map[string]int{}
		}
		id := string(m.id)
		c.messages[id] = len(c.scan.Messages)
		c.scan.Messages = append(c.scan.Messages, Message{ID: id, Line: line, Usage: m.usage})
	case m.usage.Output >= c.scan.Messages[i].Usage.Output:
		c.scan.Messages[i].Usage = m.usage
	}
}

// use processes the beginning of a tool use.
func (c *collector) use(b *block, at moment) {
	id := Unescaped(b.id)
	if _, known := c.uses[id]; known && id != "" {
		return // the same message, written again
	}
	if started := parseTime(b.started); !started.IsZero() {
		at.time = started
	}
	name := Unescaped(b.name)
	u := use{effect: effectOf(name), call: -1, edit: -1}
	switch u.effect {
	case effectNamed:
		if in := parseInput(b.input); in.path != "" {
			u.edit = len(c.scan.Edits)
			c.scan.Edits = append(c.scan.Edits, Edit{Path: in.path, Line: at.line, ToolID: id, Start: at.time, Dir: at.dir})
		}
	case effectAny:
		in := parseInput(b.input)
		u.background, u.task = in.background, IsTask(toolName(name))
		if u.task {
			u.input = bytes.Clone(b.input)
		}
		u.call = len(c.scan.Calls)
		c.scan.Calls = append(c.scan.Calls,
			Call{ID: id, Tool: toolName(name), Start: at.time, Open: true, Line: at.line, Command: in.command, Dir: at.dir})
	case effectNone:
	}
	if id == "" {
		return
	}
	if c.uses == nil {
		c.uses = map[string]use{}
	}
	c.uses[id] = u
}

// asked returns the parts of a message that a person wrote, joined.
func asked(m *message, from source) string {
	return m.joined(func(text string) string { return human(text, from) })
}

// joined returns what part returns for the texts of a message, without empty ones, joined.
func (m *message) joined(part func(text string) string) string {
	var parts []string
	for i := range m.blocks {
		if b := &m.blocks[i]; string(b.kind) == "text" {
			parts = append(parts, part(Unquoted(b.text)))
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n")
}

// result processes the end of a tool use, or its continuation in the background.
func (c *collector) result(b *block, e *entry, at moment) {
	if len(b.of) == 0 {
		return
	}
	id := Unescaped(b.of)
	u, known := c.uses[id]
	if (!known || u.task) && len(e.uuid) > 0 && !e.sidechain {
		if c.scan.Answers == nil {
			c.scan.Answers = map[string]string{}
		}
		c.scan.Answers[id] = Unescaped(e.uuid)
	}
	if u.task && len(e.agent) > 0 {
		var in struct {
			Type        string `json:"subagent_type"`
			Description string `json:"description"`
		}
		_ = json.Unmarshal(u.input, &in) // unreadable fields stay empty
		agent := Unescaped(e.agent)
		if IsToolID(id) && IsToolID(agent) {
			c.scan.Subagents = append(c.scan.Subagents, Subagent{ToolUse: id, ID: agent, Type: in.Type, Description: in.Description})
		}
	}
	goesOn := !b.failed && (e.detached || u.background)
	if known && u.edit >= 0 {
		c.scan.Edits[u.edit].End = at.time
	}
	switch {
	case goesOn:
		if u.call >= 0 && known {
			c.scan.Calls[u.call].Background = true
		}
	case !known:
		if c.scan.Closed == nil {
			c.scan.Closed = map[string]time.Time{}
		}
		c.scan.Closed[id] = at.time
	case u.call >= 0:
		c.scan.Calls[u.call].Open = false
		c.scan.Calls[u.call].End = at.time
	case u.effect == effectNamed && b.failed:
		if c.failed == nil {
			c.failed = map[string]bool{}
		}
		c.failed[id] = true
	}
}
