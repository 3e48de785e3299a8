package forms

import (
	"encoding/json"
	"strconv"
	"strings"
)

// geminiEnvelope is a line of Gemini CLI. A message of the model is written twice with the same id:
// with its text, and again with the tool calls and their results.
type geminiEnvelope struct {
	ID      string          `json:"id"`
	Session string          `json:"sessionId"`
	Start   string          `json:"startTime"`
	Time    string          `json:"timestamp"`
	Type    string          `json:"type"`
	Content json.RawMessage `json:"content"`
	Model   string          `json:"model"`
	Tokens  *struct {
		Input    int64 `json:"input"`
		Output   int64 `json:"output"`
		Cached   int64 `json:"cached"`
		Thoughts int64 `json:"thoughts"`
	} `json:"tokens"`
	Calls []geminiCall `json:"toolCalls"`
}

type geminiCall struct {
	ID     string          `json:"id"`
	Name   string          `json:"name"`
	Args   json.RawMessage `json:"args"`
	Result []part          `json:"result"`
	Status string          `json:"status"`
	// Time is the end of the call. The message has the time of the model's response.
	Time string `json:"timestamp"`
	// Agent is the id of the subagent that executed the call.
	Agent string `json:"agentId"`
}

// geminiLine converts a line of Gemini CLI. A damaged line is returned unchanged. Messages repeated
// by a resumed or compressed conversation are dropped.
func geminiLine(line []byte) []byte {
	var g geminiEnvelope
	if err := json.Unmarshal(line, &g); err != nil {
		return line
	}
	return encode(g.entry())
}

// entry returns the line's entry, nil if the line is not part of the conversation.
func (g *geminiEnvelope) entry() *entry {
	e := &entry{UUID: g.ID, Time: g.Time}
	switch {
	case g.ID == "" && g.Session != "":
		e.Type, e.SessionID, e.Time = "system", g.Session, g.Start
	case g.Type == "user":
		// The results of tools are in the message with the calls.
		blocks := []block{}
		for _, said := range geminiTexts(g.Content) {
			if said = WithoutHookContext(said); said != "" && !strings.HasPrefix(said, "<session_context>") {
				blocks = append(blocks, textBlock(withShell(said)))
			}
		}
		if len(blocks) > 0 {
			e.Type, e.Message = "user", &message{Role: "user", Content: blocks}
		}
	case g.Type == "gemini":
		g.answer(e)
	default:
		return nil
	}
	if e.Type == "" {
		return nil
	}
	return e
}

// WithoutHookContext returns a prompt without the output of hooks that Gemini CLI prepends to it.
func WithoutHookContext(prompt string) string {
	const begin, end = "<hook_context>", "</hook_context>"
	for strings.HasPrefix(prompt, begin) {
		_, rest, found := strings.Cut(prompt, end)
		if !found {
			break
		}
		prompt = strings.TrimLeft(rest, "\n")
	}
	return prompt
}

// withShell returns a text of a person in the form of Claude Code if it is the record of a command that
// they ran in the client's shell, else the text itself.
func withShell(text string) string {
	command, found := strings.CutPrefix(text, "I ran the following shell command:\n```sh\n")
	command, _, ended := strings.Cut(command, "\n```\n")
	if !found || !ended {
		return text
	}
	return "<bash-input>" + command + "</bash-input>"
}

// geminiTexts returns the texts of a message's content, which is a string or a list of parts.
func geminiTexts(data json.RawMessage) []string {
	var one string
	if json.Unmarshal(data, &one) == nil {
		if one == "" {
			return nil
		}
		return []string{one}
	}
	var parts []part
	_ = json.Unmarshal(data, &parts) // unreadable fields stay empty
	all := make([]string, 0, len(parts))
	for _, p := range parts {
		if p.Text != "" && !p.Thought {
			all = append(all, p.Text)
		}
	}
	return all
}

// answer converts a response of the model.
func (g *geminiEnvelope) answer(e *entry) {
	m := &message{Role: "assistant", Model: g.Model, Content: []block{}}
	e.Type, e.Message = "assistant", m
	if g.Tokens != nil {
		m.ID = g.ID
		m.Usage = &usage{Input: max(0, g.Tokens.Input-g.Tokens.Cached), CacheRead: g.Tokens.Cached, Output: g.Tokens.Output + g.Tokens.Thoughts}
	}
	if len(g.Calls) == 0 {
		for _, said := range geminiTexts(g.Content) {
			m.Content = append(m.Content, textBlock(said))
		}
		return
	}
	for _, c := range g.Calls {
		e.Time = max(e.Time, c.Time)   // both in UTC and in the format of Gemini CLI
		if c.Name == "complete_task" { // the last message of a subagent
			var in struct {
				Result any `json:"result"`
			}
			_ = json.Unmarshal(c.Args, &in) // unreadable fields stay empty
			said := in.Result
			if all, ok := in.Result.(map[string]any); ok && len(all) == 1 {
				for _, only := range all {
					said = only
				}
			}
			m.Content = append(m.Content, textBlock(text(said)))
			continue
		}
		blocks := c.blocks()
		if c.Time != "" {
			blocks[0].Started = g.Time
		}
		m.Content = append(m.Content, blocks...)
		if c.Agent != "" {
			e.Result = &detached{Agent: c.Agent}
		}
	}
}

// blocks returns a tool call and its result.
func (c *geminiCall) blocks() []block {
	name, args := qwenTool(c.Name), object(c.Args)
	switch c.Name {
	case "edit_file":
		name = "Edit"
	case "invoke_agent":
		name = "Task"
	case "google_web_search":
		name = "WebSearch"
	}
	input := qwenInput(name, args)
	if name == "Task" {
		var in struct {
			Name   string `json:"agent_name"`
			Prompt string `json:"prompt"`
		}
		_ = json.Unmarshal(args, &in) // unreadable fields stay empty
		about, _, _ := strings.Cut(in.Prompt, "\n")
		input = map[string]string{"subagent_type": in.Name, "description": about, "prompt": in.Prompt}
	}
	output, failed := "", c.Status != "" && c.Status != "success"
	for _, p := range c.Result {
		if p.Response == nil {
			continue
		}
		output = text(p.Response.Response.Output)
		if said := text(p.Response.Response.Error); said != "" {
			output, failed = said, true
		}
	}
	if name == "Bash" {
		status, rest := shellOutput("Output: ", output)
		output, failed = withStatus(status, rest), failed || status != 0
	}
	id := strings.ReplaceAll(c.ID, "#", "-") // of a subagent's call; # is invalid in a tool id
	return []block{useBlock(id, name, input), resultBlock(id, output, failed)}
}

// shellOutput returns the exit status in the result of a shell of Gemini or Qwen, and the output of
// the command, before which the result has begin.
func shellOutput(begin, result string) (status int, output string) {
	result = strings.TrimSuffix(strings.TrimPrefix(result, "<untrusted_context>\n"), "\n</untrusted_context>")
	_, output, found := strings.Cut(result, begin)
	if !found {
		return 0, result
	}
	for _, tail := range []string{"\nProcess Group PGID: ", "\nExit Code: ", "\nError: "} {
		i := strings.LastIndex(output, tail)
		if i < 0 {
			continue
		}
		value := output[i+len(tail):]
		if tail == "\nExit Code: " {
			digits, _, _ := strings.Cut(value, "\n")
			status, _ = strconv.Atoi(strings.TrimSpace(digits)) // 0 if it is not a number
		}
		output = output[:i]
	}
	if output == "(empty)" {
		output = ""
	}
	return status, output
}
