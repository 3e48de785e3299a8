package transcript_test

import (
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/session/transcript"
)

// said returns the items of a conversation as lines.
func said(items []transcript.Item) []string {
	var lines []string
	for _, i := range items {
		line := string(i.By) + ": " + i.Text
		if i.Tool != "" {
			line = i.Tool + ": " + i.Text
		}
		if i.Failed {
			line += " (failed)"
		}
		lines = append(lines, line)
	}
	return lines
}

// converse reads lines as a conversation.
func converse(lines ...string) []string {
	c := transcript.Conversation{Root: "/home/ada/project"}
	for n, line := range lines {
		c.AddLine([]byte(line), n)
	}
	return said(c.Items)
}

// toolUse returns an assistant's line with one tool use.
func toolUse(name, input string) string {
	return `{"type":"assistant","cwd":"/w/other","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"` + name + `","input":` + input + `}]}}`
}

func TestConversation(t *testing.T) {
	t.Parallel()
	const result = `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"no such file","is_error":true}]}}`
	tests := map[string]struct {
		lines []string
		want  []string
	}{
		"a prompt":                  {[]string{`{"type":"user","message":{"content":"Fix\nit"}}`}, []string{"user: Fix\nit"}},
		"a prompt in blocks":        {[]string{`{"type":"user","message":{"content":[{"type":"text","text":"a"},{"type":"image","source":{"data":"AAAA"}},{"type":"text","text":"b"}]}}`}, []string{"user: a\n\nb"}},
		"what the agent adds":       {[]string{`{"type":"user","message":{"content":"<system-reminder>x</system-reminder>Fix it"}}`}, []string{"user: Fix it"}},
		"a notice":                  {[]string{`{"type":"user","message":{"content":"<task-notification>x</task-notification>"}}`}, nil},
		"an accepted plan":          {[]string{`{"type":"user","message":{"content":"Implement the following plan:\n\n# Add a cache"}}`}, []string{"user: Implement the following plan:\n\n# Add a cache"}},
		"a command with arguments":  {[]string{`{"type":"user","message":{"content":"<command-message>gsd:quick is running</command-message>\n<command-name>/gsd:quick</command-name>\n<command-args>fix the build</command-args>"}}`}, []string{"user: /gsd:quick fix the build"}},
		"a command of the client":   {[]string{`{"type":"user","message":{"content":"<command-name>/clear</command-name>\n<command-message>clear</command-message>\n<command-args></command-args>"}}`}, nil},
		"an answered question":      {[]string{`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"User has answered your questions: \"Which?\"=\"Blue\". You can now continue with the user's answers in mind."}]}}`}, []string{`user: "Which?"="Blue"`}},
		"a refusal with a reason":   {[]string{toolUse("Edit", `{"file_path":"/home/ada/project/a.go"}`), `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"The tool use was rejected. To tell you how to proceed, the user said:\nuse the cache"}]}}`}, []string{"Edit: a.go (failed)", "user: use the cache"}},
		"an interrupted request":    {[]string{`{"type":"user","message":{"content":"Fix it"}}`, `{"type":"user","message":{"content":"[Request interrupted by user]"}}`}, []string{"user: Fix it"}},
		"a meta line":               {[]string{`{"type":"user","isMeta":true,"message":{"content":"Caveat"}}`}, nil},
		"an answer":                 {[]string{`{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":" Done. "}]}}`}, []string{"assistant: Done."}},
		"the agent's own error":     {[]string{`{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"API Error"}]}}`}, nil},
		"a subagent":                {[]string{`{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"text","text":"Done."}]}}`}, nil},
		"a tool":                    {[]string{toolUse("Edit", `{"file_path":"/home/ada/project/src/a.go","old_string":"x"}`)}, []string{"Edit: src/a.go"}},
		"a tool that failed":        {[]string{toolUse("Read", `{"file_path":"/etc/x"}`), result}, []string{"Read: /etc/x (failed)"}},
		"a tool use written twice":  {[]string{toolUse("Read", `{}`), toolUse("Read", `{}`)}, []string{"Read: "}},
		"a malformed name":          {[]string{toolUse(`Task\" >\n<parameter`, `{}`)}, []string{"Task: "}},
		"a name after a space":      {[]string{toolUse(` Read`, `{"file_path":"/x"}`)}, []string{"Read: /x"}},
		"a call without a name":     {[]string{toolUse(``, `{"command":"ls"}`)}, []string{"(unreadable call): ls"}},
		"a name that isn't one":     {[]string{toolUse(`\u003cinvoke`, `{}`)}, []string{"(unreadable call): <invoke"}},
		"an input that is a text":   {[]string{toolUse("Read", `"{\"file_path\": \"/x\nmore"`)}, []string{`Read: {"file_path": "/x …`}},
		"an input in a text":        {[]string{toolUse("Read", `"{\"file_path\": \"/x\"}"`)}, []string{"Read: /x"}},
		"an input that is a list":   {[]string{toolUse("Read", `[1]`)}, []string{"Read: (unreadable input)"}},
		"no input":                  {[]string{toolUse("Read", `null`)}, []string{"Read: "}},
		"a search by the vendor":    {[]string{`{"type":"assistant","message":{"content":[{"type":"server_tool_use","id":"t1","name":"web_search","input":{"query":"pumps"}},{"type":"web_search_tool_result","tool_use_id":"t1","content":[]}]}}`}, []string{"web_search: pumps"}},
		"a stand-in":                {[]string{`{"type":"api-request","body":""}`, `{"type":"entire-omitted","bytes":9}`, `{"type":"attachment","attachment":{"type":"skill_listing","content":""}}`}, nil},
		"no JSON":                   {[]string{"", "nonsense", `{"type":"user"`, `[1]`, `{"type":"user","message":7}`}, nil},
		"the session's own folder":  {[]string{toolUse("Read", `{"file_path":"/w/other/x"}`)}, []string{"Read: x"}},
		"a result without its call": {[]string{result}, nil},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, converse(c.lines...)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestToolText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 300)
	tests := map[string]struct{ input, want string }{
		"a command":         {`{"description":"Run the tests","command":"make test\n","timeout":5}`, "make test"},
		"a long command":    {`{"command":"cat <<EOF\nx\nEOF"}`, "cat <<EOF …"},
		"a very long line":  {`{"command":"` + long + `"}`, strings.Repeat("ä", 200) + " …"},
		"a pattern":         {`{"pattern":"func main","path":"/home/ada/project/cmd"}`, "func main in cmd"},
		"the project":       {`{"path":"/home/ada/project"}`, "."},
		"a neighbour":       {`{"path":"/home/ada/project2/a"}`, "/home/ada/project2/a"},
		"a subagent":        {`{"prompt":"Look at everything","description":"Look around","subagent_type":"Explore"}`, "Look around"},
		"todos":             {`{"todos":[{"content":"a"},{"content":"b"}]}`, "2 todos"},
		"a task":            {`{"taskId":"3","status":"completed"}`, "3 completed"},
		"a question":        {`{"questions":[{"header":"h","question":"Which one?","options":[]},{"question":"And?"}]}`, "Which one?"},
		"a server's tool":   {`{"n":1,"selector":"#main","more":"x"}`, "#main"},
		"a notebook":        {`{"notebook_path":"/home/ada/project/n.ipynb","new_source":"x"}`, "n.ipynb"},
		"bytes, not text":   {"{\"command\":\"a\xffb\"}", "a\uFFFDb"},
		"nothing":           {`{}`, ""},
		"no object":         {`"x"`, "x"},
		"a list of numbers": {`{"todos":7,"questions":"x","path":[1]}`, ""},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff([]string{"T: " + c.want}, converse(toolUse("T", c.input))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestConversationOfDocument(t *testing.T) {
	t.Parallel()
	const document = `{
  "sessionId": "x",
  "messages": [
    {"id": "1", "timestamp": "2026-01-02T03:04:05Z", "type": "user", "content": "Fix it"},
    {"id": "2", "type": "info", "content": "Update available"},
    {"id": "3", "type": "gemini", "content": "I will.", "thoughts": [{"subject": "hm"}], "toolCalls": [
      {"id": "a", "name": "replace", "args": {"file_path": "/home/ada/project/a.go"}, "status": "success", "result": [{"x": "long"}]},
      {"id": "b", "name": "run_shell_command", "args": {"command": "make"}, "status": "error"}]},
    {"id": "4", "type": "user", "content": [{"text": "And that"}]}
  ]
}`
	messages, ok := transcript.Messages([]byte(document))
	if !ok || len(messages) != 4 {
		t.Fatalf("%d messages, %t", len(messages), ok)
	}
	c := transcript.Conversation{Root: "/home/ada/project"}
	for i, line := range messages {
		c.AddLine(line, 10+i)
	}
	want := []string{"user: Fix it", "assistant: I will.", "Edit: a.go", "Bash: make (failed)", "user: And that"}
	if diff := cmp.Diff(want, said(c.Items)); diff != "" {
		t.Error(diff)
	}
	if first, last := c.Items[0], c.Items[4]; first.Line != 10 || last.Line != 13 || first.Time.IsZero() {
		t.Errorf("%+v, %+v", first, last)
	}
	for _, lines := range []string{"", "{", "x", `{"type":"user","message":{"messages":[]}}`, "{\"a\":1}\n{\"messages\":[]}", `{"messages":1}`} {
		if _, ok := transcript.Messages([]byte(lines)); ok {
			t.Errorf("%q is no document", lines)
		}
	}
}

func FuzzConversation(f *testing.F) {
	f.Add([]byte(toolUse("Bash", `{"command":"x","todos":[1],"questions":[{"question":"?"}]}`)))
	f.Add([]byte(`{"messages":[{"type":"user","content":"x","toolCalls":[{"name":"n","args":{}}]}]}`))
	f.Add([]byte(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true}]}}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		var c transcript.Conversation
		c.AddLine(data, 0)
		c.AddLine(data, 1)
		messages, _ := transcript.Messages(data)
		for i, line := range messages {
			c.AddLine(line, 2+i)
		}
	})
}

func TestToolOutput(t *testing.T) {
	t.Parallel()
	result := func(content, failed string) string {
		return `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":` + content + `,"is_error":` + failed + `}]}}`
	}
	numbered := func(from, to int) []string {
		var lines []string
		for n := from; n <= to; n++ {
			lines = append(lines, strconv.Itoa(n))
		}
		return lines
	}
	hundred := `"` + strings.Join(numbered(1, 100), `\n`) + `\n"`
	two := 2
	const command = `{"command":"make\nmake test"}`
	tests := map[string]struct {
		tool, input, result string
		full                bool
		want                transcript.Item
	}{
		"little output":     {"Bash", command, result(`"ok\n"`, "false"), false, transcript.Item{Text: "make …", Output: transcript.Output{Head: []string{"ok"}}}},
		"no output":         {"Bash", command, result(`"\n"`, "false"), false, transcript.Item{Text: "make …"}},
		"blocks":            {"Bash", command, result(`[{"type":"text","text":"a"},{"type":"text","text":"b"}]`, "false"), false, transcript.Item{Text: "make …", Output: transcript.Output{Head: []string{"a", "b"}}}},
		"much output":       {"Bash", command, result(hundred, "false"), false, transcript.Item{Text: "make …", Output: transcript.Output{Head: numbered(1, 3), Tail: numbered(98, 100), Omitted: 94}}},
		"in full":           {"Bash", command, result(hundred, "false"), true, transcript.Item{Text: "make …", Command: "make\nmake test", Output: transcript.Output{Head: numbered(1, 40), Tail: numbered(61, 100), Omitted: 20}}},
		"a file, in full":   {"Read", `{"file_path":"a"}`, result(hundred, "false"), true, transcript.Item{Text: "a", Output: transcript.Output{Head: numbered(1, 3), Tail: numbered(98, 100), Omitted: 94}}},
		"an exit status":    {"Bash", command, result(`"Exit code 2\nno rule"`, "true"), false, transcript.Item{Text: "make …", Failed: true, ExitStatus: &two, Output: transcript.Output{Head: []string{"no rule"}}}},
		"none of a success": {"Bash", command, result(`"Exit code 2\nno rule"`, "false"), false, transcript.Item{Text: "make …", Output: transcript.Output{Head: []string{"Exit code 2", "no rule"}}}},
		"no number":         {"Bash", command, result(`"Exit code x"`, "true"), false, transcript.Item{Text: "make …", Failed: true, Output: transcript.Output{Head: []string{"Exit code x"}}}},
		"an edit":           {"Write", `{"file_path":"a"}`, result(`"File created"`, "false"), false, transcript.Item{Text: "a"}},
		"an edit that fails": {
			"Write", `{"file_path":"a"}`, result(`"not read"`, "true"), false,
			transcript.Item{Text: "a", Failed: true, Output: transcript.Output{Head: []string{"not read"}}},
		},
		"a long line": {
			"Bash", command, result(`"`+strings.Repeat("ä", 300)+`"`, "false"), false,
			transcript.Item{Text: "make …", Output: transcript.Output{Head: []string{strings.Repeat("ä", 200) + " …"}}},
		},
	}
	for name, c := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			read := transcript.Conversation{Outputs: true, Full: c.full}
			read.AddLine([]byte(toolUse(c.tool, c.input)), 0)
			read.AddLine([]byte(c.result), 1)
			c.want.By, c.want.Tool, c.want.ID = transcript.Tool, c.tool, "t1"
			if diff := cmp.Diff([]transcript.Item{c.want}, read.Items); diff != "" {
				t.Error(diff)
			}
		})
	}
}
