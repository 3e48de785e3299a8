package transcript_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/redact/forgotten"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// TestQuotesAreMasked checks that all quotes of a file in a transcript are masked, that
// everything else stays, and that lines stay valid and keep their length where required.
func TestQuotesAreMasked(t *testing.T) {
	t.Parallel()
	salt := []byte("salt")
	var marks []byte
	forgotten.LineKeys([]byte("\n\tlong walrus line \"one\"\nshort\n----------------\n"), func(key string) {
		marks = append(marks, forgotten.MarkLine(salt, key)...)
	})
	if len(marks) != forgotten.LineMarkLen {
		t.Fatalf("%d bytes of marks", len(marks))
	}
	for name, c := range map[string]struct{ lines, kept string }{
		"read": {
			lines: `{"cwd":"/other/repo/sub","message":{"content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/other/repo/conf/a.txt"}}]}}
{"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"1\u2192SECRET"}]},"toolUseResult":{"type":"text","file":{"filePath":"/other/repo/conf/a.txt","content":"SECRET","numLines":1}}}`,
			kept: `"t1" "Read" "/other/repo/conf/a.txt" "tool_result"`,
		},
		"result alone, by its structure": {
			lines: `{"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"1\u2192SECRET"}]},"toolUseResult":{"type":"text","file":{"filePath":"/repo/conf/a.txt","content":"SECRET"}}}`,
		},
		"edits": {
			lines: `{"message":{"content":[{"type":"tool_use","id":"t2","name":"MultiEdit","input":{"edits":[{"old_string":"SECRET","new_string":"SECRET"}],"file_path":"/repo/conf/a.txt"}}]}}
{"message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"SECRET"}]}]},"toolUseResult":{"filePath":"/repo/conf/a.txt","originalFile":"SECRET","structuredPatch":[{"oldStart":1,"lines":["-SECRET","+SECRET"]}]}}`,
			kept: `"oldStart":1`,
		},
		"notebook":   {lines: `{"tool_input":{"notebook_path":"/repo/conf/a.txt","new_source":"SECRET","cell_id":"c7"}}`, kept: `"c7"`},
		"attachment": {lines: `{"type":"attachment","attachment":{"type":"edited_text_file","filename":"/repo/conf/a.txt","snippet":"SECRET"}}`},
		"error": {
			lines: `{"message":{"content":[{"type":"tool_use","id":"t3","name":"Read","input":{"file_path":"conf/a.txt"}}]}}
{"message":{"content":[{"type":"tool_result","tool_use_id":"t3","content":"no"}]},"toolUseResult":"Error: SECRET"}`,
		},
		"commands": {
			lines: `{"message":{"content":[{"type":"tool_use","id":"t4","name":"Bash","input":{"command":"head -1 ./conf/a.txt | wc","description":"Count"}}]}}
{"message":{"content":[{"type":"tool_result","tool_use_id":"t4","content":"SECRET"}]},"toolUseResult":{"stdout":"SECRET","stderr":""}}
{"message":{"content":[{"type":"tool_use","id":"t5","name":"Bash","input":{"command":"cat >conf/a.txt <<E\nSECRET\nE"}}]}}`,
			kept: `head -1 ./conf/a.txt "Count"`,
		},
		"codex": {
			lines: `{"timestamp":"t","ordinal":1,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"FileChange","id":"e1","status":"completed","changes":{"/repo/conf/a.txt":{"type":"update","unified_diff":"@@ SECRET"},"/repo/b.txt":{"type":"add","content":"kept-b"}}}}}
{"timestamp":"t","ordinal":2,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"e2","command":["/bin/bash","-lc","cat conf/a.txt"],"aggregated_output":"SECRET","exit_code":0}}}
{"timestamp":"t","ordinal":3,"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"e3","command":["/bin/bash","-lc","cat b.txt"],"aggregated_output":"kept-output"}}}`,
			kept: `kept-b conf/a.txt" "FileChange" kept-output`,
		},
		"copilot": {
			lines: `{"type":"assistant.message","data":{"content":"kept-words","toolRequests":[{"toolCallId":"c1","name":"create","arguments":{"path":"/repo/conf/a.txt","file_text":"SECRET"}},{"toolCallId":"c2","name":"bash","arguments":{"command":"cat conf/a.txt"}}]}}
{"type":"tool.execution_complete","data":{"toolCallId":"c1","success":true,"result":{"content":"SECRET","detailedContent":"SECRET"}}}
{"type":"tool.execution_complete","data":{"toolCallId":"c2","success":true,"result":{"content":"SECRET"}}}
{"type":"tool.execution_complete","data":{"toolCallId":"c3","success":true,"result":{"content":"kept-result"}}}`,
			kept: `kept-words "create" "c1" kept-result`,
		},
		"gemini": {
			lines: `{"id":"m2","timestamp":"t","type":"gemini","content":"kept-words","toolCalls":[{"id":"w1","name":"write_file","args":{"file_path":"/repo/conf/a.txt","content":"SECRET"},"result":[{"functionResponse":{"id":"w1","name":"write_file","response":{"output":"SECRET"}}}],"resultDisplay":{"filePath":"/repo/conf/a.txt","fileDiff":"SECRET","originalContent":"","newContent":"SECRET"}},{"id":"r1","name":"run_shell_command","args":{"command":"cat conf/a.txt"},"result":[{"functionResponse":{"id":"r1","response":{"output":"SECRET"}}}],"resultDisplay":"SECRET"}]}
{"id":"m3","timestamp":"t","type":"user","content":[{"functionResponse":{"id":"w1","name":"write_file","response":{"output":"SECRET"}}},{"functionResponse":{"id":"x1","response":{"output":"kept-output"}}}]}`,
			kept: `kept-words "write_file" kept-output`,
		},
		"opencode": {
			lines: `{"opencode":1,"message":{"info":{"id":"msg_1","role":"assistant"},"parts":[{"type":"text","text":"kept-words"},{"type":"tool","tool":"write","callID":"c1","state":{"status":"completed","input":{"filePath":"/repo/conf/a.txt","content":"SECRET"},"output":"SECRET","metadata":{"diff":"SECRET"}}},{"type":"tool","tool":"bash","callID":"c2","state":{"input":{"command":"head conf/a.txt"},"output":"SECRET","metadata":{"output":"SECRET"}}},{"type":"tool","tool":"bash","callID":"c3","state":{"input":{"command":"ls"},"output":"kept-output"}}]}}`,
			kept:  `kept-words "write" "head kept-output`,
		},
		"pi": {
			lines: `{"type":"message","id":"1","parentId":"0","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"write","arguments":{"path":"/repo/conf/a.txt","content":"SECRET"}},{"type":"toolCall","id":"c2","name":"bash","arguments":{"command":"cat conf/a.txt"}}]}}
{"type":"message","id":"2","message":{"role":"toolResult","toolCallId":"c1","toolName":"write","content":[{"type":"text","text":"SECRET"}],"details":{"diff":"SECRET"}}}
{"type":"message","id":"3","message":{"role":"toolResult","toolCallId":"c2","toolName":"bash","content":[{"type":"text","text":"SECRET"}]}}
{"type":"message","id":"4","message":{"role":"toolResult","toolCallId":"c3","content":[{"type":"text","text":"kept-result"}]}}`,
			kept: `"write" kept-result`,
		},
		"qwen": {
			lines: `{"uuid":"u1","type":"assistant","cwd":"/repo","message":{"role":"model","parts":[{"functionCall":{"id":"c1","name":"write_file","args":{"file_path":"/repo/conf/a.txt","content":"SECRET"}}},{"functionCall":{"id":"c2","name":"run_shell_command","args":{"command":"cat conf/a.txt"}}}]}}
{"uuid":"u2","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"c1","name":"write_file","response":{"output":"SECRET"}}}]},"toolCallResult":{"callId":"c1","status":"success","resultDisplay":{"fileName":"a.txt","fileDiff":"SECRET","originalContent":"SECRET","newContent":"SECRET"}}}
{"uuid":"u3","type":"tool_result","message":{"role":"user","parts":[{"functionResponse":{"id":"c2","response":{"output":"SECRET"}}}]},"toolCallResult":{"callId":"c2","resultDisplay":"SECRET"}}`,
			kept: `"write_file" "success"`,
		},
		"grep":  {lines: `{"toolUseResult":{"content":"b.txt:1:kept\nconf/a.txt:2:SECRET\n/repo/conf/a.txt:3:SECRET\nb.txt:4:too"}}`, kept: `b.txt:1:kept b.txt:4:too`},
		"lines": {lines: `{"text":"it has ` + "`" + `long walrus line \"one\"` + "`" + `, or:\n  12\u2192\tlong walrus line \"one\"\n+long  walrus line \"one\"\nand short ----------------"}`, kept: `and short ----------------`},
		"plain": {lines: "said:\n    3\tlong walrus line \"one\"\nkept words\n", kept: "said: kept words"},
		"another file": {
			lines: `{"cwd":"/repo/x","message":{"content":[{"type":"tool_use","id":"t6","name":"Write","input":{"file_path":"/repo/x/conf/a.txt.bak","content":"kept-content"}}]}}
{"toolUseResult":{"filePath":"/elsewhere/conf/a.txt","content":"kept-too"},"cwd":"/repo"}
{"path":"conf/a.txt","blob":"kept-blob"}`,
			kept: `kept-content kept-too kept-blob`,
		},
	} {
		quotes := transcript.NewQuotedFiles([]string{"conf/a.txt"}, []string{"/repo"}, forgotten.NewLines(salt, marks))
		quotes.Learn([]byte(c.lines))
		for how, masked := range map[string][]byte{"mask": quotes.Mask([]byte(c.lines)), "in place": quotes.MaskInPlace([]byte(c.lines))} {
			if strings.Contains(string(masked), "SECRET") || strings.Contains(string(masked), "walrus") {
				t.Errorf("%s, %s: left in\n%s", name, how, masked)
			}
			for kept := range strings.FieldsSeq(c.kept) {
				if !strings.Contains(string(masked), kept) {
					t.Errorf("%s, %s: %s is gone from\n%s", name, how, kept, masked)
				}
			}
			if how == "in place" && len(masked) != len(c.lines) {
				t.Errorf("%s: %d bytes of %d", name, len(masked), len(c.lines))
			}
			for line := range strings.Lines(string(masked)) {
				if c.lines[0] == '{' && !json.Valid([]byte(line)) {
					t.Errorf("%s, %s: no JSON: %s", name, how, line)
				}
			}
			if quotes.Has(masked) {
				t.Errorf("%s, %s: found again in\n%s", name, how, masked)
			}
		}
	}
}

// TestAttackQuotesInDeepJSON searches documents that nest deeply or have very many members: the
// time is proportional to the length.
func TestAttackQuotesInDeepJSON(t *testing.T) {
	t.Parallel()
	quotes := transcript.NewQuotedFiles([]string{"a.txt"}, nil, nil)
	for name, doc := range map[string]string{
		"objects": strings.Repeat(`{"path":"a.txt","input":`, 5000) + `"SECRET"` + strings.Repeat("}", 5000),
		"arrays":  `{"file_path":"a.txt","x":` + strings.Repeat("[", 5000) + `"SECRET"` + strings.Repeat("]", 5000) + "}",
		"members": `{"message":{` + strings.Repeat(`"path":"b.txt",`, 200_000) + `"file_path":"a.txt","text":"SECRET"}}`,
		"quotes":  `{"file_path":"a.txt","text":"` + strings.Repeat(`\"`, 500_000) + `SECRET"}`,
	} {
		if masked := string(quotes.Mask([]byte(doc))); strings.Contains(masked, "SECRET") || !json.Valid([]byte(masked)) {
			t.Errorf("%s: left, or no JSON: %.200s", name, masked)
		}
	}
}

// FuzzQuotes checks that masking keeps JSON valid, and in place also lengths, and that nothing
// is found again afterwards.
func FuzzQuotes(f *testing.F) {
	f.Add([]byte(`{"file_path":"a.txt","content":"x"}`))
	f.Add([]byte("a.txt:1:x\n{\"tool_use_id\":\"t\"}\n"))
	quotes := transcript.NewQuotedFiles([]string{"a.txt"}, []string{"/r"}, forgotten.NewLines([]byte("s"), forgotten.MarkLine([]byte("s"), "abcdefghijkl")))
	f.Fuzz(func(t *testing.T, data []byte) {
		masked, inPlace := quotes.Mask(data), quotes.MaskInPlace(data)
		if json.Valid(data) && (!json.Valid(masked) || !json.Valid(inPlace)) {
			t.Errorf("no JSON: %s, %s", masked, inPlace)
		}
		if len(inPlace) != len(data) {
			t.Errorf("%d bytes of %d", len(inPlace), len(data))
		}
		if quotes.Has(masked) || quotes.Has(inPlace) {
			t.Errorf("found again in %q, %q", masked, inPlace)
		}
	})
}
