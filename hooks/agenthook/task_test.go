package agenthook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

func TestPayloadNamesTask(t *testing.T) {
	t.Parallel()
	todos := `{"todos":[{"content":"a","status":"completed","activeForm":"A"}]}`
	for name, c := range map[string]struct {
		verb, text string
		want       workspace.TaskEvent
	}{
		"start": {
			"pre-task", `"tool_use_id":"t1","tool_input":{"description":"d","subagent_type":"dev","prompt":"p"}`,
			workspace.TaskEvent{ToolUse: "t1", Type: "dev", Description: "d"},
		},
		"started in the background": {
			"post-task", `"tool_use_id":"t1","tool_input":{"description":"d"},"tool_response":{"isAsync":true,"status":"async_launched","agentId":"a1"}`,
			workspace.TaskEvent{ToolUse: "t1", Description: "d", Agent: "a1", Background: true},
		},
		"end": {
			"post-task", `"tool_use_id":"t1","tool_response":{"status":"completed","agentId":"a1"}`,
			workspace.TaskEvent{ToolUse: "t1", Agent: "a1"},
		},
		"a response of another type": {
			"post-task", `"tool_use_id":"t1","tool_input":"x","tool_response":[{"type":"text"}]`, workspace.TaskEvent{ToolUse: "t1"},
		},
		"the subagent's end": {
			"subagent-stop", `"tool_use_id":"x","agent_id":"a1","agent_type":"dev","agent_transcript_path":"/etc/passwd"`, workspace.TaskEvent{Agent: "a1"},
		},
		"the end of a summary": {"subagent-stop", `"agent_id":"a1","agent_type":""`, workspace.TaskEvent{}},
		"a subagent's plan": {
			"post-todo", `"prompt_id":"p","agent_id":"a1","tool_use_id":"t9","tool_name":"TodoWrite","tool_input":` + todos,
			workspace.TaskEvent{Agent: "a1", Step: workspace.TaskStep{
				Tool: "TodoWrite", Todos: []checkpoint.Todo{{Content: "a", Status: "completed"}}, Input: json.RawMessage(todos),
			}},
		},
		"the main agent's plan": {"post-todo", `"prompt_id":"p","tool_name":"TodoWrite"`, workspace.TaskEvent{Step: workspace.TaskStep{Tool: "TodoWrite"}}},
		"an older agent's plan": {"post-todo", `"tool_name":"TodoWrite"`, workspace.TaskEvent{Unnamed: true, Step: workspace.TaskStep{Tool: "TodoWrite"}}},
		"another hook":          {"stop", `"tool_use_id":"t1","agent_id":"a1"`, workspace.TaskEvent{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, err := agenthook.Hook{}.Decode(t.Context(), strings.NewReader(`{"session_id":"s1",`+c.text+`}`))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, p.Task(c.verb)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
