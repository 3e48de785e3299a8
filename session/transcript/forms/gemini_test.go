package forms_test

import (
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/session/transcript/forms"
)

func TestGeminiLine(t *testing.T) {
	t.Parallel()
	const at = `"timestamp":"2026-11-22T13:18:48.412Z"`
	message := func(kind, rest string) string { return `{"id":"m1",` + at + `,"type":"` + kind + `",` + rest + `}` }
	const tokens = `"tokens":{"input":1200,"output":20,"cached":1000,"thoughts":5,"tool":0,"total":1225},"model":"g"`
	const answer = `{"type":"assistant","uuid":"m1",` + at + `,"message":{"id":"m1","model":"g","role":"assistant",` +
		`"usage":{"input_tokens":200,"cache_creation_input_tokens":0,"cache_read_input_tokens":1000,"output_tokens":25},"content":[`
	result := func(response string) string {
		return `"result":[{"functionResponse":{"id":"c1","response":` + response + `}}]`
	}
	tests := map[string]struct{ line, want string }{
		"header":          {`{"sessionId":"s1","projectHash":"h","startTime":"2026-11-22T13:18:46.041Z","kind":"main"}`, `{"type":"system","sessionId":"s1","timestamp":"2026-11-22T13:18:46.041Z"}`},
		"repeated":        {`{"$set":{"messages":[{"id":"m0","type":"user","content":"x"}]}}`, ""},
		"prompt":          {message("user", `"content":[{"text":"<hook_context>c</hook_context>\n\nWrite"}]`), `{"type":"user","uuid":"m1",` + at + `,"message":{"role":"user","content":[{"type":"text","text":"Write"}]}}`},
		"person's shell":  {message("user", `"content":[{"text":"I ran the following shell command:\n`+"```sh\\nls\\n```"+`\n\nThis produced the following result:\n"}]`), `{"type":"user","uuid":"m1",` + at + `,"message":{"role":"user","content":[{"type":"text","text":"<bash-input>ls</bash-input>"}]}}`},
		"context alone":   {message("user", `"content":[{"text":"<hook_context>c</hook_context>"}]`), ""},
		"the client's":    {message("user", `"content":[{"text":"<session_context>\nx</session_context>"}]`), ""},
		"results":         {message("user", `"content":[{"functionResponse":{"id":"c1"}}]`), ""},
		"notice":          {message("info", `"content":"Compressed."`), ""},
		"answer":          {message("gemini", `"content":"Done.",`+tokens), answer + `{"type":"text","text":"Done."}]}}`},
		"again with call": {message("gemini", `"content":"I will.",`+tokens+`,"toolCalls":[{"id":"c1","name":"write_file","args":{"file_path":"/p/a","content":"x"},"status":"success",`+result(`{"output":"ok"}`)+`}]`), answer + `{"type":"tool_use","id":"c1","name":"Write","input":{"file_path":"/p/a","content":"x"}},{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}}`},
		"timed":           {message("gemini", tokens+`,"toolCalls":[{"id":"c1","name":"write_file","args":{"file_path":"/p/a","content":"x"},"status":"success","timestamp":"2026-11-22T23:59:59.000Z",`+result(`{"output":"ok"}`)+`}]`), strings.Replace(answer, "2026-11-22T13:18:48.412Z", "2026-11-22T23:59:59.000Z", 1) + `{"type":"tool_use","id":"c1","name":"Write","input":{"file_path":"/p/a","content":"x"},"started_at":"2026-11-22T13:18:48.412Z"},{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}}`},
		"shell":           {message("gemini", tokens+`,"toolCalls":[{"id":"c1","name":"run_shell_command","args":{"command":"false"},"status":"success",`+result(`{"output":"<untrusted_context>\nOutput: no\nExit Code: 3\nProcess Group PGID: 1\n</untrusted_context>"}`)+`}]`), answer + `{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"false"}},{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"Exit code 3\nno"}]}}`},
		"failed":          {message("gemini", tokens+`,"toolCalls":[{"id":"c1","name":"replace","args":{"file_path":"/p/a"},"status":"error",`+result(`{"error":"no match"}`)+`}]`), answer + `{"type":"tool_use","id":"c1","name":"Edit","input":{"file_path":"/p/a"}},{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"no match"}]}}`},
		"damaged":         {`{"id":"m1",` + at + `,"type":"gemini","content":`, `{"id":"m1",` + at + `,"type":"gemini","content":`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := string(forms.Line([]byte(tt.line))); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if name != "damaged" && forms.Agent([]byte(tt.line)) != forms.GeminiCLI {
				t.Error("the agent isn't recognised")
			}
		})
	}
}
