package main

import (
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/session/agent"
)

// agentForm describes the hooks and the transcript of another agent than Claude Code.
type agentForm struct {
	agent agent.Agent
	// verbs are the agent's names of hooks that differ from ours.
	verbs map[string]string
	// first returns the first line of a transcript.
	first func(id, dir string) string
	// prompt, said and call return the lines of a prompt, of a reply, and of a tool call; its input
	// has the members of Claude Code's tool.
	prompt, said func(w *writer, text string) string
	call         func(w *writer, name, input, result string) string
	// payload returns additional members for the hooks; nil if there are none.
	payload func(p *play) testkit.Object
}

// agentForms returns the forms of the agents that write transcript files themselves.
func agentForms() []agentForm {
	return []agentForm{codexForm(), copilotForm(), geminiForm(), piForm(), qwenForm()}
}

// agents plays the same turns with Claude Code and with each other agent.
func agents(b *bench, rows []*row) {
	for i, f := range agentForms() {
		dir := b.enabled(smallRepo(), "agent-"+f.agent.Name)
		testkit.Call{Dir: dir, Env: b.env, Name: b.bin, Args: []string{"enable", "--agent", f.agent.Name}}.Must(b)
		b.git(dir, "add", "-A")
		b.git(dir, "-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "enable "+f.agent.Label)
		other := b.newPlay(dir, shortTalk)
		other.as = &f
		other.begin(shortTalk)
		const each = 3 // rows per agent
		b.compare(b.newPlay(b.enabled(smallRepo(), "claude-beside-"+f.agent.Name), shortTalk), other, rows[i*each:(i+1)*each])
	}
}

func (w *writer) stamp() string { return w.now().UTC().Format("2006-01-02T15:04:05.000Z") }

func codexForm() agentForm {
	line := func(w *writer, kind, payload string) string {
		return fmt.Sprintf(`{"timestamp":"%s","ordinal":%d,"type":"%s","payload":%s}`+"\n", w.stamp(), w.rng.IntN(1000), kind, payload)
	}
	item := func(w *writer, item string) string {
		return line(w, "event_msg", `{"type":"item_completed","turn_id":"t1","item":`+item+`}`)
	}
	return agentForm{
		agent: agent.Codex(),
		first: func(id, dir string) string {
			return `{"timestamp":"2026-01-01T00:00:00Z","ordinal":0,"type":"session_meta","payload":{"id":"` + id + `","session_id":"` + id + `","cwd":"` + dir + `"}}`
		},
		prompt: func(w *writer, text string) string {
			return item(w, `{"type":"UserMessage","id":"`+w.hex(12)+`","content":[{"type":"text","text":"`+text+`"}]}`)
		},
		said: func(w *writer, text string) string {
			return item(w, `{"type":"AgentMessage","id":"`+w.hex(12)+`","content":[{"type":"Text","text":"`+text+`"}]}`) +
				line(w, "token_usage_record", `{"turn_id":"t1","response_id":"`+w.hex(12)+`","usage":{"input_tokens":1200,"cached_input_tokens":1000,"output_tokens":20}}`)
		},
		call: func(w *writer, name, input, result string) string {
			if name == "Edit" {
				path, _, _ := strings.Cut(strings.TrimPrefix(input, `"file_path":"`), `"`)
				return item(w, `{"type":"FileChange","id":"`+w.hex(12)+`","status":"completed","changes":{"`+path+`":{"type":"update","unified_diff":"@@ -1 +1 @@\n-`+
					strings.ReplaceAll(result, `\n`, `\n-`)+`"}}}`)
			}
			return item(w, `{"type":"CommandExecution","id":"`+w.hex(12)+`","command":["/bin/bash","-lc","ls"],"status":"completed","aggregated_output":"`+result+`","exit_code":0}`)
		},
	}
}

func copilotForm() agentForm {
	line := func(w *writer, kind, data string) string {
		return `{"type":"` + kind + `","data":` + data + `,"id":"` + w.hex(12) + `","timestamp":"` + w.stamp() + `","parentId":null}` + "\n"
	}
	return agentForm{
		agent: agent.Copilot(),
		first: func(id, dir string) string {
			return `{"type":"session.start","data":{"sessionId":"` + id + `","context":{"cwd":"` + dir + `","branch":"main"}},"id":"0","timestamp":"2026-01-01T00:00:00Z"}`
		},
		prompt: func(w *writer, text string) string { return line(w, "user.message", `{"content":"`+text+`"}`) },
		said: func(w *writer, text string) string {
			return line(w, "session.usage_record", `{"usage":{"model":"m","inputTokens":1200,"outputTokens":20,"cacheReadTokens":1000,"apiCallId":"`+w.hex(12)+`"}}`) +
				line(w, "assistant.message", `{"model":"m","content":"`+text+`","toolRequests":[]}`)
		},
		call: func(w *writer, name, input, result string) string {
			id := w.hex(12)
			tool := map[string]string{"Edit": "edit", "Read": "view", "Bash": "bash"}[name]
			input = strings.NewReplacer(`"file_path"`, `"path"`, `"old_string"`, `"old_str"`, `"new_string"`, `"new_str"`).Replace(input)
			return line(w, "assistant.message", `{"model":"m","content":"","toolRequests":[{"toolCallId":"`+id+`","name":"`+tool+`","arguments":{`+input+`}}]}`) +
				line(w, "tool.execution_complete", `{"toolCallId":"`+id+`","success":true,"result":{"content":"`+result+`"}}`)
		},
		payload: func(p *play) testkit.Object { return testkit.Object{"sessionId", p.id, "transcriptPath", p.transcript} },
	}
}

func geminiForm() agentForm {
	line := func(w *writer, kind, rest string) string {
		return `{"id":"` + w.hex(12) + `","timestamp":"` + w.stamp() + `","type":"` + kind + `",` + rest + "}\n"
	}
	const spent = `"model":"m","tokens":{"input":1200,"output":20,"cached":1000,"thoughts":0,"tool":0,"total":1220}`
	return agentForm{
		agent: agent.Gemini(),
		verbs: map[string]string{"user-prompt-submit": "before-agent", "stop": "after-agent"},
		first: func(id, _ string) string {
			return `{"sessionId":"` + id + `","projectHash":"h","startTime":"2026-01-01T00:00:00Z","lastUpdated":"2026-01-01T00:00:00Z","kind":"main"}`
		},
		prompt: func(w *writer, text string) string { return line(w, "user", `"content":[{"text":"`+text+`"}]`) },
		said:   func(w *writer, text string) string { return line(w, "gemini", `"content":"`+text+`",`+spent) },
		call: func(w *writer, name, input, result string) string {
			id, tool := w.hex(12), geminiName(name)
			return line(w, "gemini", `"content":"",`+spent+`,"toolCalls":[{"id":"`+id+`","name":"`+tool+`","args":{`+input+`},"result":[{"functionResponse":{"id":"`+id+
				`","name":"`+tool+`","response":{"output":"`+result+`"}}}],"status":"success"}]`)
		},
	}
}

// geminiName returns the name of a tool in Gemini CLI and Qwen Code.
func geminiName(name string) string {
	return map[string]string{"Edit": "replace", "Read": "read_file", "Bash": "run_shell_command"}[name]
}

func piForm() agentForm {
	message := func(w *writer, message string) string {
		return `{"type":"message","id":"` + w.hex(8) + `","parentId":null,"timestamp":"` + w.stamp() + `","message":` + message + "}\n"
	}
	return agentForm{
		agent: agent.Pi(),
		first: func(id, dir string) string {
			return `{"type":"session","version":3,"id":"` + id + `","timestamp":"2026-01-01T00:00:00Z","cwd":"` + dir + `"}`
		},
		prompt: func(w *writer, text string) string {
			return message(w, `{"role":"user","content":[{"type":"text","text":"`+text+`"}]}`)
		},
		said: func(w *writer, text string) string {
			return message(w, `{"role":"assistant","content":[{"type":"text","text":"`+text+`"}],"model":"m","usage":{"input":200,"output":20,"cacheRead":1000},"responseId":"`+w.hex(12)+`"}`)
		},
		call: func(w *writer, name, input, result string) string {
			id, tool := w.hex(12), strings.ToLower(name)
			input = strings.NewReplacer(`"file_path"`, `"path"`, `"old_string"`, `"oldText"`, `"new_string"`, `"newText"`).Replace(input)
			return message(w, `{"role":"assistant","content":[{"type":"toolCall","id":"`+id+`","name":"`+tool+`","arguments":{`+input+`}}],"model":"m"}`) +
				message(w, `{"role":"toolResult","toolCallId":"`+id+`","toolName":"`+tool+`","content":[{"type":"text","text":"`+result+`"}],"isError":false}`)
		},
	}
}

func qwenForm() agentForm {
	line := func(w *writer, kind, rest string) string {
		return `{"uuid":"` + w.hex(12) + `","parentUuid":null,"sessionId":"` + w.session + `","timestamp":"` + w.stamp() + `","type":"` + kind +
			`","cwd":"` + w.cwd + `","gitBranch":"main",` + rest + "}\n"
	}
	const usage = `"usageMetadata":{"promptTokenCount":1200,"candidatesTokenCount":20,"totalTokenCount":1220,"cachedContentTokenCount":1000}`
	return agentForm{
		agent: agent.Qwen(),
		first: func(id, dir string) string {
			return `{"uuid":"0","sessionId":"` + id + `","timestamp":"2026-01-01T00:00:00Z","type":"system","cwd":"` + dir + `","systemPayload":{}}`
		},
		prompt: func(w *writer, text string) string {
			return line(w, "user", `"provenance":"real_user","message":{"role":"user","parts":[{"text":"`+text+`"}]}`)
		},
		said: func(w *writer, text string) string {
			return line(w, "assistant", `"model":"m","message":{"role":"model","parts":[{"text":"`+text+`"}]},`+usage)
		},
		call: func(w *writer, name, input, result string) string {
			id, tool := w.hex(12), geminiName(name)
			return line(w, "assistant", `"model":"m","message":{"role":"model","parts":[{"functionCall":{"id":"`+id+`","name":"`+tool+`","args":{`+input+`}}}]},`+usage) +
				line(w, "tool_result", `"message":{"role":"user","parts":[{"functionResponse":{"id":"`+id+`","name":"`+tool+`","response":{"output":"`+result+
					`"}}}]},"toolCallResult":{"callId":"`+id+`","status":"success"}`)
		},
	}
}
