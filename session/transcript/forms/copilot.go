package forms

import (
	"bytes"
	"encoding/json"
	"strings"
)

// firstType returns the type at the beginning of a line, and the rest of the line.
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

// copilotEnvelope is a line of Copilot CLI. Agent is the subagent's id, empty for the main agent.
type copilotEnvelope struct {
	Type  string          `json:"type"`
	Data  json.RawMessage `json:"data"`
	ID    string          `json:"id"`
	Time  string          `json:"timestamp"`
	Agent string          `json:"agentId"`
}

// copilotLine converts a line of Copilot CLI. A damaged line is returned unchanged.
func copilotLine(line []byte) []byte {
	kind, _ := firstType(line)
	switch kind {
	case "session.start", "user.message", "assistant.message", "tool.execution_complete", "session.usage_record",
		"session.compaction_complete", "abort":
	default:
		if json.Valid(line) {
			return nil
		}
		return line
	}
	var c copilotEnvelope
	if json.Unmarshal(line, &c) != nil {
		return line
	}
	var e *entry
	switch kind {
	case "session.start":
		var d struct {
			Session string `json:"sessionId"`
			Context struct {
				Dir    string `json:"cwd"`
				Branch string `json:"branch"`
			} `json:"context"`
		}
		_ = json.Unmarshal(c.Data, &d) // unreadable fields stay empty
		e = &entry{Type: "system", Subtype: "session_start", SessionID: d.Session, Dir: d.Context.Dir, Branch: d.Context.Branch}
	case "user.message":
		var d struct {
			Content string `json:"content"`
		}
		_ = json.Unmarshal(c.Data, &d) // unreadable fields stay empty
		e = person(d.Content)
	case "assistant.message":
		e = copilotAnswer(c.Data)
	case "tool.execution_complete":
		e = copilotResult(c.Data)
	case "session.usage_record":
		var d struct {
			Usage struct {
				Call       string `json:"apiCallId"`
				Model      string `json:"model"`
				Input      int64  `json:"inputTokens"` // including those of the cache
				CacheRead  int64  `json:"cacheReadTokens"`
				CacheWrite int64  `json:"cacheWriteTokens"`
				Output     int64  `json:"outputTokens"`
			} `json:"usage"`
		}
		if json.Unmarshal(c.Data, &d) != nil || d.Usage.Call == "" {
			return nil
		}
		u := d.Usage
		e = spent(u.Call, u.Model, usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output})
	case "session.compaction_complete":
		var d struct {
			Success bool   `json:"success"`
			Summary string `json:"summaryContent"`
		}
		switch {
		case json.Unmarshal(c.Data, &d) != nil, !d.Success:
			return nil
		case d.Summary == "":
			e = &entry{Type: "system", Subtype: "compact_boundary"}
		default:
			e = person(d.Summary)
			e.Compact = true
		}
	case "abort":
		e = person("[Request interrupted by user]")
	}
	if e == nil {
		return nil
	}
	e.UUID, e.Time, e.Sidechain, e.Subagent = c.ID, c.Time, c.Agent != "", c.Agent
	return encode(e)
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
	_ = json.Unmarshal(data, &d) // unreadable fields stay empty
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

// copilotCall returns the call of a tool. A patch becomes one call for each file.
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
	_ = json.Unmarshal(args, &in) // unreadable fields stay empty
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
		_ = json.Unmarshal(args, &text) // an object in place of the text has no files
		return uses(id, patchChanges(text))
	case "bash", "shell":
		return []block{useBlock(id, "Bash", command{Command: in.Command, Background: in.Mode == "async" || in.Mode == "detached"})}
	case "view":
		return []block{useBlock(id, "Read", patched{Path: in.Path})}
	case "task":
		return []block{useBlock(id, "Task", map[string]string{"subagent_type": in.Agent, "description": in.About})}
		// Other tools with inputs like Claude Code's get its names.
	case "grep", "rg":
		name = "Grep"
	case "glob":
		name = "Glob"
	case "web_fetch", "fetch":
		name = "WebFetch"
	case "web_search":
		name = "WebSearch"
	case "ask_user":
		name = "AskUserQuestion"
	}
	return []block{useBlock(id, name, object(args))}
}

// copilotResult returns the result of a tool.
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
	_ = json.Unmarshal(data, &d) // unreadable fields stay empty
	output, failed := d.Result.Content, !d.Success
	if d.Error.Message != "" {
		output = d.Error.Message
	}
	if d.Shell != nil {
		// The client appends a line to a shell's result.
		if at := strings.LastIndex(output, "\n<shellId:"); at >= 0 {
			output = output[:at]
		}
		output = withStatus(d.Shell.Exit, output)
		failed = failed || d.Shell.Exit != 0
	}
	return &entry{Type: "user", Message: &message{Role: "user", Content: []block{resultBlock(d.Call, output, failed)}}}
}
