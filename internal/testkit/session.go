package testkit

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Session plays Claude Code in a repository: it writes a transcript, changes files, and calls the
// hooks with the payloads and the environment of the real client. After every hook it checks that
// the user's index and worktree are unchanged.
type Session struct {
	TB         TB
	Repo       *Repo
	ID         string
	Cwd        string // the agent's working directory
	Project    string // where the client was started
	Transcript *Transcript

	// Installed runs the commands in .claude/settings*.json instead of calling the binary directly.
	Installed bool
	// Lag delays the last answer in the transcript until after Stop's hook.
	Lag bool
	// Shared is set if other processes change the same worktree: it can't be compared before and
	// after a hook.
	Shared bool
	// Deaf is set if no hooks are called.
	Deaf bool
	// PID is the client's process id, "" for no variable.
	PID string
	// Background are the names of tasks that still run when the turn stops.
	Background []string
	// Extra is added to the environment of hooks and commands.
	Extra Env
	// SessionDir replaces the agent's session directory; "" is the one in HOME.
	SessionDir string
	// Meanwhile is called once, after the next call was written to the transcript and before it
	// has an effect.
	Meanwhile func()
	// Cut is set if the transcript lacks the result of the next call.
	Cut bool

	turn int
	// command is the number of commands typed to the client itself.
	command int
	last    string
	agent   *agentProcess
}

// NewSession makes a session that has not started yet. The id is derived from the name. sessionDir
// is the agent's session directory, "" for the one in HOME.
func NewSession(repo *Repo, name, sessionDir string) *Session {
	repo.TB.Helper()
	id := UUID("session", name)
	s := &Session{TB: repo.TB, Repo: repo, ID: id, Cwd: repo.Dir, Project: repo.Dir, SessionDir: sessionDir}
	dir := sessionDir
	if dir == "" {
		dir = filepath.Join(repo.Env.Get("HOME"), ".claude", "projects", Slug(repo.Dir))
	}
	s.Transcript = &Transcript{
		tb: repo.TB, Path: filepath.Join(dir, id+".jsonl"), session: id, cwd: repo.Dir, Usage: map[string]Usage{},
	}
	return s
}

// For moves the session to another test.
func (s *Session) For(tb TB) *Session {
	s.TB, s.Transcript.tb = tb, tb
	s.Repo = s.Repo.For(tb)
	return s
}

// Start plays SessionStart; source is startup, resume, clear or compact.
func (s *Session) Start(source string) Result {
	s.TB.Helper()
	return s.Hook("session-start", append(s.common("SessionStart"), "source", source, "model", "claude-opus-5-5"))
}

// Prompt plays a prompt of the user: the hook first, then the line.
func (s *Session) Prompt(text string) Result {
	s.TB.Helper()
	return s.prompt(text, "human")
}

// Notify plays a prompt that the client generates.
func (s *Session) Notify(text string) Result {
	s.TB.Helper()
	return s.prompt(text, "task-notification")
}

func (s *Session) prompt(text, origin string) Result {
	s.TB.Helper()
	s.turn++
	s.last = ""
	s.Transcript.prompt = UUID(s.ID, "prompt", s.turn)
	result := s.Hook("user-prompt-submit", append(s.common("UserPromptSubmit"), "prompt", text))
	s.Transcript.user(text, origin)
	return result
}

// Calls plays the hook before a call of a tool that names a file or a command, of a subagent if
// subagent isn't empty.
func (s *Session) Calls(tool, input, subagent string) Result {
	s.TB.Helper()
	call := Object{"file_path", s.path(input)}
	if tool == "Bash" {
		call = Object{"command", input}
	}
	payload := append(s.common("PreToolUse"), "tool_name", tool, "tool_use_id", "toolu_call", "tool_input", call)
	if subagent != "" {
		payload = append(payload, "agent_id", subagent, "agent_type", "general-purpose")
	}
	return s.Hook("pre-tool", payload)
}

// Write plays the Write tool.
func (s *Session) Write(path, content string) {
	s.TB.Helper()
	file := s.path(path)
	old, err := os.ReadFile(file)
	kind, original := "update", any(string(old))
	if err != nil {
		kind, original = "create", nil
	}
	tool := s.call("Write", Object{"file_path", file, "content", content})
	writeFile(s.TB, file, content)
	s.result(tool, "File "+kind+"d successfully at: "+file, Object{
		"type", kind, "filePath", file, "content", content, "structuredPatch", patch(string(old), content), "originalFile", original, "userModified", false,
	})
}

// Edit plays the Edit tool; old must be in the file.
func (s *Session) Edit(path, old, text string) {
	s.TB.Helper()
	file := s.path(path)
	data, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(data), old) {
		s.TB.Fatalf("edit %s: %q isn't in it (%v)", path, old, err)
	}
	tool := s.call("Edit", Object{"replace_all", false, "file_path", file, "old_string", old, "new_string", text})
	edited := strings.Replace(string(data), old, text, 1)
	writeFile(s.TB, file, edited)
	s.result(tool, "The file "+file+" has been updated successfully.", Object{
		"filePath", file, "oldString", old, "newString", text, "originalFile", string(data),
		"structuredPatch",
		patch(string(data), edited),
		"userModified", false, "replaceAll", false,
	})
}

// Refuse plays an Edit that the user refuses: the file stays as it is.
func (s *Session) Refuse(path, old, text string) {
	s.TB.Helper()
	tool := s.call("Edit", Object{"replace_all", false, "file_path", s.path(path), "old_string", old, "new_string", text})
	s.Transcript.toolEnd(tool, "The user doesn't want to proceed with this tool use. The tool use was rejected "+
		"(eg. if it was a file edit, the new_string was NOT written to the file).", true, "User rejected tool use")
}

// Show plays the Read tool.
func (s *Session) Show(path string) {
	s.TB.Helper()
	file := s.path(path)
	data, err := os.ReadFile(file)
	if err != nil {
		s.TB.Fatalf("read: %v", err)
	}
	tool := s.call("Read", Object{"file_path", file})
	lines := splitLines(string(data))
	var shown strings.Builder
	for i, line := range lines {
		shown.WriteString(strconv.Itoa(i+1) + "\t" + line + "\n")
	}
	s.result(tool, shown.String(), Object{
		"type", "text", "file",
		Object{"filePath", file, "content", string(data), "numLines", len(lines), "startLine", 1, "totalLines", len(lines)},
	})
}

// call writes a call to the transcript.
func (s *Session) call(name string, input Object) (tool string) {
	tool = s.Transcript.toolUse(name, input)
	if meanwhile := s.Meanwhile; meanwhile != nil {
		s.Meanwhile = nil
		meanwhile()
	}
	return tool
}

// result writes the result of a call.
func (s *Session) result(tool, text string, result any) {
	if !s.Cut {
		s.Transcript.toolResult(tool, text, result)
	}
	s.Cut = false
}

// Bash plays the Bash tool: the command runs in the agent's environment, without a terminal.
func (s *Session) Bash(command string) Result {
	s.TB.Helper()
	tool := s.call("Bash", Object{"command", command, "description", "Run a command"})
	result := Call{Dir: s.Cwd, Env: s.AgentEnv(), Name: "bash", Args: []string{"-c", command}}.Run(s.TB)
	if result.Code != 0 {
		s.Transcript.toolError(tool, "Exit code "+strconv.Itoa(result.Code)+"\n"+result.Stdout+result.Stderr)
		return result
	}
	s.result(tool, result.Stdout, Object{
		"stdout", result.Stdout, "stderr", result.Stderr, "interrupted", false, "isImage", false, "noOutputExpected", false,
	})
	return result
}

// Ran plays the Bash tool without running the command, which printed output.
func (s *Session) Ran(command, output string) {
	s.TB.Helper()
	s.result(s.call("Bash", Object{"command", command, "description", "Run a command"}), output, Object{
		"stdout", output, "stderr", "", "interrupted", false, "isImage", false, "noOutputExpected", false,
	})
}

// Say plays an answer without a tool.
func (s *Session) Say(text string) {
	s.TB.Helper()
	if s.last != "" {
		s.Transcript.text(s.last)
	}
	s.last = text
}

// Stop ends the turn.
func (s *Session) Stop() Result {
	s.TB.Helper()
	if s.last == "" {
		s.last = "Done."
	}
	if !s.Lag {
		s.Transcript.text(s.last)
	}
	tasks := make([]any, 0, len(s.Background))
	for _, name := range s.Background {
		tasks = append(tasks, Object{"id", name, "type", "subagent", "status", "running", "description", name, "agent_type", "general-purpose"})
	}
	result := s.Hook("stop", append(s.common("Stop"),
		"stop_hook_active", false, "last_assistant_message", s.last, "background_tasks", tasks, "session_crons", []any{}))
	if s.Lag {
		s.Transcript.text(s.last)
	}
	s.last = ""
	s.Transcript.system("stop_hook_summary", Object{"hookCount", 1, "hookErrors", []any{}, "preventedContinuation", false})
	s.Transcript.system("turn_duration", Object{"durationMs", 1200, "messageCount", s.Transcript.count})
	return result
}

// Interrupt plays Esc: the client writes a line, and calls no hook.
func (s *Session) Interrupt() {
	s.TB.Helper()
	s.last = ""
	s.Transcript.interrupted()
}

// Fail plays StopFailure: an error of the service ends the turn.
func (s *Session) Fail() Result {
	s.TB.Helper()
	s.last = ""
	return s.Hook("stop-failure", append(s.common("StopFailure"), "error", "overloaded", "last_assistant_message", "API Error"))
}

// End plays SessionEnd. A command that the user typed has a prompt id of its own; the reason "plan"
// is a clear caused by accepting a plan, and has the turn's.
func (s *Session) End(reason string) Result {
	s.TB.Helper()
	if reason == "plan" {
		return s.Hook("session-end", append(s.common("SessionEnd"), "reason", "clear"))
	}
	s.command++
	payload := Object{
		"session_id", s.ID, "transcript_path", s.Transcript.Path, "cwd", s.Cwd,
		"prompt_id", UUID(s.ID, "command", s.command), "hook_event_name", "SessionEnd", "reason", reason,
	}
	return s.Hook("session-end", payload)
}

// Again plays the same SessionEnd again, as for a second handler.
func (s *Session) Again(reason string) Result {
	s.TB.Helper()
	s.command--
	return s.End(reason)
}

// Brief plays the second handler of SessionStart.
func (s *Session) Brief(source string) Result {
	s.TB.Helper()
	return s.Hook("session-brief", append(s.common("SessionStart"), "source", source))
}

// Compact plays a compaction: the hook before it, a SessionStart, and the hook after it, with the
// summary.
func (s *Session) Compact(summary string) Result {
	s.TB.Helper()
	s.Hook("pre-compact", append(s.common("PreCompact"), "trigger", "manual", "custom_instructions", nil))
	s.Transcript.system("compact_boundary", Object{"compactMetadata", Object{"trigger", "manual", "preTokens", 1000}})
	result := s.Start("compact")
	s.Hook("post-compact", append(s.common("PostCompact"), "trigger", "manual", "compact_summary", summary))
	return result
}

// common returns the members that every payload begins with.
func (s *Session) common(event string) Object {
	payload := Object{"session_id", s.ID, "transcript_path", s.Transcript.Path, "cwd", s.Cwd}
	if s.turn > 0 {
		payload = append(payload, "prompt_id", UUID(s.ID, "prompt", s.turn))
	}
	if event == "UserPromptSubmit" || event == "Stop" {
		payload = append(payload, "permission_mode", "acceptEdits")
	}
	if event == "Stop" {
		payload = append(payload, "effort", Object{"level", "medium"})
	}
	return append(payload, "hook_event_name", event)
}

// AgentEnv returns the environment of processes that the agent starts.
func (s *Session) AgentEnv() Env {
	env := s.Repo.Env.With(
		"CLAUDECODE=1", "CLAUDE_CODE_SESSION_ID="+s.ID, "CLAUDE_CODE_ENTRYPOINT=cli",
		"CLAUDE_PROJECT_DIR="+s.Project, "ENTIRE_TEST_TTY=0",
	)
	if s.PID != "" {
		env = env.With("CLAUDE_PID=" + s.PID)
	}
	return env.With(s.Extra...)
}

// HookEnv returns the environment of a hook.
func (s *Session) HookEnv() Env {
	env := s.AgentEnv()
	if s.SessionDir != "" {
		env = env.With("ENTIRE_TEST_CLAUDE_PROJECT_DIR=" + s.SessionDir)
	}
	return env
}

func (s *Session) path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(s.Cwd, path)
}
