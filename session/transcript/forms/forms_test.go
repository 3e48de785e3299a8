package forms_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/session/transcript/forms"
)

func TestLine(t *testing.T) {
	t.Parallel()
	codex := func(kind, payload string) string {
		return `{"timestamp":"2026-11-22T13:11:29.421Z","ordinal":7,"type":"` + kind + `","payload":` + payload + `}`
	}
	item := func(item string) string {
		return codex("event_msg", `{"type":"item_completed","turn_id":"t1","item":`+item+`,"started_at_ms":1795353089420}`)
	}
	former := func(kind, payload string) string {
		return `{"timestamp":"2026-06-18T00:57:05.559Z","type":"` + kind + `","payload":` + payload + `}`
	}
	qwen := func(kind, rest string) string {
		return `{"uuid":"u1","parentUuid":null,"sessionId":"s1","timestamp":"2026-11-22T13:20:15.287Z","type":"` + kind + `","cwd":"/p","gitBranch":"main",` + rest + `}`
	}
	copilot := func(kind, data string) string {
		return `{"type":"` + kind + `","data":` + data + `,"id":"u1","timestamp":"2026-11-22T13:12:34.493Z","parentId":null}`
	}
	openCode := func(info, parts string) string {
		return `{"opencode":1,"timestamp":"2026-11-22T13:12:34.493Z","sessionId":"s1","cwd":"/p","message":{"info":{"id":"u1",` + info + `},"parts":[` + parts + `]}}`
	}
	openCodeTool := func(name, input, rest string) string {
		return `{"type":"tool","tool":"` + name + `","callID":"c1","state":{"input":` + input + `,` + rest + `,"time":{"start":1795353089420}}}`
	}
	const (
		openCodeHead = `"uuid":"u1","sessionId":"s1","timestamp":"2026-11-22T13:12:34.493Z","promptId":"p1","cwd":"/p",`

		copilotHead = `"uuid":"u1","timestamp":"2026-11-22T13:12:34.493Z"`

		head      = `"timestamp":"2026-11-22T13:11:29.421Z"`
		turn      = head + `,"promptId":"t1"`
		started   = `"started_at":"2026-11-22T13:11:29.42Z"`
		assistant = `"message":{"role":"assistant","content":`
		qwenHead  = `"uuid":"u1","sessionId":"s1","timestamp":"2026-11-22T13:20:15.287Z","cwd":"/p","gitBranch":"main"`
	)
	tests := map[string]struct{ line, want string }{
		"a line of Claude Code": {
			`{"parentUuid":null,"type":"user","message":{"role":"user","content":"hi"}}`,
			`{"parentUuid":null,"type":"user","message":{"role":"user","content":"hi"}}`,
		},
		"one of it that begins like Qwen Code's": {`{"uuid":"u","type":"user","message":{"content":"hi"}}`, `{"uuid":"u","type":"user","message":{"content":"hi"}}`},
		"nothing":                                {"", ""},
		"no JSON":                                {"{x", "{x"},
		"codex: session":                         {codex("session_meta", `{"id":"c2","session_id":"c1","cwd":"/p","git":{"branch":"main"}}`), `{"type":"system","subtype":"session_meta","uuid":"c2","sessionId":"c1",` + head + `,"cwd":"/p","gitBranch":"main"}`},
		"codex: turn":                            {codex("turn_context", `{"turn_id":"t1","cwd":"/p","model":"gpt-6"}`), `{"type":"assistant",` + turn + `,"cwd":"/p","message":{"model":"gpt-6","role":"assistant","content":[]}}`},
		"codex: world":                           {codex("world_state", `{"full":true}`), ""},
		"codex: running":                         {codex("response_item", `{"type":"function_call","name":"exec_command","call_id":"c","arguments":"{}"}`), `{"type":"assistant","timestamp":"2026-11-22T13:11:29.421Z","message":{"role":"assistant","content":[{"type":"tool_begun","id":"c","name":"exec_command"}]}}`},
		"codex: a script runs":                   {codex("response_item", `{"type":"custom_tool_call","name":"exec","call_id":"c","input":"text(1)"}`), `{"type":"assistant","timestamp":"2026-11-22T13:11:29.421Z","message":{"role":"assistant","content":[{"type":"tool_begun","id":"c","name":"exec"}]}}`},
		"codex: it has run":                      {codex("response_item", `{"type":"custom_tool_call_output","call_id":"c","output":[]}`), `{"type":"assistant","timestamp":"2026-11-22T13:11:29.421Z","message":{"role":"assistant","content":[{"type":"tool_ended","tool_use_id":"c"}]}}`},
		"codex: plan":                            {codex("response_item", `{"type":"function_call","name":"update_plan","call_id":"c","arguments":"{}"}`), ""},
		"codex: damaged":                         {`{"timestamp":"t","type":"event_msg","payload":{"type":`, `{"timestamp":"t","type":"event_msg","payload":{"type":`},
		"codex: half":                            {`{"timestamp":"t","type":"world_state","payload":{"a":`, `{"timestamp":"t","type":"world_state","payload":{"a":`},
		"codex: prompt":                          {item(`{"type":"UserMessage","id":"i1","content":[{"type":"text","text":"Write <it>"}]}`), `{"type":"user","uuid":"i1",` + turn + `,"message":{"role":"user","content":[{"type":"text","text":"Write <it>"}]}}`},
		"codex: a hook's":                        {item(`{"type":"HookPrompt","id":"i1","fragments":[]}`), ""},
		"codex: answer":                          {item(`{"type":"AgentMessage","id":"m1","content":[{"type":"Text","text":"Done."}]}`), `{"type":"assistant","uuid":"m1",` + turn + `,` + assistant + `[{"type":"text","text":"Done."}]}}`},
		"codex: interrupt":                       {codex("event_msg", `{"type":"turn_aborted","turn_id":"t1","reason":"interrupted"}`), `{"type":"user",` + turn + `,"message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}`},
		"codex: replaced":                        {codex("event_msg", `{"type":"turn_aborted","turn_id":"t1","reason":"replaced"}`), ""},
		"codex: command": {
			item(`{"type":"CommandExecution","id":"e1","command":["/bin/bash","-lc","make"],"cwd":"file:///my%20p","status":"failed","aggregated_output":"no","exit_code":2}`),
			`{"type":"assistant",` + turn + `,"cwd":"/my p",` + assistant + `[{"type":"tool_use","id":"e1","name":"Bash","input":{"command":"make"},` + started + `},{"type":"tool_result","tool_use_id":"e1","is_error":true,"content":"Exit code 2\nno"}]}}`,
		},
		"codex: files": {
			item(`{"type":"FileChange","id":"e1","status":"completed","stdout":"ok","changes":{"/p/b":{"type":"update","unified_diff":"@@ -1,2 +1,2 @@\n one\n-two\n+three\n","move_path":null},"/p/a":{"type":"add","content":"x\n"},"/p/c":{"type":"delete","content":"y"}}}`),
			`{"type":"assistant",` + turn + `,` + assistant + `[` +
				`{"type":"tool_use","id":"e1","name":"Write","input":{"file_path":"/p/a","content":"x\n"},` + started + `},{"type":"tool_result","tool_use_id":"e1","content":"ok"},` +
				`{"type":"tool_use","id":"e1-2","name":"MultiEdit","input":{"file_path":"/p/b","edits":[{"old_string":"one\ntwo\n","new_string":"one\nthree\n"}]},` + started + `},{"type":"tool_result","tool_use_id":"e1-2","content":"ok"},` +
				`{"type":"tool_use","id":"e1-3","name":"Delete","input":{"file_path":"/p/c"},` + started + `},{"type":"tool_result","tool_use_id":"e1-3","content":"ok"}]}}`,
		},
		"codex: moved": {
			item(`{"type":"FileChange","id":"e1","status":"declined","changes":{"/p/a":{"type":"update","unified_diff":"","move_path":"/p/b"}}}`),
			`{"type":"assistant",` + turn + `,` + assistant + `[` +
				`{"type":"tool_use","id":"e1","name":"Delete","input":{"file_path":"/p/a"},` + started + `},{"type":"tool_result","tool_use_id":"e1","is_error":true},` +
				`{"type":"tool_use","id":"e1-2","name":"MultiEdit","input":{"file_path":"/p/b"},` + started + `},{"type":"tool_result","tool_use_id":"e1-2","is_error":true}]}}`,
		},
		"codex: tokens": {
			codex("token_usage_record", `{"turn_id":"t1","response_id":"r1","usage":{"input_tokens":1200,"cached_input_tokens":1000,"cache_write_input_tokens":50,"output_tokens":20,"total_tokens":1220}}`),
			`{"type":"assistant",` + turn + `,"message":{"id":"r1","role":"assistant","usage":{"input_tokens":150,"cache_creation_input_tokens":50,"cache_read_input_tokens":1000,"output_tokens":20},"content":[]}}`,
		},
		"codex: sums": {codex("event_msg", `{"type":"token_count","info":{"total_token_usage":{"total_tokens":5},"last_token_usage":{"output_tokens":5}}}`), ""},
		"codex: subagent": {
			item(`{"type":"SubAgentActivity","id":"call_1","kind":"started","agent_thread_id":"a1","agent_path":"/root/lab"}`),
			`{"type":"assistant",` + turn + `,` + assistant + `[{"type":"tool_use","id":"call_1","name":"Task","input":{"description":"lab"},"started_at":"2026-11-22T13:11:29.42Z"},{"type":"tool_result","tool_use_id":"call_1"}]},"toolUseResult":{"isAsync":false,"agentId":"a1"}}`,
		},
		"codex: compact": {codex("compacted", `{"message":"So far."}`), `{"type":"user",` + head + `,"isCompactSummary":true,"message":{"role":"user","content":[{"type":"text","text":"So far."}]}}`},
		"codex 0.140: prompt": {
			former("event_msg", `{"type":"user_message","message":"do it","images":[]}`),
			`{"type":"user","timestamp":"2026-06-18T00:57:05.559Z","message":{"role":"user","content":[{"type":"text","text":"do it"}]}}`,
		},
		"codex 0.140: call": {
			former("response_item", `{"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"git fetch\"}","call_id":"c1"}`),
			`{"type":"assistant","timestamp":"2026-06-18T00:57:05.559Z",` + assistant + `[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"git fetch"}}]}}`,
		},
		"codex 0.140: result": {
			former("response_item", `{"type":"function_call_output","call_id":"c1","output":"Wall time: 1\nProcess exited with code 3\nOutput:\nno such remote"}`),
			`{"type":"user","timestamp":"2026-06-18T00:57:05.559Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"Exit code 3\nno such remote"}]}}`,
		},
		"codex 0.140: tokens": {
			former("event_msg", `{"type":"token_count","info":{"total_token_usage":{"total_tokens":90},"last_token_usage":{"input_tokens":40,"cached_input_tokens":30,"output_tokens":5}}}`),
			`{"type":"assistant","timestamp":"2026-06-18T00:57:05.559Z","message":{"id":"tokens-90","role":"assistant","usage":{"input_tokens":10,"cache_creation_input_tokens":0,"cache_read_input_tokens":30,"output_tokens":5},"content":[]}}`,
		},
		"codex 0.140: plan": {
			former("response_item", `{"type":"function_call","name":"update_plan","arguments":"{\"plan\":[{\"step\":\"look\",\"status\":\"in_progress\"}]}","call_id":"c1"}`),
			`{"type":"assistant","timestamp":"2026-06-18T00:57:05.559Z",` + assistant + `[{"type":"tool_use","id":"c1","name":"TodoWrite","input":{"todos":[{"content":"look","status":"in_progress"}]}}]}}`,
		},
		"codex 0.140: a person's shell": {
			former("response_item", `{"type":"message","role":"user","content":[{"type":"input_text","text":"<user_shell_command>\n<command>\nls\n</command>\n</user_shell_command>"}]}`),
			`{"type":"user","timestamp":"2026-06-18T00:57:05.559Z","message":{"role":"user","content":[{"type":"text","text":"<bash-input>ls</bash-input>"}]}}`,
		},
		"pi: a person's shell": {
			`{"type":"message","id":"u1","timestamp":"t","message":{"role":"bashExecution","command":"ls","output":"a","exitCode":0}}`,
			`{"type":"user","uuid":"u1","timestamp":"t","message":{"role":"user","content":[{"type":"text","text":"<bash-input>ls</bash-input>"}]}}`,
		},
		"codex: a person's shell": {
			item(`{"type":"CommandExecution","id":"e1","source":"userShell","command":["/bin/bash","-lc","ls"],"status":"completed","exit_code":0}`),
			`{"type":"user",` + turn + `,"message":{"role":"user","content":[{"type":"text","text":"<bash-input>ls</bash-input>"}]}}`,
		},
		"qwen: a person's shell": {
			qwen("user", `"message":{"role":"user","parts":[{"text":"I ran the following shell command:\n`+"```sh\\nls\\n```"+`\n\nThis produced the following result:\n"}]}`),
			`{"type":"user",` + qwenHead + `,"message":{"role":"user","content":[{"type":"text","text":"<bash-input>ls</bash-input>"}]}}`,
		},
		"pi: session without a version": {
			`{"type":"session","id":"s1","timestamp":"t","cwd":"/p","provider":"x"}`,
			`{"type":"system","subtype":"session_start","uuid":"s1","sessionId":"s1","timestamp":"t","cwd":"/p"}`,
		},
		"pi: prompt without an id": {
			`{"type":"message","timestamp":"t","message":{"role":"user","content":"Write it"}}`,
			`{"type":"user","timestamp":"t","message":{"role":"user","content":[{"type":"text","text":"Write it"}]}}`,
		},
		"pi: answer without an id": {
			`{"type":"message","timestamp":"t","message":{"role":"assistant","content":[{"type":"text","text":"Done."}],"usage":{"input":2,"output":3}}}`,
			`{"type":"assistant","timestamp":"t","message":{"id":"t","role":"assistant","usage":{"input_tokens":2,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":3},"content":[{"type":"text","text":"Done."}]}}`,
		},
		"copilot: session": {
			copilot("session.start", `{"sessionId":"s1","context":{"cwd":"/p","branch":"main"}}`),
			`{"type":"system","subtype":"session_start","uuid":"u1","sessionId":"s1","timestamp":"2026-11-22T13:12:34.493Z","cwd":"/p","gitBranch":"main"}`,
		},
		"copilot: prompt": {
			copilot("user.message", `{"content":"Write it","transformedContent":"<x>Write it"}`),
			`{"type":"user",` + copilotHead + `,"message":{"role":"user","content":[{"type":"text","text":"Write it"}]}}`,
		},
		"copilot: a subagent's prompt": {
			`{"type":"user.message","data":{"content":"Do it"},"agentId":"a1","id":"u1","timestamp":"t"}`,
			`{"type":"user","uuid":"u1","timestamp":"t","isSidechain":true,"agentId":"a1","message":{"role":"user","content":[{"type":"text","text":"Do it"}]}}`,
		},
		"copilot: answer": {
			copilot("assistant.message", `{"model":"gpt-4.1","content":"Now.","toolRequests":[{"toolCallId":"c1","name":"create","arguments":{"path":"/p/a","file_text":"x\n"}},{"toolCallId":"c2","name":"edit","arguments":{"path":"/p/b","old_str":"x","new_str":"y"}},{"toolCallId":"c3","name":"bash","arguments":{"command":"ls"}}]}`),
			`{"type":"assistant",` + copilotHead + `,"message":{"model":"gpt-4.1","role":"assistant","content":[{"type":"text","text":"Now."},` +
				`{"type":"tool_use","id":"c1","name":"Write","input":{"file_path":"/p/a","content":"x\n"}},` +
				`{"type":"tool_use","id":"c2","name":"MultiEdit","input":{"file_path":"/p/b","edits":[{"old_string":"x","new_string":"y"}]}},` +
				`{"type":"tool_use","id":"c3","name":"Bash","input":{"command":"ls"}}]}}`,
		},
		"copilot: patch": {
			copilot("assistant.message", `{"toolRequests":[{"toolCallId":"c1","name":"apply_patch","arguments":"*** Begin Patch\n*** Add File: /p/a\n+x\n*** Update File: /p/b\n@@\n-o\n+n\n*** Delete File: /p/c\n*** End Patch\n"}]}`),
			`{"type":"assistant",` + copilotHead + `,"message":{"role":"assistant","content":[` +
				`{"type":"tool_use","id":"c1","name":"Write","input":{"file_path":"/p/a","content":"x\n"}},` +
				`{"type":"tool_use","id":"c1-2","name":"MultiEdit","input":{"file_path":"/p/b","edits":[{"old_string":"o\n","new_string":"n\n"}]}},{"type":"tool_result","tool_use_id":"c1-2"},` +
				`{"type":"tool_use","id":"c1-3","name":"Delete","input":{"file_path":"/p/c"}},{"type":"tool_result","tool_use_id":"c1-3"}]}}`,
		},
		"copilot: failed command": {
			copilot("tool.execution_complete", `{"toolCallId":"c3","success":true,"result":{"content":"no rule\n<shellId: 0 completed with exit code 2>"},"shellExecution":{"exitCode":2}}`),
			`{"type":"user",` + copilotHead + `,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c3","is_error":true,"content":"Exit code 2\nno rule"}]}}`,
		},
		"copilot: refused": {
			copilot("tool.execution_complete", `{"toolCallId":"c3","success":false,"error":{"message":"denied","code":"denied"}}`),
			`{"type":"user",` + copilotHead + `,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c3","is_error":true,"content":"denied"}]}}`,
		},
		"copilot: tokens": {
			copilot("session.usage_record", `{"usage":{"model":"gpt-4.1","inputTokens":1200,"outputTokens":20,"cacheReadTokens":1000,"cacheWriteTokens":0,"apiCallId":"r1"}}`),
			`{"type":"assistant",` + copilotHead + `,"message":{"id":"r1","model":"gpt-4.1","role":"assistant","usage":{"input_tokens":200,"cache_creation_input_tokens":0,"cache_read_input_tokens":1000,"output_tokens":20},"content":[]}}`,
		},
		"copilot: compacted": {
			copilot("session.compaction_complete", `{"success":true,"summaryContent":"So far."}`),
			`{"type":"user",` + copilotHead + `,"isCompactSummary":true,"message":{"role":"user","content":[{"type":"text","text":"So far."}]}}`,
		},
		"copilot: a hook":         {copilot("hook.start", `{"input":{}}`), ""},
		"copilot: damaged":        {`{"type":"user.message","data":{"content":`, `{"type":"user.message","data":{"content":`},
		"progress of Claude Code": {`{"type":"progress","data":{"a":1}}`, `{"type":"progress","data":{"a":1}}`},
		"cursor: prompt": {
			`{"role":"user","message":{"content":[{"type":"text","text":"<context>x</context>\n<user_query>\nWrite it\n</user_query>"}]}}`,
			`{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Write it"}]}}`,
		},
		"cursor: answer": {
			`{"role":"assistant","message":{"content":[{"type":"text","text":"Now."},{"type":"tool_use","name":"Write","input":{"path":"/p/a","contents":"x"}},{"type":"tool_use","name":"StrReplace","input":{"path":"/p/b","old_string":"x","new_string":"y"}},{"type":"tool_use","name":"Shell","input":{"command":"ls"}}]}}`,
			`{"type":"assistant",` + assistant + `[{"type":"text","text":"Now."},` +
				`{"type":"tool_use","id":"cursor-ID-1","name":"Write","input":{"file_path":"/p/a","content":"x"}},{"type":"tool_result","tool_use_id":"cursor-ID-1"},` +
				`{"type":"tool_use","id":"cursor-ID-2","name":"MultiEdit","input":{"file_path":"/p/b","edits":[{"old_string":"x","new_string":"y"}]}},{"type":"tool_result","tool_use_id":"cursor-ID-2"},` +
				`{"type":"tool_use","id":"cursor-ID-3","name":"Bash","input":{"command":"ls"}},{"type":"tool_result","tool_use_id":"cursor-ID-3"}]}}`,
		},
		"cursor: another role": {`{"role":"system","message":{"content":[]}}`, ""},
		"cursor: damaged":      {`{"role":"user","message":{`, `{"role":"user","message":{`},
		"opencode: prompt": {
			openCode(`"role":"user","summary":{"diffs":[]}`, `{"type":"text","text":"\"Write \\\"it\\\"\""},{"type":"text","text":"a file","synthetic":true}`),
			`{"type":"user",` + strings.Replace(openCodeHead, "p1", "u1", 1) + `"message":{"role":"user","content":[{"type":"text","text":"Write \"it\""}]}}`,
		},
		"opencode: two texts in quotation marks": {
			openCode(`"role":"user"`, `{"type":"text","text":"\"a\" and \"b\""}`),
			`{"type":"user",` + strings.Replace(openCodeHead, "p1", "u1", 1) + `"message":{"role":"user","content":[{"type":"text","text":"\"a\" and \"b\""}]}}`,
		},
		"opencode: compaction": {
			openCode(`"role":"user"`, `{"type":"compaction","auto":false}`),
			`{"type":"system","subtype":"compact_boundary",` + strings.Replace(openCodeHead, `"promptId":"p1",`, "", 1)[:len(openCodeHead)-len(`"promptId":"p1",`)-1] + `}`,
		},
		"opencode: compacted": {
			openCode(`"role":"assistant","summary":true`, `{"type":"text","text":"So far."}`),
			`{"type":"user",` + strings.Replace(openCodeHead, `"promptId":"p1",`, "", 1) + `"isCompactSummary":true,"message":{"role":"user","content":[{"type":"text","text":"So far."}]}}`,
		},
		"opencode: answer": {
			openCode(`"role":"assistant","parentID":"p1","modelID":"m","tokens":{"input":200,"output":20,"reasoning":5,"cache":{"read":1000,"write":7}}`,
				`{"type":"step-start"},{"type":"text","text":"Now."},`+openCodeTool("write", `{"filePath":"/p/a","content":"x"}`, `"status":"completed","output":"ok"`)),
			`{"type":"assistant",` + openCodeHead + `"message":{"id":"u1","model":"m","role":"assistant","usage":{"input_tokens":200,"cache_creation_input_tokens":7,"cache_read_input_tokens":1000,"output_tokens":25},"content":[{"type":"text","text":"Now."},` +
				`{"type":"tool_use","id":"c1","name":"Write","input":{"file_path":"/p/a","content":"x"},` + started + `},{"type":"tool_result","tool_use_id":"c1","content":"ok"}]}}`,
		},
		"opencode: edit": {
			openCode(`"role":"assistant","parentID":"p1"`, openCodeTool("edit", `{"filePath":"/p/a","oldString":"x","newString":"y"}`, `"status":"error","error":"not found"`)),
			`{"type":"assistant",` + openCodeHead + assistant + `[{"type":"tool_use","id":"c1","name":"MultiEdit","input":{"file_path":"/p/a","edits":[{"old_string":"x","new_string":"y"}]},` + started + `},{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"not found"}]}}`,
		},
		"opencode: patch": {
			openCode(`"role":"assistant","parentID":"p1"`, openCodeTool("apply_patch", `{"patchText":"*** Begin Patch\n*** Add File: /p/a\n+x\n*** Delete File: /p/c\n*** End Patch\n"}`, `"status":"completed","output":"ok"`)),
			`{"type":"assistant",` + openCodeHead + assistant + `[{"type":"tool_use","id":"c1","name":"Write","input":{"file_path":"/p/a","content":"x\n"},` + started + `},{"type":"tool_result","tool_use_id":"c1","content":"ok"},` +
				`{"type":"tool_use","id":"c1-2","name":"Delete","input":{"file_path":"/p/c"},` + started + `},{"type":"tool_result","tool_use_id":"c1-2","content":"ok"}]}}`,
		},
		"opencode: failed command": {
			openCode(`"role":"assistant","parentID":"p1"`, openCodeTool("bash", `{"command":"make","description":"d"}`, `"status":"completed","output":"no rule","metadata":{"exit":2}`)),
			`{"type":"assistant",` + openCodeHead + assistant + `[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"make"},` + started + `},{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"Exit code 2\nno rule"}]}}`,
		},
		"opencode: a subagent's": {
			`{"opencode":1,"timestamp":"t","sessionId":"s1","agentId":"s2","message":{"info":{"id":"u1","role":"user"},"parts":[{"type":"text","text":"Do it"}]}}`,
			`{"type":"user","uuid":"u1","sessionId":"s1","timestamp":"t","promptId":"u1","isSidechain":true,"message":{"role":"user","content":[{"type":"text","text":"Do it"}]}}`,
		},
		"opencode: interrupt": {
			`{"opencode":1,"timestamp":"t","sessionId":"s1","aborted":"u1"}`,
			`{"type":"user","sessionId":"s1","timestamp":"t","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}`,
		},
		"opencode: another role": {openCode(`"role":"system"`, ``), ""},
		"opencode: damaged":      {`{"opencode":1,"message":{`, `{"opencode":1,"message":{`},
		"pi: session": {
			`{"type":"session","version":3,"id":"s1","timestamp":"t","cwd":"/p"}`,
			`{"type":"system","subtype":"session_start","uuid":"s1","sessionId":"s1","timestamp":"t","cwd":"/p"}`,
		},
		"pi: prompt": {
			`{"type":"message","id":"m1","parentId":null,"timestamp":"t","message":{"role":"user","content":"Write it"}}`,
			`{"type":"user","uuid":"m1","timestamp":"t","message":{"role":"user","content":[{"type":"text","text":"Write it"}]}}`,
		},
		"pi: answer": {
			`{"type":"message","id":"m2","parentId":"m1","timestamp":"t","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"Now."},{"type":"toolCall","id":"c1","name":"write","arguments":{"path":"a","content":"x"}},{"type":"toolCall","id":"c2","name":"edit","arguments":{"path":"b","edits":[{"oldText":"x","newText":"y"}]}},{"type":"toolCall","id":"c3","name":"edit","arguments":{"path":"b","oldText":"p","newText":"q"}}],"model":"m","usage":{"input":200,"output":20,"cacheRead":1000,"cacheWrite":5},"responseId":"r1"}}`,
			`{"type":"assistant","uuid":"m2","timestamp":"t","message":{"id":"r1","model":"m","role":"assistant","usage":{"input_tokens":200,"cache_creation_input_tokens":5,"cache_read_input_tokens":1000,"output_tokens":20},"content":[{"type":"text","text":"Now."},` +
				`{"type":"tool_use","id":"c1","name":"Write","input":{"file_path":"a","content":"x"}},` +
				`{"type":"tool_use","id":"c2","name":"MultiEdit","input":{"file_path":"b","edits":[{"old_string":"x","new_string":"y"}]}},` +
				`{"type":"tool_use","id":"c3","name":"MultiEdit","input":{"file_path":"b","edits":[{"old_string":"p","new_string":"q"}]}}]}}`,
		},
		"pi: failed command": {
			`{"type":"message","id":"m3","parentId":"m2","timestamp":"t","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"no rule\n\nCommand exited with code 2"}],"isError":true}}`,
			`{"type":"user","uuid":"m3","timestamp":"t","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"Exit code 2\nno rule"}]}}`,
		},
		"pi: compacted": {
			`{"type":"compaction","id":"k1","parentId":"m3","timestamp":"t","summary":"So far."}`,
			`{"type":"user","uuid":"k1","timestamp":"t","isCompactSummary":true,"message":{"role":"user","content":[{"type":"text","text":"So far."}]}}`,
		},
		"pi: model":   {`{"type":"model_change","id":"k1","parentId":null,"timestamp":"t","modelId":"m"}`, ""},
		"pi: damaged": {`{"type":"message","id":"m3","message":{`, `{"type":"message","id":"m3","message":{`},
		"qwen: prompt": {
			qwen("user", `"provenance":"real_user","message":{"role":"user","parts":[{"text":"Write it"}]}`),
			`{"type":"user",` + qwenHead + `,"origin":{"kind":"human"},"message":{"role":"user","content":[{"type":"text","text":"Write it"}]}}`,
		},
		"qwen: notice": {
			qwen("user", `"provenance":"system","message":{"role":"user","parts":[{"text":"<task-notification>"}]}`),
			`{"type":"user",` + qwenHead + `,"isMeta":true,"message":{"role":"user","content":[{"type":"text","text":"<task-notification>"}]}}`,
		},
		"qwen: answer": {
			qwen("assistant", `"model":"q3","message":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"Now."},{"functionCall":{"id":"c1","name":"run_shell_command","args":{"command":"ls","is_background":true}}}]},"usageMetadata":{"promptTokenCount":1200,"candidatesTokenCount":20,"totalTokenCount":1225,"cachedContentTokenCount":1000}`),
			`{"type":"assistant",` + qwenHead + `,"message":{"id":"u1","model":"q3","role":"assistant","usage":{"input_tokens":200,"cache_creation_input_tokens":0,"cache_read_input_tokens":1000,"output_tokens":25},"content":[{"type":"text","text":"Now."},{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"ls","run_in_background":true}}]}}`,
		},
		"qwen: edit": {
			qwen("assistant", `"message":{"parts":[{"functionCall":{"id":"c1","name":"edit","args":{"file_path":"/p/a","old_string":"x","new_string":"y"}}}]}`),
			`{"type":"assistant",` + qwenHead + `,` + assistant + `[{"type":"tool_use","id":"c1","name":"Edit","input":{"file_path":"/p/a","old_string":"x","new_string":"y"}}]}}`,
		},
		"qwen: failed command": {
			qwen("tool_result", `"message":{"parts":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":"Command: make\nDirectory: (root)\nOutput: no rule\nError: (none)\nExit Code: 2\nSignal: (none)"}}}]},"toolCallResult":{"status":"success"}`),
			`{"type":"user",` + qwenHead + `,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"Exit code 2\nno rule"}]}}`,
		},
		"qwen: refused": {
			qwen("tool_result", `"message":{"parts":[{"functionResponse":{"id":"c1","name":"edit","response":{"error":"not found"}}}]}`),
			`{"type":"user",` + qwenHead + `,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":"not found"}]}}`,
		},
		"qwen: subagent": {
			qwen("tool_result", `"message":{"parts":[{"functionResponse":{"id":"c1","name":"agent","response":{"output":"Background agent launched successfully.\ntask_id: a1 (internal)"}}}]}`),
			`{"type":"user",` + qwenHead + `,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"Background agent launched successfully.\ntask_id: a1 (internal)"}]},"toolUseResult":{"isAsync":true,"agentId":"a1"}}`,
		},
		"qwen: telemetry": {qwen("system", `"subtype":"ui_telemetry","systemPayload":{}`), ""},
		"qwen: compressed": {
			qwen("system", `"subtype":"chat_compression","systemPayload":{"compressedHistory":[{"role":"user","parts":[{"text":"So far."}]}]}`),
			`{"type":"user",` + qwenHead + `,"isCompactSummary":true,"message":{"role":"user","content":[{"type":"text","text":"So far."}]}}`,
		},
		"qwen: damaged": {`{"uuid":"u1","message":{"parts":[`, `{"uuid":"u1","message":{"parts":[`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The ids of Cursor's calls are derived from the line.
			got := regexp.MustCompile(`cursor-[0-9a-z]+-`).ReplaceAllString(string(forms.Line([]byte(tt.line))), "cursor-ID-")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRecorded reads recorded sessions of the genuine clients; ENTIRE_SAMPLES names their
// folder.
func TestRecorded(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, agent string
		want           recorded
	}{
		{"codex/1-write-shell/session/codex/sessions/*/*/*/*.jsonl", forms.Codex, recorded{
			Prompts:  []string{"Write two pages in docs and name them in the readme", "Add one more line to made.txt and commit"},
			Edits:    []string{"/home/dev/project/docs/start.md", "/home/dev/project/docs/end.md", "/home/dev/project/README.md"},
			Commands: 3, Input: 1400, CacheRead: 7000, Output: 140,
		}},
		{"copilot/1-write-shell/session/copilot/session-state/*/events.jsonl", forms.CopilotCLI, recorded{
			Prompts:  []string{"Write two pages in docs and name them in the readme", "Add one more line to made.txt and commit"},
			Edits:    []string{"/home/dev/project/docs/start.md", "/home/dev/project/docs/end.md", "/home/dev/project/README.md"},
			Commands: 2, Input: 1400, CacheRead: 7000, Output: 140,
		}},
		{"pi/1-write-shell/session/pi/agent/sessions/*/*.jsonl", forms.PiAgent, recorded{
			Prompts:  []string{"Write two pages in docs and name them in the readme", "Add one more line to made.txt and commit"},
			Edits:    []string{"/home/dev/project/docs/start.md", "/home/dev/project/docs/end.md", "/home/dev/project/README.md"},
			Commands: 2, Input: 1400, CacheRead: 7000, Output: 140,
		}},
		{"gemini/1-write-shell/session/gemini/tmp/*/chats/*.jsonl", forms.GeminiCLI, recorded{
			Prompts:  []string{"Write two pages in docs and name them in the readme", "Add one more line to made.txt and commit"},
			Edits:    []string{"/home/dev/project/docs/start.md", "/home/dev/project/docs/end.md", "/home/dev/project/README.md"},
			Commands: 2, Input: 1400, CacheRead: 7000, Output: 140,
		}},
		{"qwen/1-write-shell/session/qwen/projects/*/chats/*.jsonl", forms.QwenCode, recorded{
			Prompts:  []string{"Write two pages in docs and name them in the readme", "Add one more line to made.txt and commit"},
			Edits:    []string{"/home/dev/project/docs/start.md", "/home/dev/project/docs/end.md", "/home/dev/project/README.md"},
			Commands: 2, Input: 1400, CacheRead: 7000, Output: 140,
		}},
	} {
		t.Run(tt.agent, func(t *testing.T) {
			t.Parallel()
			files, err := filepath.Glob(filepath.Join(os.Getenv("ENTIRE_SAMPLES"), filepath.FromSlash(tt.pattern)))
			if err != nil || len(files) == 0 {
				t.Skip("ENTIRE_SAMPLES names no recorded sessions")
			}
			path := plain(t, files[0])
			if diff := cmp.Diff(tt.want, readRecorded(t, path)); diff != "" {
				t.Error(diff)
			}
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := transcript.Agent("", data); got != tt.agent {
				t.Errorf("recognised as %q", got)
			}
		})
	}
}

type recorded struct {
	Prompts, Edits           []string
	Commands                 int
	Input, CacheRead, Output int64
}

func readRecorded(t *testing.T, path string) (got recorded) {
	t.Helper()
	scan, err := transcript.Read(t.Context(), path, transcript.Cursor{})
	if err != nil {
		t.Fatal(err)
	}
	if scan.Bad != 0 {
		t.Errorf("%d lines are bad", scan.Bad)
	}
	for _, p := range scan.Prompts {
		got.Prompts = append(got.Prompts, p.Text)
	}
	for _, e := range scan.Edits {
		got.Edits = append(got.Edits, e.Path)
		if e.Start.IsZero() || e.End.IsZero() {
			t.Errorf("the edit of %s has no times", e.Path)
		}
	}
	for _, c := range scan.Calls {
		if c.Tool == "Bash" && !c.Open {
			got.Commands++
		}
	}
	for _, m := range scan.Messages {
		got.Input, got.CacheRead, got.Output = got.Input+m.Usage.Input, got.CacheRead+m.Usage.CacheRead, got.Output+m.Usage.Output
	}
	return got
}

// plain returns the lines of a file as the client writes them, without spaces between tokens.
func plain(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var b strings.Builder
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, err := json.Marshal(json.RawMessage(lines.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(data, '\n'))
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func FuzzLine(f *testing.F) {
	f.Add([]byte(`{"timestamp":"t","ordinal":1,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"FileChange","id":"x","changes":{"/a":{"type":"update","unified_diff":"@@\n-a\n+b"}}}}}`))
	f.Add([]byte(`{"timestamp":"t","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{\"command\":[\"a\"]}"}}`))
	f.Add([]byte(`{"type":"assistant.message","data":{"toolRequests":[{"toolCallId":"c","name":"apply_patch","arguments":"*** Update File: a\n@@\n-x\n*** Move to: b"}]}}`))
	f.Add([]byte(`{"uuid":"u","type":"assistant","message":{"parts":[{"functionCall":{"id":"c","name":"run_shell_command","args":1}}]}}`))
	f.Add([]byte(`{"uuid":"u","type":"tool_result","message":{"parts":[{"functionResponse":{"response":{"output":"\nOutput: x\nError: \nExit Code: 1"}}}]}}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		got := forms.Line(line)
		switch {
		case forms.Agent(line) == "" && string(got) != string(line):
			t.Errorf("a line of no other agent became %q", got)
		case json.Valid(line) && len(got) > 0 && !json.Valid(got):
			t.Errorf("became %q", got)
		case strings.ContainsRune(string(got), '\n') && !strings.ContainsRune(string(line), '\n'):
			t.Errorf("became two lines: %q", got)
		}
	})
}

func BenchmarkLine(b *testing.B) {
	for name, line := range map[string]string{
		"Claude Code": `{"parentUuid":"a","isSidechain":false,"type":"user","message":{"role":"user","content":"` + strings.Repeat("word ", 100) + `"}}`,
		"Codex":       `{"timestamp":"2026-11-22T13:11:29.421Z","ordinal":7,"type":"event_msg","payload":{"type":"item_completed","turn_id":"t1","item":{"type":"AgentMessage","id":"m1","content":[{"type":"Text","text":"` + strings.Repeat("word ", 100) + `"}]}}}`,
		"Qwen Code":   `{"uuid":"u1","sessionId":"s1","type":"assistant","message":{"role":"model","parts":[{"text":"` + strings.Repeat("word ", 100) + `"}]}}`,
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				forms.Line([]byte(line))
			}
		})
	}
}
