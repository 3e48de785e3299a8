package testkit

import (
	"encoding/json"
	"path/filepath"
	"strings"
)

// Subagent plays an agent started by the session's agent with the tool Agent: it has its own
// transcript, and changes files.
type Subagent struct {
	// Session is the session as the subagent uses it: with the subagent's transcript.
	Session *Session
	ID      string
	Tool    string // the tool use that started it

	main        *Session
	description string
	background  bool
}

const subagentType = "general-purpose"

// Subagent starts a subagent. In mode background the call returns at once, else Done ends it.
func (s *Session) Subagent(name, description, mode string) *Subagent {
	s.TB.Helper()
	a := &Subagent{
		ID: "a" + strings.ReplaceAll(UUID(s.ID, "subagent", name), "-", "")[:16], main: s,
		description: description, background: mode == "background",
	}
	a.Tool = s.Transcript.toolUse("Agent", a.input())
	s.Hook("pre-task", append(s.common("PreToolUse"), "tool_name", "Agent", "tool_input", a.input(), "tool_use_id", a.Tool))
	own := *s
	own.Transcript = &Transcript{
		tb: s.TB, Path: filepath.Join(strings.TrimSuffix(s.Transcript.Path, ".jsonl"), "subagents", "agent-"+a.ID+".jsonl"),
		session: s.ID + name, cwd: s.Cwd, started: true, agent: a.ID, Usage: map[string]Usage{}, Now: s.Transcript.Now,
	}
	a.Session = &own
	writeFile(s.TB, strings.TrimSuffix(own.Transcript.Path, ".jsonl")+".meta.json", Object{
		"agentType", subagentType, "description", description, "toolUseId", a.Tool, "spawnDepth", 1,
	}.JSON())
	own.Transcript.user("Do it: "+description, "agent")
	if a.background {
		a.result(Object{"isAsync", true, "status", "async_launched", "agentId", a.ID, "description", description})
	}
	return a
}

func (a *Subagent) input() Object {
	return Object{"description", a.description, "prompt", "Do it: " + a.description, "subagent_type", subagentType}
}

// Todo plays the tool for plans: items that end in an asterisk are completed.
func (a *Subagent) Todo(items ...string) Result {
	a.main.TB.Helper()
	todos := make([]any, 0, len(items))
	for _, item := range items {
		content, done := strings.CutSuffix(item, "*")
		status := map[bool]string{true: "completed", false: "pending"}[done]
		todos = append(todos, Object{"content", content, "status", status, "activeForm", content})
	}
	input := Object{"todos", todos}
	tool := a.Session.Transcript.toolUse("TodoWrite", input)
	return a.main.Hook("post-todo", append(a.common("PostToolUse"),
		"tool_name", "TodoWrite", "tool_input", input, "tool_use_id", tool, "tool_response", Object{}))
}

// Stop plays SubagentStop.
func (a *Subagent) Stop() Result {
	a.main.TB.Helper()
	a.Session.Transcript.text("Done: " + a.description)
	running := []any{}
	if a.background {
		running = append(running, Object{"id", a.ID, "type", "subagent", "status", "running"})
	}
	return a.main.Hook("subagent-stop", append(a.common("SubagentStop"), "stop_hook_active", false,
		"agent_transcript_path", a.Session.Transcript.Path, "last_assistant_message", "Done: "+a.description, "background_tasks", running))
}

// Done ends the call that waits for the subagent.
func (a *Subagent) Done() Result {
	a.main.TB.Helper()
	return a.result(Object{
		"status", "completed", "agentId", a.ID, "content", []any{Object{"type", "text", "text", "Done: " + a.description}},
	})
}

// result plays PostToolUse, and then writes the line with the result.
func (a *Subagent) result(response Object) Result {
	a.main.TB.Helper()
	result := a.main.Hook("post-task", append(a.main.common("PostToolUse"),
		"tool_name", "Agent", "tool_input", a.input(), "tool_use_id", a.Tool, "tool_response", response))
	a.main.Transcript.toolResult(a.Tool, "agentId: "+a.ID, response)
	return result
}

// Notification returns the message to the agent when a background subagent has ended.
func (a *Subagent) Notification() string {
	return "<task-notification>\n<task-id>" + a.ID + "</task-id>\n<tool-use-id>" + a.Tool + "</tool-use-id>\n<status>completed</status>\n</task-notification>"
}

func (a *Subagent) common(event string) Object {
	return append(a.main.common(event), "agent_id", a.ID, "agent_type", subagentType)
}

// asAgent marks a line as a subagent's.
func asAgent(line, agent string) string {
	id, _ := json.Marshal(agent)
	return strings.Replace(line, `"isSidechain":false`, `"isSidechain":true,"agentId":`+string(id), 1)
}
