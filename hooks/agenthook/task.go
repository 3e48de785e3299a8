package agenthook

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// toolPayload is the input that Claude Code passes to the hooks of tools and of subagents.
type toolPayload struct {
	PromptID     string          `json:"prompt_id"`
	ToolUseID    string          `json:"tool_use_id"`
	ToolName     string          `json:"tool_name"`
	ToolInput    json.RawMessage `json:"tool_input"`
	ToolResponse json.RawMessage `json:"tool_response"`
	AgentID      string          `json:"agent_id"`
	AgentType    string          `json:"agent_type"`
}

// Task returns the data about a subagent in the payload of the hook verb. Members of an unexpected
// form are treated as absent.
func (p *Payload) Task(verb string) workspace.TaskEvent {
	switch verb {
	case "pre-task":
		return p.call()
	case "post-task":
		t := p.call()
		var response struct {
			Agent string `json:"agentId"`
			Async bool   `json:"isAsync"`
		}
		if json.Unmarshal(p.ToolResponse, &response) == nil {
			t.Agent, t.Background = response.Agent, response.Async
		}
		return t
	case "subagent-stop":
		if p.AgentType == "" { // internal work of the agent on the conversation
			return workspace.TaskEvent{}
		}
		return workspace.TaskEvent{Agent: p.AgentID}
	case "post-todo":
		// A change of the subagent's plan.
		var input struct {
			Todos []checkpoint.Todo `json:"todos"`
		}
		_ = json.Unmarshal(p.ToolInput, &input) // unreadable fields stay empty
		s := workspace.TaskStep{Tool: p.ToolName, Todos: input.Todos}
		var line bytes.Buffer
		if json.Compact(&line, p.ToolInput) == nil && line.Len() > 0 {
			s.Input = line.Bytes()
		}
		return workspace.TaskEvent{Agent: p.AgentID, Unnamed: p.AgentID == "" && p.PromptID == "", Step: s}
	default:
		return workspace.TaskEvent{}
	}
}

// call returns the tool call that starts a subagent.
func (p *Payload) call() workspace.TaskEvent {
	var input struct {
		Type        string `json:"subagent_type"`
		Description string `json:"description"`
	}
	_ = json.Unmarshal(p.ToolInput, &input) // unreadable fields stay empty
	return workspace.TaskEvent{ToolUse: p.ToolUseID, Type: input.Type, Description: input.Description}
}

// taskEnded returns the output that other versions print, for readers of the agent's hook log.
func taskEnded(in workspace.Input) []byte {
	lines := [][2]string{
		{"Session ID", in.SessionID},
		{"Tool Use ID", in.Task.ToolUse},
		{"Agent ID", "(none)"},
		{"Transcript", in.Transcript},
		{"Subagent Transcript", "(none)"},
	}
	if in.Task.Agent != "" {
		lines[2][1] = in.Task.Agent
		if file, found := transcript.FindSubagent(in.Transcript, in.Task.Agent); found {
			lines[4][1] = file.Path
		}
	}
	return taskLines("PostToolUse", lines)
}

func taskLines(event string, lines [][2]string) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "[entire] %s[Task] hook invoked\n", event)
	for _, line := range lines {
		fmt.Fprintf(&b, "  %s: %s\n", line[0], strings.ToValidUTF8(line[1], "\uFFFD"))
	}
	return b.Bytes()
}
