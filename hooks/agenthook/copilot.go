package agenthook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/seed-3aff656d/entire/session/agent"
)

// copilot is the dialect of Copilot CLI. It has the events of Claude Code under other names.
func copilot() dialect {
	return dialect{
		agent:      agent.Copilot(),
		files:      [][]string{{".github", "hooks", "entire.json"}},
		user:       userFile{path: []string{"hooks", "entire.json"}},
		trustsUser: true,
		servers: serverList{
			file: []string{".github", "mcp.json"}, key: "mcpServers",
			entry: `{"type":"local","command":"entire","args":["mcp"],"tools":["*"]}`,
		},
		form:  form{version: "1", flat: true, command: "bash", timeout: "timeoutSec", unit: time.Second},
		reply: reply{silent: true, direct: true},
		entries: []entry{
			{event: "sessionStart", verb: "session-start"},
			{event: "sessionEnd", verb: "session-end", timeout: endTimeout},
			{event: "agentStop", verb: "stop"},
			{event: "userPromptSubmitted", verb: "user-prompt-submit"},
			{event: "preToolUse", verb: PreTool, matcher: "edit|create|apply_patch|bash", timeout: useTimeout},
			{event: "preCompact", verb: "pre-compact"},
		},
		read:  readCopilot,
		await: awaitCopilot, runsShared: true,
		trust: copilotTrust,
	}
}

// copilotPayload holds the members that have other names in Copilot CLI.
type copilotPayload struct {
	Session    string `json:"sessionId"`
	Transcript string `json:"transcriptPath"`
	Agent      string `json:"agentId"`
	// Parent is the session of a subagent, whose events have an id of their own.
	Parent    string          `json:"parentAgentId"`
	Tool      string          `json:"toolName"`
	ToolInput json.RawMessage `json:"toolArgs"`
	// Time is the time at which Copilot called the hook, in milliseconds; the transcript has the
	// same time for the call.
	Time json.RawMessage `json:"timestamp"`
}

func readCopilot(p *Payload, verb string, data []byte) bool {
	var c copilotPayload
	_ = json.Unmarshal(data, &c) // unreadable fields stay empty
	p.SessionID = cmp.Or(p.SessionID, c.Session)
	p.Transcript = cmp.Or(p.Transcript, c.Transcript)
	p.AgentID = cmp.Or(p.AgentID, c.Agent)
	p.ToolName = cmp.Or(p.ToolName, c.Tool)
	if c.ToolInput != nil {
		p.ToolInput = c.ToolInput
	}
	if verb == PreTool && c.Parent != "" {
		p.SessionID = c.Parent
	}
	p.called = c.Time
	if p.Source == "new" {
		p.Source = "startup"
	}
	return p.ofSession(verb)
}

// flushTime is the maximum time to wait for Copilot's transcript.
const flushTime = time.Second

// awaitCopilot waits until the transcript contains the call of this hook, and thus all earlier
// events: Copilot writes its lines some time after the event.
func awaitCopilot(ctx context.Context, p *Payload) {
	if len(p.called) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	call := append([]byte(`"timestamp":`), p.called...)
	for !endsWith(p.Transcript, call) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(flushTime / 50): //nolint:mnd // often enough not to be felt
		}
	}
}

// endsWith reports whether text occurs in the last 64 KiB of a file.
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

// copilotTrust reports whether a worktree is in a folder that the user trusts.
func copilotTrust(t trusting) Trust {
	var c struct {
		Folders []string `json:"trusted_folders"`
	}
	data, err := os.ReadFile(filepath.Join(t.home, "config.json"))
	if err != nil || json.Unmarshal(data, &c) != nil {
		return Untrusted
	}
	for _, dir := range c.Folders {
		if isWithin(dir, t.root) {
			return Trusted
		}
	}
	return Untrusted
}
