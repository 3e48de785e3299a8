package forms

import (
	"bytes"
	"encoding/json"
	"strings"
)

// isCopilot reports whether a line is of Copilot CLI: {"type", "data", "id", "timestamp"}.
func isCopilot(line []byte) bool {
	kind, rest := firstType(line)
	return kind != "" && kind != "progress" && bytes.HasPrefix(bytes.TrimLeft(rest, ` ,`), []byte(`"data":`))
}

// firstType returns the type that a line begins with, and what follows it.
func firstType(line []byte) (kind string, rest []byte) {
	const longest = 64
	if !startsWith(line, `"type":`) {
		return "", nil
	}
	rest = bytes.TrimLeft(line[len(`{"type":`):], " ")
	if len(rest) == 0 || rest[0] != '"' {
		return "", nil
	}
	end := bytes.IndexByte(rest[1:min(len(rest), longest)], '"')
	if end < 0 {
		return "", nil
	}
	return string(rest[1 : 1+end]), rest[2+end:]
}

// copilotEnvelope is a line of Copilot CLI. Agent is the subagent's id, empty for the
// main agent.
type copilotEnvelope struct {
	Type  string          `json:"type"`
	Data  json.RawMessage `json:"data"`
	ID    string          `json:"id"`
	Time  string          `json:"timestamp"`
	Agent string          `json:"agentId"`
}

// copilotLine converts a line of Copilot CLI. One that is damaged is returned as it is.
func copilotLine(line []byte) []byte {
	kind, _ := firstType(line)
	convert := copilotConversion(kind)
	if convert == nil {
		if json.Valid(line) {
			return nil
		}
		return line
	}
	var c copilotEnvelope
	if json.Unmarshal(line, &c) != nil {
		return line
	}
	e := convert(c.Data)
	if e == nil {
		return nil
	}
	e.UUID, e.Time, e.Sidechain, e.Subagent = c.ID, c.Time, c.Agent != "", c.Agent
	return encode(e)
}

// copilotConversion returns how lines of a type are converted, nil for those that are no
// part of the conversation.
func copilotConversion(kind string) func(data json.RawMessage) *entry {
	switch kind {
	case "session.start":
		return copilotSession
	case "user.message":
		return copilotPrompt
	case "assistant.message":
		return copilotAnswer
	case "tool.execution_complete":
		return copilotResult
	case "session.usage_record":
		return copilotUsage
	case "session.compaction_complete":
		return copilotCompacted
	case "abort":
		return func(json.RawMessage) *entry { return person("[Request interrupted by user]") }
	}
	return nil
}

func copilotSession(data json.RawMessage) *entry {
	var d struct {
		Session string `json:"sessionId"`
		Context struct {
			Dir    string `json:"cwd"`
			Branch string `json:"branch"`
		} `json:"context"`
	}
	_ = json.Unmarshal(data, &d) // what can't be read is empty
	return &entry{Type: "system", Subtype: "session_start", SessionID: d.Session, Dir: d.Context.Dir, Branch: d.Context.Branch}
}

func copilotPrompt(data json.RawMessage) *entry {
	var d struct {
		Content string `json:"content"`
	}
	_ = json.Unmarshal(data, &d) // what can't be read is empty
	return person(d.Content)
}

func copilotUsage(data json.RawMessage) *entry {
	var d struct {
		Usage struct {
			Call       string `json:"apiCallId"`
			Model      string `json:"model"`
			Input      int64  `json:"inputTokens"` // those of the cache included
			CacheRead  int64  `json:"cacheReadTokens"`
			CacheWrite int64  `json:"cacheWriteTokens"`
			Output     int64  `json:"outputTokens"`
		} `json:"usage"`
	}
	if json.Unmarshal(data, &d) != nil || d.Usage.Call == "" {
		return nil
	}
	u := d.Usage
	return spent(u.Call, u.Model, usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output})
}

func copilotCompacted(data json.RawMessage) *entry {
	var d struct {
		Success bool   `json:"success"`
		Summary string `json:"summaryContent"`
	}
	switch {
	case json.Unmarshal(data, &d) != nil, !d.Success:
		return nil
	case d.Summary == "":
		return &entry{Type: "system", Subtype: "compact_boundary"}
	}
	e := person(d.Summary)
	e.Compact = true
	return e
}

func copilotAnswer(data json.RawMessage) *entry {
	var d struct {
		Model    string `json:"model"`
		Content  string `json:"content"`
		Requests []struct {
			ID   string          `json:"toolCallId"`
			Name string          `json:"name"`
			Args json.RawMessage `json:"arguments"`
		} `json:"toolRequests"`
	}
	_ = json.Unmarshal(data, &d) // what can't be read is empty
	blocks := []block{}
	if d.Content != "" {
		blocks = append(blocks, textBlock(d.Content))
	}
	for _, r := range d.Requests {
		blocks = append(blocks, copilotCall(r.ID, r.Name, r.Args)...)
	}
	e := done(blocks...)
	e.Message.Model = d.Model
	return e
}

// copilotCall is the call of a tool: one for each file, if that is a patch.
func copilotCall(id, name string, args json.RawMessage) []block {
	var in struct {
		Path    string  `json:"path"`
		Text    *string `json:"file_text"`
		Old     string  `json:"old_str"`
		New     string  `json:"new_str"`
		Command string  `json:"command"`
		Mode    string  `json:"mode"`
		Agent   string  `json:"agent_type"`
		About   string  `json:"description"`
	}
	_ = json.Unmarshal(args, &in) // what can't be read is empty
	switch name {
	case "create":
		text := ""
		if in.Text != nil {
			text = *in.Text
		}
		return []block{useBlock(id, "Write", written{Path: in.Path, Content: text})}
	case "edit", "str_replace_editor":
		return []block{useBlock(id, "MultiEdit", patched{Path: in.Path, Edits: []edit{{Old: in.Old, New: in.New}}})}
	case "apply_patch":
		var text string
		_ = json.Unmarshal(args, &text) // an object with another form has no files
		return uses(id, patchChanges(text))
	case "bash", "shell":
		return []block{useBlock(id, "Bash", command{Command: in.Command, Background: in.Mode == "async" || in.Mode == "detached"})}
	case "view":
		return []block{useBlock(id, "Read", patched{Path: in.Path})}
	case "task":
		return []block{useBlock(id, "Task", map[string]string{"subagent_type": in.Agent, "description": in.About})}
	}
	return []block{useBlock(id, copilotTool(name), object(args))}
}

// copilotTool returns the name in Claude Code of a tool whose input is alike.
func copilotTool(name string) string {
	switch name {
	case "grep", "rg":
		return "Grep"
	case "glob":
		return "Glob"
	case "web_fetch", "fetch":
		return "WebFetch"
	case "web_search":
		return "WebSearch"
	case "ask_user":
		return "AskUserQuestion"
	}
	return name
}

// copilotResult is the result of a tool.
func copilotResult(data json.RawMessage) *entry {
	var d struct {
		Call    string `json:"toolCallId"`
		Success bool   `json:"success"`
		Result  struct {
			Content string `json:"content"`
		} `json:"result"`
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
		Shell *struct {
			Exit int `json:"exitCode"`
		} `json:"shellExecution"`
	}
	_ = json.Unmarshal(data, &d) // what can't be read is empty
	output, failed := d.Result.Content, !d.Success
	if d.Error.Message != "" {
		output = d.Error.Message
	}
	if d.Shell != nil {
		output = withStatus(d.Shell.Exit, withoutShellID(output))
		failed = failed || d.Shell.Exit != 0
	}
	return &entry{Type: "user", Message: &message{Role: "user", Content: []block{resultBlock(d.Call, output, failed)}}}
}

// withoutShellID removes the last line of a shell's result, which is the client's.
func withoutShellID(output string) string {
	if at := strings.LastIndex(output, "\n<shellId:"); at >= 0 {
		return output[:at]
	}
	return output
}
