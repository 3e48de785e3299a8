package forms

import (
	"bytes"
	"encoding/json"
	"net/url"
	"path"
	"strconv"
	"strings"
)

// codexEnvelope is a line of Codex. Since version 0.169 it has an Ordinal, and completed items
// replace the calls and outputs of functions.
type codexEnvelope struct {
	Time    string          `json:"timestamp"`
	Ordinal *int64          `json:"ordinal"`
	Type    string          `json:"type"`
	Payload json.RawMessage `json:"payload"`
}

// codexLine converts a line of Codex. A damaged line is returned unchanged, so that it is counted
// as damaged.
func codexLine(line []byte) []byte {
	// Read the type without decoding the payload, which may be long.
	_, rest, _ := bytes.Cut(line[:min(len(line), far)], []byte(`"type":`))
	kind, _, _ := bytes.Cut(bytes.TrimLeft(rest, ` "`), []byte(`"`))
	switch string(kind) {
	case "session_meta", "turn_context", "compacted", "token_usage_record", "event_msg", "response_item":
	default:
		if json.Valid(line) {
			return nil
		}
		return line
	}
	var c codexEnvelope
	if json.Unmarshal(line, &c) != nil {
		return line
	}
	var e *entry
	switch c.Type {
	case "session_meta":
		// The first line contains the session's id and folder.
		var p struct {
			ID      string `json:"id"`
			Session string `json:"session_id"`
			Dir     string `json:"cwd"`
			Git     struct {
				Branch string `json:"branch"`
			} `json:"git"`
		}
		c.decode(&p)
		if p.Session == "" {
			p.Session = p.ID
		}
		e = &entry{Type: "system", Subtype: c.Type, UUID: p.ID, SessionID: p.Session, Dir: p.Dir, Branch: p.Git.Branch}
	case "turn_context":
		// The beginning of a turn, with its model.
		var p struct {
			Turn  string `json:"turn_id"`
			Dir   string `json:"cwd"`
			Model string `json:"model"`
		}
		c.decode(&p)
		e = &entry{
			Type: "assistant", PromptID: p.Turn, Dir: p.Dir,
			Message: &message{Role: "assistant", Model: p.Model, Content: []block{}},
		}
	case "compacted":
		// The agent continues with the summary.
		var p struct {
			Message string `json:"message"`
		}
		c.decode(&p)
		if e = person(p.Message); p.Message == "" {
			e = &entry{Type: "system", Subtype: "compact_boundary"}
		}
		e.Compact = p.Message != ""
	case "token_usage_record":
		// The tokens of one response.
		var p struct {
			Turn     string     `json:"turn_id"`
			Response string     `json:"response_id"`
			Usage    codexUsage `json:"usage"`
		}
		c.decode(&p)
		e = p.Usage.spent(p.Response)
		e.PromptID = p.Turn
	case "event_msg":
		e = c.event()
	case "response_item":
		if c.Ordinal == nil {
			e = c.call()
		} else {
			e = c.running()
		}
	}
	if e != nil {
		e.Time = c.Time
	}
	return encode(e)
}

// decode decodes the payload. Unreadable fields stay empty.
func (c *codexEnvelope) decode(v any) { _ = json.Unmarshal(c.Payload, v) }

// codexUsage holds numbers of tokens. Input includes those of the cache.
type codexUsage struct {
	Input      int64 `json:"input_tokens"`
	CacheRead  int64 `json:"cached_input_tokens"`
	CacheWrite int64 `json:"cache_write_input_tokens"`
	Output     int64 `json:"output_tokens"`
	Total      int64 `json:"total_tokens"`
}

func (u codexUsage) spent(id string) *entry {
	return spent(id, "", usage{Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.Output})
}

// event returns the entry for an event of a turn, nil if there is none.
func (c *codexEnvelope) event() *entry {
	var p struct {
		Type    string                 `json:"type"`
		Turn    string                 `json:"turn_id"`
		Item    json.RawMessage        `json:"item"`
		Started int64                  `json:"started_at_ms"`
		Message string                 `json:"message"`
		Reason  string                 `json:"reason"`
		Call    string                 `json:"call_id"`
		Changes map[string]codexChange `json:"changes"`
		Success *bool                  `json:"success"`
		Out     string                 `json:"stdout"`
		Err     string                 `json:"stderr"`
		Info    struct {
			Total codexUsage `json:"total_token_usage"`
			Last  codexUsage `json:"last_token_usage"`
		} `json:"info"`
	}
	c.decode(&p)
	var e *entry
	switch p.Type {
	case "item_completed":
		e = codexItem(p.Item)
		if e != nil && e.Message != nil {
			e.Message.startedAt(p.Started)
		}
	case "turn_aborted":
		if p.Reason == "" || p.Reason == "interrupted" {
			e = person("[Request interrupted by user]")
		}
	case "user_message":
		e = person(p.Message)
	case "agent_message":
		e = said(p.Message)
	case "patch_apply_end":
		e = patch(p.Call, p.Changes, p.Success != nil && !*p.Success, p.Out+p.Err)
	case "token_count":
		if c.Ordinal != nil || p.Info.Total.Total == 0 {
			return nil
		}
		// The event is repeated with the same total if no tokens were used.
		e = p.Info.Last.spent(LocalID + strconv.FormatInt(p.Info.Total.Total, 10))
	}
	if e != nil && e.PromptID == "" {
		e.PromptID = p.Turn
	}
	return e
}

// LocalID begins the ids of messages that are unique only in one session: clients before 0.169 didn't record
// an id with the tokens of a message, but the session's total.
const LocalID = "tokens-"

// person returns a message of a person.
func person(text string) *entry {
	return &entry{Type: "user", Message: &message{Role: "user", Content: []block{textBlock(text)}}}
}

// personShell returns a command that a person ran in the client's shell.
func personShell(command string) *entry {
	return person("<bash-input>" + strings.TrimSpace(command) + "</bash-input>")
}

// said returns a text message of the agent.
func said(text string) *entry { return done(textBlock(text)) }

// done returns a message of the agent.
func done(blocks ...block) *entry {
	return &entry{Type: "assistant", Message: &message{Role: "assistant", Content: blocks}}
}

// codexItem returns the entry for a completed item: a message or a tool call.
func codexItem(raw json.RawMessage) *entry {
	var item struct {
		Type    string                  `json:"type"`
		ID      string                  `json:"id"`
		Kind    string                  `json:"kind"`
		Status  string                  `json:"status"`
		Source  string                  `json:"source"`
		Content []struct{ Text string } `json:"content"`
		Changes map[string]codexChange  `json:"changes"`
		Out     string                  `json:"stdout"`
		Err     string                  `json:"stderr"`
		Command []string                `json:"command"`
		Dir     string                  `json:"cwd"`
		Output  string                  `json:"aggregated_output"`
		Exit    *int                    `json:"exit_code"`
		Server  string                  `json:"server"`
		Tool    string                  `json:"tool"`
		Args    json.RawMessage         `json:"arguments"`
		Query   string                  `json:"query"`
		Agent   string                  `json:"agent_path"`
		Thread  string                  `json:"agent_thread_id"`
	}
	if json.Unmarshal(raw, &item) != nil {
		return nil
	}
	failed := item.Status != "" && item.Status != "completed"
	switch item.Type {
	case "UserMessage", "AgentMessage":
		var texts []string
		for _, c := range item.Content {
			texts = append(texts, c.Text)
		}
		e := said(strings.Join(texts, "\n"))
		if item.Type == "UserMessage" {
			e = person(strings.Join(texts, "\n"))
		}
		e.UUID = item.ID
		return e
	case "FileChange":
		return patch(item.ID, item.Changes, failed, item.Out+item.Err)
	case "CommandExecution":
		if item.Source == "userShell" || item.Source == "user_shell" {
			return personShell(shellCommand(item.Command))
		}
		status := 0
		if item.Exit != nil {
			status = *item.Exit
		}
		e := done(useBlock(item.ID, "Bash", command{Command: shellCommand(item.Command)}),
			resultBlock(item.ID, withStatus(status, item.Output), failed || status != 0))
		e.Dir = codexPath(item.Dir)
		return e
	case "SubAgentActivity":
		if item.Kind != "started" {
			return nil
		}
		e := done(useBlock(item.ID, "Task", map[string]string{"description": path.Base(item.Agent)}), resultBlock(item.ID, "", failed))
		e.Result = &detached{Agent: item.Thread}
		return e
	case "McpToolCall":
		return done(useBlock(item.ID, "mcp__"+item.Server+"__"+item.Tool, object(item.Args)), resultBlock(item.ID, "", failed))
	case "WebSearch":
		return done(useBlock(item.ID, "WebSearch", map[string]string{"query": item.Query}), resultBlock(item.ID, "", failed))
	}
	return nil
}

// codexPath returns the path of a folder, which items name by a URL.
func codexPath(dir string) string {
	if u, err := url.Parse(dir); err == nil && u.Scheme == "file" {
		return u.Path
	}
	return dir
}

// object returns raw if it is an object, else an empty object.
func object(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 || raw[0] != '{' {
		return json.RawMessage("{}")
	}
	return raw
}

// shellCommand returns the command passed to a shell, or the joined arguments of another program.
func shellCommand(args []string) string {
	const withShell = 3 // the shell, its flags, the command
	if len(args) == withShell && strings.HasPrefix(args[1], "-") && strings.HasSuffix(args[1], "c") {
		return args[2]
	}
	return strings.Join(args, " ")
}

// running returns the beginning or end of a call, which one or more items record on completion.
func (c *codexEnvelope) running() *entry {
	var p struct {
		Type string `json:"type"`
		Name string `json:"name"`
		Call string `json:"call_id"`
	}
	c.decode(&p)
	switch p.Type {
	case "function_call", "custom_tool_call":
		switch p.Name {
		case "exec", "exec_command", "shell", "shell_command", "local_shell", "write_stdin":
			return done(block{Type: Begun, ID: p.Call, Name: p.Name})
		}
	case "function_call_output", "custom_tool_call_output":
		return done(block{Type: Ended, Of: p.Call})
	}
	return nil
}

// call returns a call of a function or its output, in the form before 0.169.
func (c *codexEnvelope) call() *entry {
	var p struct {
		Type   string          `json:"type"`
		ID     string          `json:"id"`
		Name   string          `json:"name"`
		Call   string          `json:"call_id"`
		Args   string          `json:"arguments"`
		Output json.RawMessage `json:"output"`
		Action struct {
			Query   string   `json:"query"`
			URL     string   `json:"url"`
			Pattern string   `json:"pattern"`
			Command []string `json:"command"`
		} `json:"action"`
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
	}
	c.decode(&p)
	switch p.Type {
	case "web_search_call":
		input := map[string]string{}
		for key, value := range map[string]string{"query": p.Action.Query, "url": p.Action.URL, "pattern": p.Action.Pattern} {
			if value != "" {
				input[key] = value
			}
		}
		if len(input) == 0 {
			return nil // the same call once more, with its action, follows
		}
		return done(useBlock(p.ID, "WebSearch", input))
	case "function_call":
		// The arguments are in JSON.
		switch p.Name {
		case "exec_command", "shell", "shell_command", "local_shell":
			var in struct {
				Cmd     string          `json:"cmd"`
				Command json.RawMessage `json:"command"`
				Dir     string          `json:"workdir"`
			}
			_ = json.Unmarshal([]byte(p.Args), &in) // unreadable fields stay empty
			var words []string
			if in.Cmd == "" && json.Unmarshal(in.Command, &words) == nil {
				in.Cmd = shellCommand(words)
			}
			if in.Cmd == "" {
				_ = json.Unmarshal(in.Command, &in.Cmd)
			}
			e := done(useBlock(p.Call, "Bash", command{Command: in.Cmd}))
			e.Dir = in.Dir
			return e
		case "update_plan":
			var in struct {
				Plan []struct {
					Step   string `json:"step"`
					Status string `json:"status"`
				} `json:"plan"`
			}
			_ = json.Unmarshal([]byte(p.Args), &in) // unreadable fields stay empty
			todos := make([]todo, len(in.Plan))
			for i, step := range in.Plan {
				todos[i] = todo{Content: step.Step, Status: step.Status}
			}
			return done(useBlock(p.Call, "TodoWrite", map[string]any{"todos": todos}))
		}
		if !json.Valid([]byte(p.Args)) { // a malformed call of the model
			return done(useBlock(p.Call, p.Name, p.Args))
		}
		return done(useBlock(p.Call, p.Name, object(json.RawMessage(p.Args))))
	case "local_shell_call":
		return done(useBlock(p.Call, "Bash", command{Command: shellCommand(p.Action.Command)}))
	case "function_call_output":
		return codexOutput(p.Call, p.Output)
	case "message":
		// Other messages have events. This is the only record of a command that the person ran.
		if len(p.Content) == 1 && strings.HasPrefix(p.Content[0].Text, "<user_shell_command>") {
			return codexRequest(p.Content[0].Text)
		}
	}
	return nil
}

// codexOutput returns the result of a call. Its output is a text, or in early versions JSON with the
// exit status.
func codexOutput(call string, raw json.RawMessage) *entry {
	var output string
	if json.Unmarshal(raw, &output) != nil {
		output = string(raw)
	}
	status, output := exitStatus(output)
	var early struct {
		Output   *string `json:"output"`
		Metadata struct {
			Exit int `json:"exit_code"`
		} `json:"metadata"`
	}
	if strings.HasPrefix(output, "{") && json.Unmarshal([]byte(output), &early) == nil && early.Output != nil {
		status, output = early.Metadata.Exit, *early.Output
	}
	return &entry{Type: "user", Message: &message{
		Role: "user", Content: []block{resultBlock(call, withStatus(status, output), status != 0)},
	}}
}

// todo is one item of a todo list.
type todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// exitStatus returns the exit status in the output of a function, 0 if there is none, and the
// output of the command.
func exitStatus(output string) (status int, rest string) {
	head, rest, found := strings.Cut(output, "\nOutput:\n")
	if !found {
		return 0, output
	}
	for line := range strings.Lines(head) {
		line = strings.TrimSpace(line)
		for _, prefix := range []string{"Process exited with code ", "Exit code: "} {
			if digits, ok := strings.CutPrefix(line, prefix); ok {
				status, _ = strconv.Atoi(digits) // 0 if it is not a number
			}
		}
	}
	return status, rest
}
