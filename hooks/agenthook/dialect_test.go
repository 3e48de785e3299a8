package agenthook_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

func TestInstallOfOtherAgents(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		agent         agent.Agent
		before, after string
		hooks         int
	}{
		"codex: no file": {
			agent: agent.Codex(), hooks: 7,
			after: `{"hooks":{` +
				`"SessionStart":[{"hooks":[{"type":"command","command":"entire hooks codex session-start 2>/dev/null || true"}]}],` +
				`"SessionEnd":[{"hooks":[{"type":"command","command":"entire hooks codex session-end 2>/dev/null || true","timeout":3}]}],` +
				`"Stop":[{"hooks":[{"type":"command","command":"entire hooks codex stop 2>/dev/null || true"}]}],` +
				`"Interrupt":[{"hooks":[{"type":"command","command":"entire hooks codex stop-failure 2>/dev/null || true","timeout":3}]}],` +
				`"UserPromptSubmit":[{"hooks":[{"type":"command","command":"entire hooks codex user-prompt-submit 2>/dev/null || true"}]}],` +
				`"PreCompact":[{"hooks":[{"type":"command","command":"entire hooks codex pre-compact 2>/dev/null || true"}]}],` +
				`"PostCompact":[{"hooks":[{"type":"command","command":"entire hooks codex post-compact 2>/dev/null || true"}]}]}}`,
		},
		"copilot: no file": {
			agent: agent.Copilot(), hooks: 6,
			after: `{"version":1,"hooks":{` +
				`"sessionStart":[{"type":"command","bash":"entire hooks copilot session-start 2>/dev/null || true"}],` +
				`"sessionEnd":[{"type":"command","bash":"entire hooks copilot session-end 2>/dev/null || true","timeoutSec":10}],` +
				`"agentStop":[{"type":"command","bash":"entire hooks copilot stop 2>/dev/null || true"}],` +
				`"userPromptSubmitted":[{"type":"command","bash":"entire hooks copilot user-prompt-submit 2>/dev/null || true"}],` +
				`"preToolUse":[{"type":"command","bash":"entire hooks copilot pre-tool 2>/dev/null || true","timeoutSec":5,"matcher":"edit|create|apply_patch|bash"}],` +
				`"preCompact":[{"type":"command","bash":"entire hooks copilot pre-compact 2>/dev/null || true"}]}}`,
		},
		"copilot: a hook of the user": {
			agent: agent.Copilot(), hooks: 6,
			before: `{"version":1,"hooks":{"agentStop":[{"type":"command","bash":"mine"}]}}`,
			after: `{"version":1,"hooks":{"agentStop":[{"type":"command","bash":"mine"},` +
				`{"type":"command","bash":"entire hooks copilot stop 2>/dev/null || true"}],` +
				`"sessionStart":[{"type":"command","bash":"entire hooks copilot session-start 2>/dev/null || true"}],` +
				`"sessionEnd":[{"type":"command","bash":"entire hooks copilot session-end 2>/dev/null || true","timeoutSec":10}],` +
				`"userPromptSubmitted":[{"type":"command","bash":"entire hooks copilot user-prompt-submit 2>/dev/null || true"}],` +
				`"preToolUse":[{"type":"command","bash":"entire hooks copilot pre-tool 2>/dev/null || true","timeoutSec":5,"matcher":"edit|create|apply_patch|bash"}],` +
				`"preCompact":[{"type":"command","bash":"entire hooks copilot pre-compact 2>/dev/null || true"}]}}`,
		},
		"gemini: no file": {
			agent: agent.Gemini(), hooks: 7,
			after: `{"hooks":{` +
				`"SessionStart":[{"hooks":[{"name":"entire session-start","type":"command","command":"entire hooks gemini session-start 2>/dev/null || true"}]}],` +
				`"SessionEnd":[{"hooks":[{"name":"entire session-end","type":"command","command":"entire hooks gemini session-end 2>/dev/null || true","timeout":10000}]}],` +
				`"BeforeAgent":[{"hooks":[{"name":"entire before-agent","type":"command","command":"entire hooks gemini before-agent 2>/dev/null || true"}]}],` +
				`"AfterAgent":[{"hooks":[{"name":"entire after-agent","type":"command","command":"entire hooks gemini after-agent 2>/dev/null || true"}]}],` +
				`"AfterTool":[{"matcher":"run_shell_command","hooks":[{"name":"entire after-tool","type":"command","command":"entire hooks gemini after-tool 2>/dev/null || true"}]},` +
				`{"matcher":"write_file|replace|run_shell_command","hooks":[{"name":"entire post-use","type":"command","command":"entire hooks gemini post-use 2>/dev/null || true","timeout":5000}]}],` +
				`"PreCompress":[{"matcher":"manual","hooks":[{"name":"entire pre-compress","type":"command","command":"entire hooks gemini pre-compress 2>/dev/null || true"}]}]}}`,
		},
		"qwen: hooks and settings of the user": {
			agent: agent.Qwen(), hooks: 12,
			before: `{"theme":"x","hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}`,
			after: `{"theme":"x","hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]},` +
				`{"hooks":[{"type":"command","command":"entire hooks qwen stop 2>/dev/null || true"}]}],` +
				`"SessionStart":[{"hooks":[{"type":"command","command":"entire hooks qwen session-start 2>/dev/null || true"}]}],` +
				`"SessionEnd":[{"hooks":[{"type":"command","command":"entire hooks qwen session-end 2>/dev/null || true","timeout":10}]}],` +
				`"StopFailure":[{"hooks":[{"type":"command","command":"entire hooks qwen stop-failure 2>/dev/null || true"}]}],` +
				`"UserPromptSubmit":[{"hooks":[{"type":"command","command":"entire hooks qwen user-prompt-submit 2>/dev/null || true"}]}],` +
				`"PreToolUse":[{"matcher":"agent|task","hooks":[{"type":"command","command":"entire hooks qwen pre-task 2>/dev/null || true"}]}],` +
				`"PostToolUse":[{"matcher":"agent|task","hooks":[{"type":"command","command":"entire hooks qwen post-task 2>/dev/null || true"}]},` +
				`{"matcher":"todo_write","hooks":[{"type":"command","command":"entire hooks qwen post-todo 2>/dev/null || true"}]},` +
				`{"matcher":"edit|write_file|notebook_edit|run_shell_command","hooks":[{"type":"command","command":"entire hooks qwen post-use 2>/dev/null || true","timeout":5}]}],` +
				`"SubagentStop":[{"hooks":[{"type":"command","command":"entire hooks qwen subagent-stop 2>/dev/null || true"}]}],` +
				`"PreCompact":[{"hooks":[{"type":"command","command":"entire hooks qwen pre-compact 2>/dev/null || true"}]}],` +
				`"PostCompact":[{"hooks":[{"type":"command","command":"entire hooks qwen post-compact 2>/dev/null || true"}]}]}}`,
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			s := agenthook.Settings{Agent: tt.agent, Path: agenthook.Files(tt.agent, root)[0], Backup: filepath.Join(root, ".git", "entire")}
			if tt.before != "" {
				write(t, s.Path, tt.before)
			}
			if n, changed := install(t, s); n != tt.hooks || !changed {
				t.Errorf("%d hooks, changed %v", n, changed)
			}
			if diff := cmp.Diff(value(t, tt.after), value(t, read(t, s.Path))); diff != "" {
				t.Error(diff)
			}
			first := read(t, s.Path)
			if _, changed := install(t, s); changed || read(t, s.Path) != first {
				t.Error("the second installation changed the file, which costs Codex's user another consent")
			}
			uninstall(t, s)
			if _, err := os.Stat(s.Path); tt.before == "" && err == nil {
				t.Error("the file is left")
			} else if tt.before != "" && read(t, s.Path) != tt.before {
				t.Errorf("left %s", read(t, s.Path))
			}
		})
	}
}

func TestPlugin(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	s := agenthook.Settings{Agent: agent.Pi(), Path: agenthook.Files(agent.Pi(), root)[0], Backup: filepath.Join(root, ".git", "entire")}
	if n, missing, err := s.Check(); n != 0 || len(missing) != 1 || err != nil {
		t.Errorf("before: %d, %q, %v", n, missing, err)
	}
	if n, changed := install(t, s); n != 7 || !changed {
		t.Errorf("%d hooks, changed %v", n, changed)
	}
	write(t, s.Path, "// Installed by `entire enable`. An older version.")
	if _, changed := install(t, s); !changed {
		t.Error("an older plugin stays")
	}
	if _, changed := install(t, s); changed {
		t.Error("the same plugin is written again")
	}
	if n, missing, err := s.Check(); n != 7 || len(missing) != 0 || err != nil {
		t.Errorf("installed: %d, %q, %v", n, missing, err)
	}
	uninstall(t, s)
	if _, err := os.Stat(filepath.Join(root, ".pi")); err == nil {
		t.Error("the folder is left")
	}
	write(t, s.Path, "export default () => {}")
	if _, _, err := s.Install(); err == nil {
		t.Error("another program's file was replaced")
	}
	uninstall(t, s)
	if read(t, s.Path) != "export default () => {}" {
		t.Error("another program's file was removed")
	}
}

func TestDecodeForOtherAgents(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		agent      agent.Agent
		verb, json string
		want       bool
		prompt     string
		background int
		task       workspace.TaskEvent
	}{
		"codex: prompt":               {agent: agent.Codex(), verb: "user-prompt-submit", json: `"prompt":"p","turn_id":"t"`, want: true, prompt: "p"},
		"codex: a subagent's prompt":  {agent: agent.Codex(), verb: "user-prompt-submit", json: `"prompt":"p","agent_id":"a"`, prompt: "p"},
		"codex: a subagent's start":   {agent: agent.Codex(), verb: "session-start", json: `"agent_id":"a"`},
		"codex: stop":                 {agent: agent.Codex(), verb: "stop", json: `"last_assistant_message":"m"`, want: true},
		"qwen: typed":                 {agent: agent.Qwen(), verb: "user-prompt-submit", json: `"prompt":"expanded","submitted_prompt":"typed"`, want: true, prompt: "typed"},
		"qwen: after tools":           {agent: agent.Qwen(), verb: "user-prompt-submit", json: `"prompt":""`},
		"qwen: without the new field": {agent: agent.Qwen(), verb: "user-prompt-submit", json: `"prompt":"p"`, want: true, prompt: "p"},
		"qwen: tasks at a stop":       {agent: agent.Qwen(), verb: "stop", json: `"background_tasks":[{"status":"running"},{"status":"completed"}]`, want: true, background: 1},
		"qwen: call": {
			agent: agent.Qwen(), verb: "pre-task", want: true,
			json: `"tool_use_id":"toolu_1","tool_call_id":"call_1","tool_input":{"subagent_type":"general","description":"d"}`,
			task: workspace.TaskEvent{ToolUse: "call_1", Type: "general", Description: "d"},
		},
		"qwen: in the background": {
			agent: agent.Qwen(), verb: "post-task", want: true,
			json: `"tool_call_id":"call_1","tool_response":{"llmContent":"Background agent launched successfully."}`,
			task: workspace.TaskEvent{ToolUse: "call_1", Background: true},
		},
		"copilot: prompt":            {agent: agent.Copilot(), verb: "user-prompt-submit", json: `"prompt":"p"`, want: true, prompt: "p"},
		"copilot: a subagent's stop": {agent: agent.Copilot(), verb: "stop", json: `"agentId":"a","parentAgentId":"s1"`},
		"gemini: context in front":   {agent: agent.Gemini(), verb: "user-prompt-submit", json: `"prompt":"<hook_context>c</hook_context>\n\nWrite"`, want: true, prompt: "Write"},
		"gemini: context alone":      {agent: agent.Gemini(), verb: "user-prompt-submit", json: `"prompt":"<hook_context>c</hook_context>"`},
		"gemini: the client's own":   {agent: agent.Gemini(), verb: "user-prompt-submit", json: `"prompt":"[System: You successfully executed a tool but"`, prompt: "[System: You successfully executed a tool but"},
		"gemini: each request":       {agent: agent.Gemini(), verb: "pre-compact", json: `"trigger":"auto"`},
		"gemini: compression":        {agent: agent.Gemini(), verb: "pre-compact", json: `"trigger":"manual"`, want: true},
		"claude: as it is":           {agent: agent.ClaudeCode(), verb: "user-prompt-submit", json: `"prompt":"","submitted_prompt":"x"`, want: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := agenthook.Hook{Agent: tt.agent, Verb: tt.verb}.Decode(t.Context(), strings.NewReader(`{"session_id":"s1",`+tt.json+`}`))
			if err != nil {
				t.Fatal(err)
			}
			if p.Ignored == tt.want || p.Prompt != tt.prompt || len(p.Background) != tt.background {
				t.Errorf("ignored %v, prompt %q, %d tasks", p.Ignored, p.Prompt, len(p.Background))
			}
			if diff := cmp.Diff(tt.task, p.Task(tt.verb)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAwaitTranscript(t *testing.T) {
	t.Parallel()
	const lines, call = `{"type":"assistant.message"}` + "\n", `{"type":"hook.start","data":{"input":{"timestamp":1795353155030}}}` + "\n"
	path := filepath.Join(t.TempDir(), "events.jsonl")
	write(t, path, lines)
	p, err := agenthook.Hook{Agent: agent.Copilot(), Verb: "stop"}.Decode(t.Context(), strings.NewReader(`{"sessionId":"s1","timestamp":1795353155030,"transcriptPath":"`+path+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := os.WriteFile(path, []byte(lines+call), 0o600); err != nil {
			t.Error(err)
		}
	}()
	p.AwaitTranscript(t.Context(), agent.Copilot())
	if got := read(t, path); !strings.HasSuffix(got, call) {
		t.Errorf("it did not wait for the call: %s", got)
	}
	<-done
}

func TestIsForeign(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		agent agent.Agent
		env   map[string]string
		want  bool
	}{
		"Claude Code's own":             {agent: agent.ClaudeCode()},
		"run by Copilot":                {agent: agent.ClaudeCode(), env: map[string]string{"COPILOT_CLI": "1"}, want: true},
		"Claude Code in Copilot's":      {agent: agent.ClaudeCode(), env: map[string]string{"COPILOT_CLI": "1", "CLAUDECODE": "1"}},
		"Codex started in Copilot's":    {agent: agent.Codex(), env: map[string]string{"COPILOT_CLI": "1"}},
		"the zero agent is Claude Code": {env: map[string]string{"COPILOT_CLI": "1"}, want: true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := agenthook.IsForeign(tt.agent, func(name string) string { return tt.env[name] }); got != tt.want {
				t.Error(got)
			}
		})
	}
}

func TestEncodeForOtherAgents(t *testing.T) {
	t.Parallel()
	a := agenthook.Answer{Event: "SessionStart", Message: "hello", Context: "the brief"}
	for _, tt := range []struct {
		agent agent.Agent
		want  string
	}{
		{agent.Codex(), `{"hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"the brief"}}` + "\n"},
		{agent.Copilot(), `{"additionalContext":"the brief"}` + "\n"},
		{agent.Pi(), `{"additionalContext":"the brief"}` + "\n"},
		{agent.Qwen(), `{"systemMessage":"hello","hookSpecificOutput":{"hookEventName":"SessionStart","additionalContext":"the brief"}}` + "\n"},
	} {
		got, err := a.Encode(tt.agent)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v", tt.agent.Name, got, err)
		}
	}
	message := agenthook.Answer{Message: "hello"}
	if got, err := message.Encode(agent.Codex()); err != nil || got != nil {
		t.Errorf("a message alone: %s, %v", got, err)
	}
}

func TestTrust(t *testing.T) {
	t.Parallel()
	const seven = `
[hooks.state."/p/.codex/hooks.json:stop:0:0"]
trusted_hash = "sha256:1"
[hooks.state."/p/.codex/hooks.json:session_start:0:0"]
[hooks.state."/p/.codex/hooks.json:session_end:0:0"]
[hooks.state."/p/.codex/hooks.json:interrupt:0:0"]
[hooks.state."/p/.codex/hooks.json:user_prompt_submit:0:0"]
[hooks.state."/p/.codex/hooks.json:pre_compact:0:0"]
[hooks.state."/p/.codex/hooks.json:post_compact:0:0"]
`
	tests := map[string]struct {
		agent        agent.Agent
		user         bool
		file, config string
		want         agenthook.Trust
	}{
		"copilot: the user's":   {agent: agent.Copilot(), user: true, want: agenthook.TrustUnknown},
		"gemini: the user's":    {agent: agent.Gemini(), user: true, want: agenthook.TrustUnknown},
		"codex: the user's":     {agent: agent.Codex(), user: true, want: agenthook.Untrusted},
		"codex: all":            {agent: agent.Codex(), file: "config.toml", config: seven, want: agenthook.Trusted},
		"codex: not all":        {agent: agent.Codex(), file: "config.toml", config: strings.Replace(seven, ":stop:", ".x:", 1), want: agenthook.Untrusted},
		"codex: no file":        {agent: agent.Codex(), want: agenthook.Untrusted},
		"copilot: a parent":     {agent: agent.Copilot(), file: "config.json", config: `{"trusted_folders":["/"]}`, want: agenthook.Trusted},
		"copilot: another":      {agent: agent.Copilot(), file: "config.json", config: `{"trusted_folders":["/q","/p/sub"]}`, want: agenthook.Untrusted},
		"gemini: the folder":    {agent: agent.Gemini(), file: "trustedFolders.json", config: `{"/p":"TRUST_FOLDER"}`, want: agenthook.Trusted},
		"gemini: the parent":    {agent: agent.Gemini(), file: "trustedFolders.json", config: `{"/x/y":"TRUST_PARENT","/p/z":"TRUST_PARENT"}`, want: agenthook.Trusted},
		"gemini: refused":       {agent: agent.Gemini(), file: "trustedFolders.json", config: `{"/":"TRUST_FOLDER","/p":"DO_NOT_TRUST"}`, want: agenthook.Untrusted},
		"copilot: no JSON":      {agent: agent.Copilot(), file: "config.json", config: `{`, want: agenthook.Untrusted},
		"claude: asks itself":   {agent: agent.ClaudeCode(), want: agenthook.TrustUnknown},
		"qwen: asks of nothing": {agent: agent.Qwen(), want: agenthook.TrustUnknown},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			if tt.file != "" {
				write(t, filepath.Join(home, tt.file), tt.config)
			}
			s := agenthook.Settings{Agent: tt.agent, Path: "/p/.codex/hooks.json", User: tt.user}
			if got := s.Trust("/p", home); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}
