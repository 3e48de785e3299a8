package transcript

import (
	"slices"
	"strings"
)

// effect describes how a tool may change files.
type effect int

const (
	// effectAny means any change: the tool is a command, a subagent, a server's or unknown.
	effectAny effect = iota
	// effectNamed means a change of the one file that the input names.
	effectNamed
	// effectNone means that the tool only reads, asks or plans.
	effectNone
)

func effectOf(tool string) effect {
	if IsEdit(tool) {
		return effectNamed
	}
	switch tool {
	case "mcp__acp__Write", "mcp__acp__Edit":
		return effectNamed
	case "Read", "Glob", "Grep", "LS", "LSP", "NotebookRead", "WebFetch", "WebSearch", "mcp__acp__Read",
		"TodoWrite", "TodoRead", "TaskCreate", "TaskUpdate", "TaskList", "TaskGet", "TaskOutput", "TaskStop",
		"AskUserQuestion", "ExitPlanMode", "EnterPlanMode", "ToolSearch", "Skill", "SlashCommand",
		"BashOutput", "AgentOutputTool", "KillShell", "KillBash",
		"ListMcpResources", "ListMcpResourcesTool", "ReadMcpResource", "ReadMcpResourceTool",
		"CronCreate", "CronDelete", "CronList":
		return effectNone
	}
	return effectAny
}

// IsEdit reports whether a built-in tool of the agent changes the one file that its input names.
func IsEdit(tool string) bool {
	return slices.Contains([]string{"Write", "Edit", "MultiEdit", "NotebookEdit", "Delete"}, tool)
}

// IsTask reports whether a tool starts a subagent.
func IsTask(tool string) bool { return tool == "Task" || tool == "Agent" }

// toolName truncates s before the first character that no tool name contains: models sometimes
// write half of a call into the name.
func toolName(s string) string {
	const longest = 128
	s = strings.TrimSpace(s)
	end := strings.IndexFunc(s, func(r rune) bool {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return false
		}
		return !strings.ContainsRune("_-.:/", r)
	})
	if end >= 0 {
		s = s[:end]
	}
	return s[:min(len(s), longest)]
}

// IsCommand reports whether a tool may write files without naming them, as a shell does. It is
// false for tools that start subagents.
func IsCommand(tool string) bool { return effectOf(tool) == effectAny && !IsTask(tool) }

// Subagent is a subagent started by a tool use, described by the input of the use.
type Subagent struct {
	ToolUse, ID, Type, Description string
}

// IsToolID reports whether s can be the id of a tool use or of a subagent: 1 to
// 128 letters, digits, dashes and underscores.
func IsToolID(s string) bool {
	const longest = 128
	return s != "" && len(s) <= longest && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '_' && r != '-'
	})
}
