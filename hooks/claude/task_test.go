package claude_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/strategy"
)

func TestPayloadTellsTheTask(t *testing.T) {
	t.Parallel()
	todos := `{"todos":[{"content":"a","status":"completed","activeForm":"A"}]}`
	for name, c := range map[string]struct {
		verb, text string
		want       strategy.TaskEvent
	}{
		"start": {
			"pre-task", `"tool_use_id":"t1","tool_input":{"description":"d","subagent_type":"dev","prompt":"p"}`,
			strategy.TaskEvent{ToolUse: "t1", Type: "dev", Description: "d"},
		},
		"started in the background": {
			"post-task", `"tool_use_id":"t1","tool_input":{"description":"d"},"tool_response":{"isAsync":true,"status":"async_launched","agentId":"a1"}`,
			strategy.TaskEvent{ToolUse: "t1", Description: "d", Agent: "a1", Background: true},
		},
		"end": {
			"post-task", `"tool_use_id":"t1","tool_response":{"status":"completed","agentId":"a1"}`,
			strategy.TaskEvent{ToolUse: "t1", Agent: "a1"},
		},
		"a response of another type": {
			"post-task", `"tool_use_id":"t1","tool_input":"x","tool_response":[{"type":"text"}]`, strategy.TaskEvent{ToolUse: "t1"},
		},
		"the subagent's end": {
			"subagent-stop", `"tool_use_id":"x","agent_id":"a1","agent_type":"dev","agent_transcript_path":"/etc/passwd"`, strategy.TaskEvent{Agent: "a1"},
		},
		"the end of a summary": {"subagent-stop", `"agent_id":"a1","agent_type":""`, strategy.TaskEvent{}},
		"a subagent's plan": {
			"post-todo", `"prompt_id":"p","agent_id":"a1","tool_use_id":"t9","tool_name":"TodoWrite","tool_input":` + todos,
			strategy.TaskEvent{Agent: "a1", Step: strategy.TaskStep{
				Tool: "TodoWrite", Todos: []checkpoint.Todo{{Content: "a", Status: "completed"}}, Input: json.RawMessage(todos),
			}},
		},
		"the main agent's plan": {"post-todo", `"prompt_id":"p","tool_name":"TodoWrite"`, strategy.TaskEvent{Step: strategy.TaskStep{Tool: "TodoWrite"}}},
		"an older agent's plan": {"post-todo", `"tool_name":"TodoWrite"`, strategy.TaskEvent{Unnamed: true, Step: strategy.TaskStep{Tool: "TodoWrite"}}},
		"another hook":          {"stop", `"tool_use_id":"t1","agent_id":"a1"`, strategy.TaskEvent{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := claude.Decode(t.Context(), strings.NewReader(`{"session_id":"s1",`+c.text+`}`))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, p.Task(c.verb)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
