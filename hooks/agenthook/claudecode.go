package agenthook

import "github.com/seed-3aff656d/entire/session/agent"

// endTimeout is the time limit in seconds of hooks for a session's end, for which the agents'
// defaults are lower. Our hooks need less, but must not be stopped on a slow machine.
const endTimeout = 10

// useTimeout is the time limit in seconds of hooks at a tool call, which the agent waits for.
const useTimeout = 5

// claudeCode is the dialect of Claude Code, to whose form the payloads of all agents are converted.
func claudeCode() dialect {
	f := grouped()
	f.anyMatcher = true
	return dialect{
		agent:   agent.ClaudeCode(),
		files:   [][]string{{".claude", "settings.json"}, {".claude", "settings.local.json"}},
		user:    userFile{path: []string{"settings.json"}},
		servers: serverList{file: []string{".mcp.json"}, key: "mcpServers", entry: `{"type":"stdio","command":"entire","args":["mcp"]}`},
		form:    f,
		reply:   reply{raw: true},
		entries: []entry{
			{event: "SessionStart", verb: "session-start"},
			{event: "SessionStart", verb: "session-brief"},
			{event: "SessionEnd", verb: "session-end", timeout: endTimeout},
			{event: "Stop", verb: "stop"},
			{event: "StopFailure", verb: "stop-failure"},
			{event: "UserPromptSubmit", verb: "user-prompt-submit"},
			{event: "PreToolUse", verb: "pre-task", matcher: "Task|Agent", former: "Task"},
			{event: "PreToolUse", verb: PreTool, matcher: "Edit|Write|MultiEdit|NotebookEdit|Bash", timeout: useTimeout},
			{event: "PostToolUse", verb: "post-task", matcher: "Task|Agent", former: "Task"},
			{event: "PostToolUse", verb: "post-todo", matcher: "TodoWrite|TaskUpdate", former: "TodoWrite"},
			{event: "SubagentStop", verb: "subagent-stop"},
			{event: "PreCompact", verb: "pre-compact"},
			{event: "PostCompact", verb: "post-compact"},
		},
		shared: true,
	}
}
