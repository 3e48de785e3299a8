package forms

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// isPiKind reports whether a type is one of Pi's lines after the first.
func isPiKind(kind string) bool {
	switch kind {
	case "message", "compaction", "branch_summary", "custom", "custom_message", "label", "model_change", "session_info", "thinking_level_change":
		return true
	}
	return false
}

// piLine converts a line of Pi. A damaged line is returned unchanged.
func piLine(line []byte) []byte {
	var p struct {
		Type    string          `json:"type"`
		ID      string          `json:"id"`
		Time    string          `json:"timestamp"`
		Dir     string          `json:"cwd"`
		Summary string          `json:"summary"`
		Name    string          `json:"name"`
		Message json.RawMessage `json:"message"`
	}
	if json.Unmarshal(line, &p) != nil {
		return line
	}
	var e *entry
	switch p.Type {
	case "session":
		e = &entry{Type: "system", Subtype: "session_start", SessionID: p.ID, Dir: p.Dir}
	case "compaction":
		e = &entry{Type: "system", Subtype: "compact_boundary"}
		if p.Summary != "" {
			e = person(p.Summary)
			e.Compact = true
		}
	case "session_info": // a name that the person gave
		e = &entry{Type: "custom-title", Title: p.Name}
	case "message":
		e = piMessage(cmp.Or(p.ID, p.Time), p.Message)
	}
	if e == nil {
		return nil
	}
	e.UUID, e.Time = p.ID, p.Time
	return encode(e)
}

// piPart is a part of a message's content.
type piPart struct {
	Type string          `json:"type"`
	Text string          `json:"text"`
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"arguments"`
}

// piMessage converts the message of the line with the given id, or time if it has no id.
func piMessage(id string, raw json.RawMessage) *entry {
	var m struct {
		Role     string          `json:"role"`
		Content  json.RawMessage `json:"content"`
		Model    string          `json:"model"`
		Response string          `json:"responseId"`
		Call     string          `json:"toolCallId"`
		Tool     string          `json:"toolName"`
		Failed   bool            `json:"isError"`
		Command  string          `json:"command"`
		Usage    *struct {
			Input      int64 `json:"input"`
			Output     int64 `json:"output"`
			CacheRead  int64 `json:"cacheRead"`
			CacheWrite int64 `json:"cacheWrite"`
		} `json:"usage"`
	}
	if json.Unmarshal(raw, &m) != nil {
		return nil
	}
	// The content is a string or a list of parts.
	var parts []piPart
	var text string
	if json.Unmarshal(m.Content, &text) == nil {
		parts = []piPart{{Type: "text", Text: text}}
	} else {
		_ = json.Unmarshal(m.Content, &parts) // unreadable fields stay empty
	}
	switch m.Role {
	case "user":
		return person(piText(parts))
	case "bashExecution": // of the person
		return personShell(m.Command)
	case "toolResult":
		output := piText(parts)
		if m.Tool == "bash" {
			output = piShellOutput(output, m.Failed)
		}
		return &entry{Type: "user", Message: &message{Role: "user", Content: []block{resultBlock(m.Call, output, m.Failed)}}}
	case "assistant":
		blocks := []block{}
		for _, p := range parts {
			switch {
			case p.Type == "text" && p.Text != "":
				blocks = append(blocks, textBlock(p.Text))
			case p.Type == "toolCall":
				blocks = append(blocks, piCall(p))
			}
		}
		e := done(blocks...)
		e.Message.Model = m.Model
		if u := m.Usage; u != nil {
			if e.Message.ID = m.Response; m.Response == "" {
				e.Message.ID = id
			}
			e.Message.Usage = &usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output}
		}
		return e
	}
	return nil
}

func piText(parts []piPart) string {
	var texts []string
	for _, p := range parts {
		if p.Type == "text" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// piCall returns the call of a tool.
func piCall(p piPart) block {
	type replaced struct {
		Old string `json:"oldText"`
		New string `json:"newText"`
	}
	var in struct {
		replaced

		Path    string     `json:"path"`
		Content string     `json:"content"`
		Command string     `json:"command"`
		Edits   []replaced `json:"edits"`
	}
	_ = json.Unmarshal(p.Args, &in) // unreadable fields stay empty
	switch p.Name {
	case "write":
		return useBlock(p.ID, "Write", written{Path: in.Path, Content: in.Content})
	case "edit":
		if in.replaced != (replaced{}) {
			in.Edits = append(in.Edits, in.replaced)
		}
		edits := make([]edit, len(in.Edits))
		for i, e := range in.Edits {
			edits[i] = edit(e)
		}
		return useBlock(p.ID, "MultiEdit", patched{Path: in.Path, Edits: edits})
	case "bash":
		return useBlock(p.ID, "Bash", command{Command: in.Command})
	case "read":
		return useBlock(p.ID, "Read", patched{Path: in.Path})
	}
	names := []string{"grep", "Grep", "find", "Glob", "ls", "LS"}
	if i := slices.Index(names, p.Name); i >= 0 && i%2 == 0 {
		return useBlock(p.ID, names[i+1], object(p.Args))
	}
	return useBlock(p.ID, p.Name, object(p.Args))
}

// piShellOutput returns the output of a command, for a failed one with its exit status at the
// beginning. Pi writes the status at the end.
func piShellOutput(output string, failed bool) string {
	const behind = "Command exited with code "
	if at := strings.LastIndex(output, behind); failed && at >= 0 {
		if status, err := strconv.Atoi(strings.TrimSpace(output[at+len(behind):])); err == nil {
			return withStatus(status, strings.TrimRight(output[:at], "\n"))
		}
	}
	if output == "(no output)" {
		return ""
	}
	return output
}
