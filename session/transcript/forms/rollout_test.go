package forms_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session/transcript/forms"
)

func TestRollout(t *testing.T) {
	t.Parallel()
	const at = `"timestamp":"2026-02-01T10:00:01.000Z"`
	item := func(payload string) string { return `{` + at + `,"type":"response_item","payload":` + payload + `}` }
	message := func(role, text string) string {
		return item(`{"type":"message","role":"` + role + `","content":[{"type":"input_text","text":"` + text + `"}]}`)
	}
	person := func(text string) string {
		return `{"type":"user",` + at + `,"message":{"role":"user","content":[{"type":"text","text":"` + text + `"}]}}`
	}
	agent := func(blocks string) string {
		return `{"type":"assistant",` + at + `,"message":{"role":"assistant","content":[` + blocks + `]}}`
	}
	output := func(rest string) string {
		return `{"type":"user",` + at + `,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"k1"` + rest + `}]}}`
	}
	tests := map[string]struct{ line, want string }{
		"session":        {`{` + at + `,"type":"session_meta","payload":{"id":"c1","cwd":"/p"}}`, `{"type":"system","subtype":"session_meta","uuid":"c1","sessionId":"c1",` + at + `,"cwd":"/p"}`},
		"prompt":         {message("user", "Add a page"), person("Add a page")},
		"environment":    {message("user", "<environment_context>\\n</environment_context>"), ""},
		"instructions":   {message("user", "# AGENTS.md instructions for /p\\n\\nx"), ""},
		"developer":      {message("developer", "<permissions instructions>"), ""},
		"interrupted":    {message("user", "<turn_aborted>\\nx</turn_aborted>"), person("[Request interrupted by user]")},
		"person's shell": {message("user", "<user_shell_command>\\n<command>\\nls -l\\n</command>\\n<result>\\nx\\n</result>\\n</user_shell_command>"), person("<bash-input>ls -l</bash-input>")},
		"answer":         {message("assistant", "Done."), agent(`{"type":"text","text":"Done."}`)},
		"reasoning":      {item(`{"type":"reasoning","summary":[]}`), ""},
		"shell":          {item(`{"type":"function_call","name":"shell","arguments":"{\"command\":[\"bash\",\"-lc\",\"ls\"]}","call_id":"k1"}`), agent(`{"type":"tool_use","id":"k1","name":"Bash","input":{"command":"ls"}}`)},
		"local shell":    {item(`{"type":"local_shell_call","call_id":"k1","action":{"type":"exec","command":["bash","-lc","ls"]}}`), agent(`{"type":"tool_use","id":"k1","name":"Bash","input":{"command":"ls"}}`)},
		"output":         {item(`{"type":"function_call_output","call_id":"k1","output":"a"}`), output(`,"content":"a"`)},
		"early output":   {item(`{"type":"function_call_output","call_id":"k1","output":"{\"output\":\"no\",\"metadata\":{\"exit_code\":2}}"}`), output(`,"is_error":true,"content":"Exit code 2\nno"`)},
		"patch":          {item(`{"type":"custom_tool_call","name":"apply_patch","call_id":"k1","input":"*** Begin Patch\n*** Add File: a\n+x\n*** End Patch"}`), agent(`{"type":"tool_use","id":"k1","name":"Write","input":{"file_path":"a","content":"x\n"}}`)},
		"patch's result": {item(`{"type":"custom_tool_call_output","call_id":"k1","output":"ok"}`), output(`,"content":"ok"`)},
		"numbered":       {`{` + at + `,"ordinal":3,"type":"response_item","payload":{"type":"function_call","name":"view","arguments":"{}","call_id":"k1"}}`, agent(`{"type":"tool_use","id":"k1","name":"view","input":{}}`)},
		"damaged":        {`{` + at + `,"type":"response_item","payload":{`, `{` + at + `,"type":"response_item","payload":{`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines, ok := forms.Rollout([]byte(message("user", "x") + "\n" + tt.line + "\n"))
			if !ok || len(lines) != 2 {
				t.Fatalf("%v, %q", ok, lines)
			}
			if diff := cmp.Diff(tt.want, string(lines[1])); diff != "" {
				t.Error(diff)
			}
		})
	}
	others := map[string]string{
		"events of messages": message("user", "x") + "\n" + `{` + at + `,"type":"event_msg","payload":{"type":"user_message","message":"x"}}`,
		"completed items":    message("user", "x") + "\n" + `{` + at + `,"type":"event_msg","payload":{"type": "item_completed","item":{}}}`,
		"no messages":        item(`{"type":"reasoning"}`),
		"another agent":      `{"type":"user","message":{"content":"x"}}`,
		"nothing":            "",
	}
	for name, text := range others {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if lines, ok := forms.Rollout([]byte(text)); ok {
				t.Errorf("read: %q", lines)
			}
		})
	}
	quoted := message("user", strings.ReplaceAll(`{"type":"user_message"}`, `"`, `\"`))
	if _, ok := forms.Rollout([]byte(quoted)); !ok {
		t.Error("a quoted event is taken for one")
	}
}
