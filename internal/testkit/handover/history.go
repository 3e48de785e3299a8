package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// history is a made-up series of sessions, with what the last one needs.
type history struct {
	name     string
	sessions []*transcript
	kinds    []string // how each session begins
	expect   string   // "full", "short", or empty for either
	gold     []gold
}

// gold is something that the text given to the last session must have, or must not have.
type gold struct {
	kind    string
	phrases []string // of which the text must have all; or of which it must have none
	never   bool
	literal bool // not only their letters and digits are compared
}

// readHistory reads a history in the form of testdata/histories/README.md, and makes the transcripts
// that Claude Code would have written.
func readHistory(name string) (*history, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	w := &writer{history: &history{name: strings.TrimSuffix(filepath.Base(name), ".txt")}, files: map[string]string{}}
	var words, texts []string
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimRight(line, " ")
		if rest, ok := strings.CutPrefix(line, "|"); ok && len(texts) > 0 {
			texts[len(texts)-1] += "\n" + strings.TrimPrefix(rest, " ")
			continue
		}
		if line == "" || line[0] == '#' {
			continue
		}
		word, text, ok := strings.Cut(line, ":")
		if !ok {
			return nil, fmt.Errorf("%s:%d: no word with a colon", name, i+1)
		}
		words, texts = append(words, word), append(texts, strings.TrimSpace(text))
	}
	for i, word := range words {
		if err := w.line(word, strings.TrimPrefix(texts[i], "\n")); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, word, err)
		}
	}
	w.end()
	return w.history, nil
}

// Lines of transcripts have their members in the order in which Claude Code writes them.
type (
	written struct {
		ParentUUID    *string         `json:"parentUuid"`
		IsSidechain   bool            `json:"isSidechain"`
		UserType      string          `json:"userType"`
		Cwd           string          `json:"cwd"`
		SessionID     string          `json:"sessionId"`
		Version       string          `json:"version"`
		GitBranch     string          `json:"gitBranch"`
		AgentID       string          `json:"agentId,omitempty"`
		Type          string          `json:"type"`
		Subtype       string          `json:"subtype,omitempty"`
		Content       string          `json:"content,omitempty"`
		Message       *writtenMessage `json:"message,omitempty"`
		IsSummary     bool            `json:"isCompactSummary,omitempty"`
		UUID          string          `json:"uuid"`
		Timestamp     string          `json:"timestamp"`
		ToolUseResult any             `json:"toolUseResult,omitempty"`
	}
	writtenMessage struct {
		ID      string         `json:"id,omitempty"`
		Type    string         `json:"type,omitempty"`
		Role    string         `json:"role"`
		Model   string         `json:"model,omitempty"`
		Content any            `json:"content"`
		Usage   map[string]int `json:"usage,omitempty"`
	}
	textBlock struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	callBlock struct {
		Type  string         `json:"type"`
		ID    string         `json:"id"`
		Name  string         `json:"name"`
		Input map[string]any `json:"input"`
	}
	resultBlock struct {
		ToolUseID string `json:"tool_use_id"`
		Type      string `json:"type"`
		Content   string `json:"content"`
		IsError   bool   `json:"is_error,omitempty"`
	}
)

// writer makes transcripts.
type writer struct {
	history         *history
	folder          string
	branch          string
	files           map[string]string
	id              string
	at              time.Time
	lines           [][]byte
	calls, messages int
	agents          map[string][]byte // transcripts of subagents by their ids
}

func (w *writer) line(word, text string) error {
	switch word {
	case "folder":
		w.folder = text
	case "branch":
		w.branch = text
	case "file":
		path, content, _ := strings.Cut(text, "\n")
		w.files[path] = content + "\n"
	case "session":
		return w.session(text)
	case "person":
		w.add(ofUser(text))
	case "agent":
		w.add(w.said(textBlock{"text", text}))
	case "interrupt":
		w.add(ofUser([]textBlock{{"text", "[Request interrupted by user]"}}))
	case "compact":
		w.add(written{Type: "system", Subtype: "compact_boundary", Content: "Conversation compacted"})
		summary := ofUser("This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:\n" + text)
		summary.IsSummary = true
		w.add(summary)
	case "bash", "bash failed", "read", "edit", "write", "grep", "todo", "plan", "offer", "refused", "question", "subagent":
		return w.tool(word, text)
	case "expect":
		w.history.expect = text
	default:
		return w.want(word, text)
	}
	return nil
}

// want adds a need of the last session.
func (w *writer) want(word, text string) error {
	kind, ok := strings.CutPrefix(word, "needs ")
	g := gold{kind: kind, phrases: strings.Split(text, " & ")}
	if !ok {
		g.never = true
		if g.kind, ok = strings.CutPrefix(word, "never "); !ok {
			return fmt.Errorf("unknown word %q", word)
		}
	}
	if !slices.Contains(needKinds, g.kind) {
		return fmt.Errorf("unknown kind of need %q", g.kind)
	}
	w.history.gold = append(w.history.gold, g)
	return nil
}

// session ends the last session, and begins the next: "2026-03-02 09:10 clear".
func (w *writer) session(text string) error {
	w.end()
	const layout = "2006-01-02 15:04"
	at, err := time.Parse(layout, text[:min(len(text), len(layout))])
	if err != nil {
		return err
	}
	kind := strings.TrimSpace(text[len(layout):])
	if !slices.Contains([]string{clearPair, planPair, newPair}, kind) {
		return fmt.Errorf("unknown start %q", kind)
	}
	w.at = at
	w.history.kinds = append(w.history.kinds, kind)
	n := len(w.history.kinds)
	name := hex.EncodeToString([]byte(w.history.name + "0000000000"))
	w.id = fmt.Sprintf("%s%02d-0000-4000-8000-%s", name[:6], n, name[6:18])
	return nil
}

// end reads the transcript of a session.
func (w *writer) end() {
	if len(w.lines) > 0 {
		t := read(w.lines)
		t.root, t.agents = w.folder, w.agents
		w.history.sessions = append(w.history.sessions, t)
	}
	w.lines, w.agents = nil, map[string][]byte{}
}

const uuidForm = "00000000-%04d-4000-9000-%012d"

// add adds a line.
func (w *writer) add(line written) {
	if len(w.lines) > 0 && line.Subtype == "" {
		parent := fmt.Sprintf(uuidForm, len(w.history.kinds), len(w.lines))
		line.ParentUUID = &parent
	}
	w.lines = append(w.lines, w.complete(line))
}

// complete returns a line with the members that all lines have.
func (w *writer) complete(line written) []byte {
	const pace = 20 * time.Second
	w.at = w.at.Add(pace)
	line.SessionID, line.Cwd, line.GitBranch, line.Version, line.UserType = w.id, w.folder, w.branch, "2.1.300", "external"
	line.Timestamp, line.UUID = w.at.Format(time.RFC3339), fmt.Sprintf(uuidForm, len(w.history.kinds), len(w.lines)+1)
	data, err := json.Marshal(line)
	if err != nil {
		panic(err) // of strings
	}
	return data
}

// ofUser returns a line of the person, or of the client.
func ofUser(content any) written {
	return written{Type: "user", Message: &writtenMessage{Role: "user", Content: content}}
}

// said returns a line of the agent.
func (w *writer) said(block any) written {
	w.messages++
	return written{Type: "assistant", Message: &writtenMessage{
		ID: fmt.Sprintf("msg_%06d", w.messages), Type: "message", Role: "assistant", Model: "claude-opus-4-8", Content: []any{block},
		Usage: map[string]int{"input_tokens": 12000, "output_tokens": 200},
	}}
}

// call adds a call of a tool, and its result if there is one.
func (w *writer) call(name string, input map[string]any, output string, failed bool, result any) {
	w.calls++
	id := fmt.Sprintf("toolu_%06d", w.calls)
	w.add(w.said(callBlock{"tool_use", id, name, input}))
	line := ofUser([]resultBlock{{id, "tool_result", output, failed}})
	line.ToolUseResult = result
	w.add(line)
}

// tool adds a call of the tool that a word names. The first line of the text is the input.
func (w *writer) tool(word, text string) error {
	head, rest, _ := strings.Cut(text, "\n")
	path := filepath.Join(w.folder, head)
	switch word {
	case "bash":
		w.call("Bash", map[string]any{"command": head}, rest, false, map[string]any{"stdout": rest, "stderr": "", "interrupted": false})
	case "bash failed":
		w.call("Bash", map[string]any{"command": head}, "Exit code 1\n"+rest, true, "Error: Exit code 1\n"+rest)
	case "grep":
		w.call("Grep", map[string]any{"pattern": head}, rest, false, nil)
	case "read":
		content := w.files[head]
		lines := strings.Count(content, "\n") + 1
		w.call("Read", map[string]any{"file_path": path}, content, false, map[string]any{"type": "text", "file": map[string]any{"filePath": path, "content": content, "startLine": 1, "numLines": lines, "totalLines": lines}})
	case "write":
		w.files[head] = rest + "\n"
		w.call("Write", map[string]any{"file_path": path, "content": rest + "\n"}, "File created successfully at: "+path, false, map[string]any{"type": "create", "filePath": path, "content": rest + "\n"})
	case "edit":
		return w.edit(head, rest)
	case "todo":
		var todos []any
		for item := range strings.SplitSeq(text, "\n") {
			const mark = len("[x]")
			if len(item) < mark+1 {
				return fmt.Errorf("%q has no mark", item)
			}
			status := map[string]string{"[x]": "completed", "[ ]": "pending", "[>]": "in_progress"}[item[:mark]]
			if status == "" {
				return fmt.Errorf("unknown mark %q", item[:mark])
			}
			what := strings.TrimSpace(item[mark:])
			todos = append(todos, map[string]any{"content": what, "status": status, "activeForm": what})
		}
		w.call("TodoWrite", map[string]any{"todos": todos}, "Todos have been modified successfully.", false, nil)
	case "plan":
		w.call("ExitPlanMode", map[string]any{"plan": text}, "User has approved your plan. You can now start coding.\n\n## Approved Plan:\n"+text, false, nil)
	case "refused":
		command, said, _ := strings.Cut(text, "\n")
		w.call("Bash", map[string]any{"command": command}, "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\n"+said, true, "User rejected tool use")
	case "question":
		answer, options, _ := strings.Cut(rest, "\n")
		w.call("AskUserQuestion", map[string]any{"questions": []any{map[string]any{"question": head, "options": options}}}, fmt.Sprintf("User has answered your questions: %q=%q.", head, answer), false, map[string]any{"answers": map[string]any{head: answer}})
	case "offer": // the session ends with it
		w.add(w.said(callBlock{"tool_use", "toolu_plan", "ExitPlanMode", map[string]any{"plan": text}}))
	case "subagent":
		w.subagent(head, rest)
	}
	return nil
}

// subagent adds a task of a subagent, which has a transcript of its own.
func (w *writer) subagent(task, text string) {
	id := fmt.Sprintf("a%016d", len(w.agents)+1)
	var lines []byte
	add := func(line written) {
		line.IsSidechain, line.AgentID = true, id
		lines = append(append(lines, w.complete(line)...), '\n')
	}
	add(ofUser(task))
	report := ""
	for i, line := range strings.Split(text, "\n") {
		if rest, ok := strings.CutPrefix(line, "= "); ok {
			report = rest
			continue
		}
		call := fmt.Sprintf("toolu_%s_%d", id, i)
		add(w.said(callBlock{"tool_use", call, "Read", map[string]any{"file_path": filepath.Join(w.folder, line)}}))
		add(ofUser([]resultBlock{{call, "tool_result", w.files[line], false}}))
	}
	add(w.said(textBlock{"text", report}))
	w.agents[id] = lines
	w.call("Agent", map[string]any{"description": task, "prompt": task, "subagent_type": "Explore"}, report, false,
		map[string]any{"status": "completed", "prompt": task, "agentId": id, "content": []any{map[string]any{"type": "text", "text": report}}})
}

// edit replaces the lines that begin with - by those that begin with +.
func (w *writer) edit(file, change string) error {
	var before, after strings.Builder
	for line := range strings.Lines(change + "\n") {
		switch line[0] {
		case '-':
			before.WriteString(line[1:])
		case '+':
			after.WriteString(line[1:])
		default:
			return fmt.Errorf("%q is neither removed nor added", line)
		}
	}
	original, ok := w.files[file]
	if !ok || !strings.Contains(original, before.String()) {
		return fmt.Errorf("%s has not the text to replace", file)
	}
	path := filepath.Join(w.folder, file)
	w.files[file] = strings.Replace(original, before.String(), after.String(), 1)
	w.call("Edit", map[string]any{"file_path": path, "old_string": before.String(), "new_string": after.String()}, "The file "+path+" has been updated.", false,
		map[string]any{"filePath": path, "oldString": before.String(), "newString": after.String(), "originalFile": original, "replaceAll": false})
	return nil
}
