package claude

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/session/agent"
)

// Codex and Qwen Code took over the form of Claude Code's hooks and settings, Copilot CLI has
// one that is alike, and Pi loads a plugin of ours that calls the same hooks. What differs is
// in this file.

// Files returns the settings files of an agent in a worktree, the project's first.
func Files(a agent.Agent, root string) []string {
	switch a.Name {
	case agent.Codex().Name:
		return []string{filepath.Join(root, ".codex", "hooks.json")}
	case agent.Copilot().Name:
		return []string{filepath.Join(root, ".github", "hooks", "entire.json")}
	case agent.Pi().Name:
		return []string{filepath.Join(root, ".pi", "extensions", "entire.js")}
	case agent.Qwen().Name:
		return []string{filepath.Join(root, ".qwen", "settings.json")}
	}
	return []string{filepath.Join(root, ".claude", "settings.json"), filepath.Join(root, ".claude", "settings.local.json")}
}

// HasPersonalFile reports whether the agent has a settings file in the worktree that is
// the user's own.
func HasPersonalFile(a agent.Agent) bool { return len(Files(a, "")) > 1 }

// codexEndTimeout is the most that Codex gives the hooks of a session's end, in seconds.
const codexEndTimeout = 3

// entriesOf returns the hooks that Install maintains for an agent.
func entriesOf(a agent.Agent) []entry {
	var all []entry
	switch a.Name {
	case agent.Codex().Name:
		all = []entry{
			{event: "SessionStart", verb: "session-start"},
			{event: "SessionEnd", verb: "session-end", timeout: codexEndTimeout},
			{event: "Stop", verb: "stop"},
			{event: "Interrupt", verb: "stop-failure", timeout: codexEndTimeout},
			{event: "UserPromptSubmit", verb: "user-prompt-submit"},
			{event: "PreCompact", verb: "pre-compact"},
			{event: "PostCompact", verb: "post-compact"},
		}
	case agent.Copilot().Name:
		all = []entry{
			{event: "sessionStart", verb: "session-start"},
			{event: "sessionEnd", verb: "session-end", timeout: endTimeout},
			{event: "agentStop", verb: "stop"},
			{event: "userPromptSubmitted", verb: "user-prompt-submit"},
			{event: "preCompact", verb: "pre-compact"},
		}
	case agent.Qwen().Name:
		all = []entry{
			{event: "SessionStart", verb: "session-start"},
			{event: "SessionEnd", verb: "session-end", timeout: endTimeout},
			{event: "Stop", verb: "stop"},
			{event: "StopFailure", verb: "stop-failure"},
			{event: "UserPromptSubmit", verb: "user-prompt-submit"},
			{event: "PreToolUse", verb: "pre-task", matcher: "agent|task"},
			{event: "PostToolUse", verb: "post-task", matcher: "agent|task"},
			{event: "PostToolUse", verb: "post-todo", matcher: "todo_write"},
			{event: "SubagentStop", verb: "subagent-stop"},
			{event: "PreCompact", verb: "pre-compact"},
			{event: "PostCompact", verb: "post-compact"},
		}
	default:
		a = agent.ClaudeCode()
		all = entries()
	}
	for i := range all {
		all[i].agent = a
	}
	return all
}

// isCopilot reports whether an agent is Copilot CLI, whose hooks are listed without groups.
func isCopilot(a agent.Agent) bool { return a.Name == agent.Copilot().Name }

// isClaude reports whether an agent is Claude Code, which the zero agent is, too.
func isClaude(a agent.Agent) bool { return a.Name == "" || a.Name == agent.ClaudeCode().Name }

// IsForeign reports whether a hook that is installed for an agent was run by another one:
// Copilot runs the hooks in Claude Code's settings, with ids of its own.
func IsForeign(a agent.Agent, getenv func(string) string) bool {
	return isClaude(a) && agent.Copilot().Calls(getenv) && !agent.ClaudeCode().Calls(getenv)
}

// dialectPayload is what other agents have in their payloads beside Claude Code's members.
type dialectPayload struct {
	// Submitted is what the person typed, where Prompt may be the agent's own.
	Submitted *string `json:"submitted_prompt"`
	// ToolCallID is the id of a tool's call in the transcript, where ToolUseID is another.
	ToolCallID string `json:"tool_call_id"`

	// The names of Copilot CLI.
	CamelSession    string `json:"sessionId"`
	CamelTranscript string `json:"transcriptPath"`
	CamelAgent      string `json:"agentId"`
	// Time is when Copilot called the hook, in milliseconds; in its transcript the call has
	// the same. Other agents have a text.
	Time json.RawMessage `json:"timestamp"`
}

// flushTime bounds the wait for Copilot's transcript.
const flushTime = time.Second

// AwaitTranscript waits, for a second at most, until the transcript has the call of this
// hook, and so all that happened before it: Copilot writes its lines some time after
// the event.
func (p *Payload) AwaitTranscript(ctx context.Context, a agent.Agent) {
	if !isCopilot(a) || p.Transcript == "" || len(p.Time) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	call := append([]byte(`"timestamp":`), p.Time...)
	for !endsWith(p.Transcript, call) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(flushTime / 50): //nolint:mnd // often enough not to be felt
		}
	}
}

// endsWith reports whether a text is near the end of a file.
func endsWith(path string, text []byte) bool {
	const near = 64 << 10
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return false
	}
	tail, err := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-near), near))
	return err == nil && bytes.Contains(tail, text)
}

// fill gives the members that have another name in Copilot CLI the value of that.
func (p *Payload) fill() {
	p.SessionID = cmp.Or(p.SessionID, p.CamelSession)
	p.Transcript = cmp.Or(p.Transcript, p.CamelTranscript)
	p.AgentID = cmp.Or(p.AgentID, p.CamelAgent)
}

// Adapt gives a payload of an agent's hook the meaning that Claude Code's has. It returns
// false if nothing has happened that concerns the session: a subagent's turn, or a prompt
// that nobody typed.
func (p *Payload) Adapt(a agent.Agent, verb string) bool {
	if isClaude(a) {
		return true
	}
	if p.ToolCallID != "" {
		p.ToolUseID = p.ToolCallID
	}
	if p.Source == "new" {
		p.Source = "startup"
	}
	p.Background = slices.DeleteFunc(p.Background, hasEnded)
	if p.isBackgroundTask() {
		p.ToolResponse = json.RawMessage(`{"isAsync":true}`)
	}
	switch verb {
	case "user-prompt-submit":
		if p.Submitted != nil {
			p.Prompt = *p.Submitted
		}
		return p.AgentID == "" && strings.TrimSpace(p.Prompt) != ""
	case "session-start", "session-end", "stop", "stop-failure", "pre-compact", "post-compact":
		return p.AgentID == ""
	}
	return true
}

// hasEnded reports whether a task of a payload goes on no more.
func hasEnded(task json.RawMessage) bool {
	var t struct {
		Status string `json:"status"`
	}
	return json.Unmarshal(task, &t) == nil && t.Status != "" && t.Status != "running"
}

// isBackgroundTask reports whether a call of Qwen Code has only started its subagent.
func (p *Payload) isBackgroundTask() bool {
	var r struct {
		Content string `json:"llmContent"`
	}
	return json.Unmarshal(p.ToolResponse, &r) == nil && strings.HasPrefix(r.Content, "Background agent launched")
}
