package forms

import (
	"encoding/json"
	"slices"
	"strings"
)

// openCodeMessage is a message of OpenCode: a prompt, or a response of the model with its tool
// calls and their results.
type openCodeMessage struct {
	Info struct {
		ID      string `json:"id"`
		Parent  string `json:"parentID"` // the prompt of an answer
		Role    string `json:"role"`
		Model   string `json:"modelID"`
		Summary any    `json:"summary"` // true for a compaction's summary; an object in a prompt
		Tokens  *struct {
			Input     int64 `json:"input"` // without the tokens of the cache
			Output    int64 `json:"output"`
			Reasoning int64 `json:"reasoning"`
			Cache     struct {
				Read  int64 `json:"read"`
				Write int64 `json:"write"`
			} `json:"cache"`
		} `json:"tokens"`
		Error struct {
			Name string `json:"name"`
		} `json:"error"`
	} `json:"info"`
	Parts []openCodePart `json:"parts"`
}

// openCodePart is a part of a message.
type openCodePart struct {
	Type      string `json:"type"`
	Text      string `json:"text"`
	Synthetic bool   `json:"synthetic"` // written by the client
	Ignored   bool   `json:"ignored"`   // not passed to the model
	Tool      string `json:"tool"`
	Call      string `json:"callID"`
	State     struct {
		Status   string          `json:"status"`
		Input    json.RawMessage `json:"input"`
		Output   string          `json:"output"`
		Error    string          `json:"error"`
		Metadata struct {
			Exit *int `json:"exit"`
		} `json:"metadata"`
		Time struct {
			Start int64 `json:"start"` // in milliseconds of Unix time
		} `json:"time"`
	} `json:"state"`
}

// openCodeLine converts a line of OpenCode. A damaged line is returned unchanged.
func openCodeLine(line []byte) []byte {
	var l struct {
		Time     string          `json:"timestamp"`
		Session  string          `json:"sessionId"`
		Subagent string          `json:"agentId"`
		Dir      string          `json:"cwd"`
		Aborted  string          `json:"aborted"`
		Message  openCodeMessage `json:"message"`
	}
	if json.Unmarshal(line, &l) != nil {
		return line
	}
	e := l.Message.entry()
	if l.Aborted != "" {
		e = person("[Request interrupted by user]")
	}
	if e == nil {
		return nil
	}
	e.UUID, e.SessionID, e.Time, e.Dir, e.Sidechain = l.Message.Info.ID, l.Session, l.Time, l.Dir, l.Subagent != ""
	return encode(e)
}

// entry returns the message's entry, nil if it is not part of the conversation.
func (m *openCodeMessage) entry() *entry {
	switch m.Info.Role {
	case "user":
		isCompaction := func(p openCodePart) bool { return p.Type == "compaction" }
		if slices.ContainsFunc(m.Parts, isCompaction) { // it has no text
			return &entry{Type: "system", Subtype: "compact_boundary"}
		}
		if text := m.text(); text != "" {
			e := person(OpenCodePrompt(text))
			e.PromptID = m.Info.ID
			return e
		}
	case "assistant":
		return m.answer()
	}
	return nil
}

// OpenCodePrompt returns a prompt without the quotation marks that `opencode run` adds.
func OpenCodePrompt(text string) string {
	inner, begun := strings.CutPrefix(text, `"`)
	inner, ended := strings.CutSuffix(inner, `"`)
	if !begun || !ended || strings.Contains(strings.ReplaceAll(inner, `\"`, ""), `"`) {
		return text
	}
	return strings.ReplaceAll(inner, `\"`, `"`)
}

func (m *openCodeMessage) text() string {
	var texts []string
	for _, p := range m.Parts {
		if p.Type == "text" && p.Text != "" && !p.Synthetic && !p.Ignored {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// answer converts a response of the model.
func (m *openCodeMessage) answer() *entry {
	if m.Info.Summary == true {
		e := person(m.text())
		e.Compact = true
		return e
	}
	e := done()
	e.PromptID, e.Message.Model, e.Message.Content = m.Info.Parent, m.Info.Model, []block{}
	if t := m.Info.Tokens; t != nil && t.Input+t.Output+t.Reasoning+t.Cache.Read+t.Cache.Write > 0 {
		e.Message.ID = m.Info.ID
		e.Message.Usage = &usage{Input: t.Input, CacheRead: t.Cache.Read, CacheWrite: t.Cache.Write, Output: t.Output + t.Reasoning}
	}
	for _, p := range m.Parts {
		switch {
		case p.Type == "text" && p.Text != "" && !p.Synthetic:
			e.Message.Content = append(e.Message.Content, textBlock(p.Text))
		case p.Type == "tool":
			e.Message.Content = append(e.Message.Content, p.call()...)
		}
	}
	return e
}

// call returns a tool call and its result.
func (p *openCodePart) call() []block {
	s := &p.State
	output, failed := s.Output, s.Status == "error"
	if failed {
		output = s.Error
	}
	// Pairs of a tool's name and its name in Claude Code.
	names := []string{
		"write", "Write", "edit", "MultiEdit", "multiedit", "MultiEdit", "read", "Read", "grep", "Grep", "glob", "Glob", "list", "LS",
		"task", "Task", "todowrite", "TodoWrite", "webfetch", "WebFetch", "websearch", "WebSearch", "question", "AskUserQuestion", "skill", "Skill",
	}
	name := p.Tool
	if i := slices.Index(names, name); i >= 0 && i%2 == 0 {
		name = names[i+1]
	}
	use := useBlock(p.Call, name, p.input())
	switch p.Tool {
	case "bash":
		status := 0
		if s.Metadata.Exit != nil {
			status = *s.Metadata.Exit
		}
		if output == "(no output)" {
			output = ""
		}
		output, failed = withStatus(status, output), failed || status != 0
		var in struct {
			Command string `json:"command"`
		}
		_ = json.Unmarshal(s.Input, &in) // unreadable fields stay empty
		use = useBlock(p.Call, "Bash", command{Command: in.Command})
	case "apply_patch", "patch":
		var in struct {
			Text string `json:"patchText"`
		}
		_ = json.Unmarshal(s.Input, &in) // unreadable fields stay empty
		if e := patch(p.Call, patchChanges(in.Text), failed, output); e != nil {
			return e.Message.startedAt(s.Time.Start)
		}
	}
	m := &message{Content: []block{use, resultBlock(p.Call, output, failed)}}
	return m.startedAt(s.Time.Start)
}

// input returns the input of a tool, in Claude Code's form if it names a file.
func (p *openCodePart) input() any {
	type replaced struct {
		Old string `json:"oldString"`
		New string `json:"newString"`
	}
	var in struct {
		replaced

		Path    string     `json:"filePath"`
		Content string     `json:"content"`
		Edits   []replaced `json:"edits"`
	}
	_ = json.Unmarshal(p.State.Input, &in) // unreadable fields stay empty
	switch p.Tool {
	case "write":
		return written{Path: in.Path, Content: in.Content}
	case "edit", "multiedit":
		if in.replaced != (replaced{}) {
			in.Edits = append(in.Edits, in.replaced)
		}
		edits := make([]edit, len(in.Edits))
		for i, e := range in.Edits {
			edits[i] = edit(e)
		}
		return patched{Path: in.Path, Edits: edits}
	case "read":
		return patched{Path: in.Path}
	}
	return object(p.State.Input)
}
