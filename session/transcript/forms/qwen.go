package forms

import (
	"encoding/json"
	"strings"
)

// qwenEnvelope is a line of Qwen Code.
type qwenEnvelope struct {
	UUID       string  `json:"uuid"`
	Session    string  `json:"sessionId"`
	Time       string  `json:"timestamp"`
	Type       string  `json:"type"`
	Subtype    string  `json:"subtype"`
	Provenance string  `json:"provenance"`
	Dir        string  `json:"cwd"`
	Branch     string  `json:"gitBranch"`
	Sidechain  bool    `json:"isSidechain"`
	Model      string  `json:"model"`
	Message    content `json:"message"`
	Usage      *struct {
		Prompt int64 `json:"promptTokenCount"`
		Cached int64 `json:"cachedContentTokenCount"`
		Output int64 `json:"candidatesTokenCount"`
		Total  int64 `json:"totalTokenCount"`
	} `json:"usageMetadata"`
	Result struct {
		Status string `json:"status"`
	} `json:"toolCallResult"`
	Payload struct {
		History []content `json:"compressedHistory"`
	} `json:"systemPayload"`
}

// content is a message of Gemini's API.
type content struct {
	Parts []part `json:"parts"`
}

type part struct {
	Text    string `json:"text"`
	Thought bool   `json:"thought"`
	Call    *struct {
		ID   string          `json:"id"`
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	} `json:"functionCall"`
	Response *struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Response struct {
			Output any `json:"output"`
			Error  any `json:"error"`
		} `json:"response"`
	} `json:"functionResponse"`
}

// qwenLine converts a line of Qwen Code. A damaged line is returned unchanged.
func qwenLine(line []byte) []byte {
	var q qwenEnvelope
	if err := json.Unmarshal(line, &q); err != nil {
		return line
	}
	e := &entry{
		Type: q.Type, UUID: q.UUID, SessionID: q.Session, Time: q.Time, Dir: q.Dir, Branch: q.Branch, Sidechain: q.Sidechain,
		Message: &message{Role: "user", Content: []block{}},
	}
	switch q.Type {
	case "user":
		// Written by a person, or by the client in their name.
		e.Meta = q.Provenance == "system"
		if q.Provenance == "real_user" {
			e.Origin = &origin{Kind: "human"}
		}
		e.Message.Content = texts(q.Message)
		for i := range e.Message.Content {
			e.Message.Content[i].Text = withShell(e.Message.Content[i].Text)
		}
	case "assistant":
		m := e.Message
		m.Role, m.Model, m.Content = "assistant", q.Model, texts(q.Message)
		if q.Usage != nil {
			m.ID = q.UUID
			m.Usage = &usage{
				Input: max(0, q.Usage.Prompt-q.Usage.Cached), CacheRead: q.Usage.Cached, Output: max(q.Usage.Output, q.Usage.Total-q.Usage.Prompt),
			}
		}
		for _, p := range q.Message.Parts {
			if p.Call == nil {
				continue
			}
			name, args := qwenTool(p.Call.Name), object(p.Call.Args)
			m.Content = append(m.Content, useBlock(p.Call.ID, name, qwenInput(name, args)))
		}
	case "tool_result":
		q.results(e)
	case "system":
		if q.Subtype != "chat_compression" {
			return nil
		}
		e.Subtype = "compact_boundary"
		for _, c := range q.Payload.History {
			if blocks := texts(c); len(blocks) > 0 {
				e.Type, e.Subtype, e.Compact, e.Message.Content = "user", "", true, blocks[:1]
				break
			}
		}
		if !e.Compact {
			e.Message = nil
		}
	default:
		return nil
	}
	return encode(e)
}

// texts returns the texts of a message, without the model's thoughts.
func texts(c content) []block {
	blocks := []block{}
	for _, p := range c.Parts {
		if p.Text != "" && !p.Thought {
			blocks = append(blocks, textBlock(p.Text))
		}
	}
	return blocks
}

// qwenInput returns the input of a tool call, converted to Claude Code's form for the shell.
func qwenInput(name string, args json.RawMessage) any {
	if name != "Bash" {
		return args
	}
	var in struct {
		Command    string `json:"command"`
		Background bool   `json:"is_background"`
	}
	_ = json.Unmarshal(args, &in) // unreadable fields stay empty
	return command(in)
}

// qwenTool returns Claude Code's name of a tool.
func qwenTool(name string) string {
	switch name {
	case "write_file":
		return "Write"
	case "edit", "replace":
		return "Edit"
	case "notebook_edit":
		return "NotebookEdit"
	case "run_shell_command":
		return "Bash"
	case "read_file", "read_many_files":
		return "Read"
	case "glob":
		return "Glob"
	case "grep_search", "search_file_content":
		return "Grep"
	case "list_directory":
		return "LS"
	case "todo_write":
		return "TodoWrite"
	case "agent", "task":
		return "Task"
	case "web_fetch":
		return "WebFetch"
	case "web_search":
		return "WebSearch"
	case "ask_user_question":
		return "AskUserQuestion"
	case "exit_plan_mode":
		return "ExitPlanMode"
	case "skill":
		return "Skill"
	}
	return name
}

// results converts the results of tools.
func (q *qwenEnvelope) results(e *entry) {
	e.Type = "user"
	for _, p := range q.Message.Parts {
		r := p.Response
		if r == nil {
			continue
		}
		output, failed := text(r.Response.Output), q.Result.Status != "" && q.Result.Status != "success"
		if said := text(r.Response.Error); said != "" {
			output, failed = said, true
		}
		switch qwenTool(r.Name) {
		case "Bash":
			status, rest := shellOutput("\nOutput: ", output)
			output, failed = withStatus(status, rest), failed || status != 0
		case "Task":
			// The subagent continues in the background.
			if strings.HasPrefix(output, "Background agent launched") {
				_, rest, _ := strings.Cut(output, "task_id: ")
				id, _, _ := strings.Cut(rest, " ")
				e.Result = &detached{Async: true, Agent: id}
			}
		}
		e.Message.Content = append(e.Message.Content, resultBlock(r.ID, output, failed))
	}
}

// text returns v if it is a string, else its JSON form, "" for nil.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	data, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(data)
}
