package agenthook_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
)

// The calls of the agents' tools, in the forms in which the clients pass them to a hook.
func TestToolUse(t *testing.T) {
	t.Parallel()
	before := "alpha\n"
	for name, tt := range map[string]struct {
		agent   agent.Agent
		verb    string
		payload string
		want    savedcontext.ToolUse
	}{
		"Claude Code edits": {
			agent.ClaudeCode(), agenthook.PreTool,
			`{"session_id":"s","cwd":"/p","tool_name":"Edit","tool_input":{"file_path":"/p/a.txt","old_string":"a","new_string":"b"}}`,
			savedcontext.ToolUse{SessionID: "s", Paths: []string{"/p/a.txt"}},
		},
		"Claude Code edits a notebook in a subagent": {
			agent.ClaudeCode(), agenthook.PreTool,
			`{"session_id":"s","cwd":"/p","agent_id":"a1","tool_name":"NotebookEdit","tool_input":{"notebook_path":"n.ipynb","new_source":"x"}}`,
			savedcontext.ToolUse{SessionID: "s", Paths: []string{"/p/n.ipynb"}},
		},
		"Claude Code runs a command": {
			agent.ClaudeCode(), agenthook.PreTool,
			`{"session_id":"s","cwd":"/p","tool_name":"Bash","tool_input":{"command":"go test ./...","description":"x"}}`,
			savedcontext.ToolUse{SessionID: "s", Command: "go test ./..."},
		},
		"Copilot CLI edits": {
			agent.Copilot(), agenthook.PreTool,
			`{"sessionId":"s","timestamp":1,"cwd":"/p","toolName":"edit","toolArgs":{"path":"/p/a.txt","old_str":"alpha","new_str":"beta"}}`,
			savedcontext.ToolUse{SessionID: "s", Paths: []string{"/p/a.txt"}},
		},
		"Copilot CLI applies a patch in a subagent": {
			agent.Copilot(), agenthook.PreTool,
			`{"sessionId":"a1","agentId":"a1","parentAgentId":"s","cwd":"/p","toolName":"apply_patch","toolArgs":"*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+b\n*** Add File: c.txt\n+c\n*** Delete File: b.txt\n*** End Patch\n"}`,
			savedcontext.ToolUse{SessionID: "s", Paths: []string{"/p/a.txt", "/p/b.txt"}},
		},
		"Qwen Code has edited": {
			agent.Qwen(), agenthook.PostUse,
			`{"session_id":"s","cwd":"/p","tool_name":"edit","tool_input":{"file_path":"/p/a.txt"},"tool_response":{"llmContent":"x","returnDisplay":{"originalContent":"alpha\n","newContent":"beta\n"}}}`,
			savedcontext.ToolUse{SessionID: "s", Paths: []string{"/p/a.txt"}, Before: &before},
		},
		"Gemini CLI has run a command": {
			agent.Gemini(), agenthook.PostUse,
			`{"session_id":"s","cwd":"/p","tool_name":"run_shell_command","tool_input":{"command":"ls"},"tool_response":{"llmContent":"x","returnDisplay":"a.txt"}}`,
			savedcontext.ToolUse{SessionID: "s", Command: "ls"},
		},
		"an edit whose former content is lost": {
			agent.Gemini(), agenthook.PostUse,
			`{"session_id":"s","cwd":"/p","tool_name":"replace","tool_input":{"file_path":"/p/a.txt"},"tool_response":{"error":"no match"}}`,
			savedcontext.ToolUse{SessionID: "s"},
		},
		"OpenCode applies a patch": {
			agent.OpenCode(), agenthook.PreTool,
			`{"session_id":"s","cwd":"/p","tool_input":{"patchText":"*** Update File: a.txt\n"}}`,
			savedcontext.ToolUse{SessionID: "s", Paths: []string{"/p/a.txt"}},
		},
		"Pi writes": {
			agent.Pi(), agenthook.PreTool,
			`{"session_id":"s","cwd":"/p","tool_input":{"path":"a.txt","content":"x"}}`,
			savedcontext.ToolUse{SessionID: "s", Paths: []string{"/p/a.txt"}},
		},
		"an input of another form": {
			agent.ClaudeCode(), agenthook.PreTool, `{"session_id":"s","cwd":"/p","tool_name":"Edit","tool_input":[1]}`,
			savedcontext.ToolUse{SessionID: "s"},
		},
		"no input": {agent.ClaudeCode(), agenthook.PreTool, `{"session_id":"s"}`, savedcontext.ToolUse{SessionID: "s"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := agenthook.Hook{Agent: tt.agent, Verb: tt.verb}.Decode(t.Context(), strings.NewReader(tt.payload))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, p.ToolUse(tt.verb)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
