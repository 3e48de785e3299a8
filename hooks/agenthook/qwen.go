package agenthook

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/session/agent"
)

// qwen is Qwen Code's dialect: Claude Code's hooks, also called for prompts that the user did not type.
func qwen() dialect {
	return dialect{
		agent:   agent.Qwen(),
		files:   [][]string{{".qwen", "settings.json"}},
		user:    userFile{path: []string{"settings.json"}},
		servers: serverList{file: []string{".qwen", "settings.json"}, key: "mcpServers", entry: ourServer},
		form:    grouped(),
		entries: []entry{
			{event: "SessionStart", verb: "session-start"},
			{event: "SessionEnd", verb: "session-end", timeout: endTimeout},
			{event: "Stop", verb: "stop"},
			{event: "StopFailure", verb: "stop-failure"},
			{event: "UserPromptSubmit", verb: "user-prompt-submit"},
			{event: "PreToolUse", verb: "pre-task", matcher: "agent|task"},
			{event: "PostToolUse", verb: "post-task", matcher: "agent|task"},
			{event: "PostToolUse", verb: "post-todo", matcher: "todo_write"},
			{event: "PostToolUse", verb: PostUse, matcher: "edit|write_file|notebook_edit|run_shell_command", timeout: useTimeout},
			{event: "SubagentStop", verb: "subagent-stop"},
			{event: "PreCompact", verb: "pre-compact"},
			{event: "PostCompact", verb: "post-compact"},
		},
		read: readQwen,
	}
}

// qwenPayload holds the members that only Qwen Code has.
type qwenPayload struct {
	// Submitted is the text that the person typed; the prompt may be the agent's own.
	Submitted *string `json:"submitted_prompt"`
	// ToolCall is the id of the tool call in the transcript, which tool_use_id is not.
	ToolCall string `json:"tool_call_id"`
	Response struct {
		Content string `json:"llmContent"`
	} `json:"tool_response"`
}

func readQwen(p *Payload, verb string, data []byte) bool {
	var q qwenPayload
	_ = json.Unmarshal(data, &q) // unreadable fields stay empty
	if q.ToolCall != "" {
		p.ToolUseID = q.ToolCall
	}
	if q.Submitted != nil && verb == "user-prompt-submit" {
		p.Prompt = *q.Submitted
	}
	p.Background = slices.DeleteFunc(p.Background, func(task json.RawMessage) bool { // it has ended
		var t struct {
			Status string `json:"status"`
		}
		return json.Unmarshal(task, &t) == nil && t.Status != "" && t.Status != "running"
	})
	if strings.HasPrefix(q.Response.Content, "Background agent launched") {
		p.ToolResponse = json.RawMessage(`{"isAsync":true}`)
	}
	return p.ofSession(verb)
}
