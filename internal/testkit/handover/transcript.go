package main

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// kind is the kind of an event of a transcript.
type kind int

const (
	request   kind = iota // of the person
	reply                 // text of the agent
	toolCall              // with its result, if there is one
	interrupt             // of the person
	modelErr              // an error of the model or the connection
	summary               // at a compaction
	denial                // of a tool call, by the person
	pick                  // the person's replies to the agent's questions
)

// event is an event of the main conversation; events of subagents are left out.
type event struct {
	kind kind
	text string
	call *call
	line int // of the transcript
}

// call is a tool call.
type call struct {
	name    string
	input   toolInput
	inputs  string // all texts of the input
	output  string
	ended   bool // it has a result
	failed  bool // marked by the client
	refused bool // by the person
	file    fileResult
}

// transcript is a parsed session.
type transcript struct {
	id, root, branch, firstBranch string
	source                        string // of the session's start, as its hooks recorded it
	cleared                       bool   // it begins with /clear
	began, ended                  time.Time
	lines                         [][]byte
	events                        []event
	todos                         []task
	normalized                    string            // by all
	agents                        map[string][]byte // transcripts of subagents by their ids, if they are known
}

// task is an item of the agent's list.
type task struct{ id, text, status string }

var (
	commandName = regexp.MustCompile(`(?s)<command-name>/?(.*?)</command-name>`)
	commandArgs = regexp.MustCompile(`(?s)<command-args>(.*?)</command-args>`)
	reminder    = regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>|<ide_[a-z_]+>.*?</ide_[a-z_]+>`)
	taskNumber  = regexp.MustCompile(`Task #(\w+) created`)
)

// read parses the lines of a transcript.
func read(lines [][]byte) *transcript {
	t := &transcript{lines: lines}
	calls := map[string]*call{}
	for i, line := range lines {
		r, ok := parse(line)
		if !ok {
			continue
		}
		t.header(r)
		from := len(t.events)
		if !r.IsSidechain {
			t.line(r, calls)
		}
		for k := range t.events[from:] {
			t.events[from+k].line = i
		}
	}
	return t
}

// before returns how many of the first lines were written before a time.
func (t *transcript) before(at time.Time) int {
	n := 0
	for i, line := range t.lines {
		r, ok := parse(line)
		switch {
		case !ok || r.Timestamp.IsZero():
		case r.Timestamp.Before(at):
			n = i + 1
		default:
			return n
		}
	}
	return n
}

// all returns all texts of the lines, normalized; see letters.
func (t *transcript) all() string {
	if t.normalized == "" {
		var texts strings.Builder
		for _, line := range t.lines {
			collectLine(&texts, line)
		}
		t.normalized = letters(texts.String())
	}
	return t.normalized
}

// header reads the session's id, place and time from a line.
func (t *transcript) header(r record) {
	if t.id == "" {
		t.id = r.SessionID
	}
	if r.Cwd != "" && !r.IsSidechain && (t.root == "" || strings.HasPrefix(t.root, r.Cwd+"/")) {
		t.root = r.Cwd
	}
	if r.GitBranch != "" {
		t.branch = r.GitBranch
		if t.firstBranch == "" {
			t.firstBranch = r.GitBranch
		}
	}
	if t.source == "" && len(r.Data) > 0 {
		var d struct {
			Name string `json:"hookName"`
		}
		if json.Unmarshal(r.Data, &d) == nil {
			if name, ok := strings.CutPrefix(d.Name, "SessionStart:"); ok {
				t.source = name
			}
		}
	}
	if r.Timestamp.IsZero() {
		return
	}
	if t.began.IsZero() {
		t.began = r.Timestamp
	}
	t.ended = r.Timestamp
}

func (t *transcript) line(r record, calls map[string]*call) {
	switch {
	case r.Type == "queue-operation" && r.Operation == "enqueue":
		t.fromPerson(flat(r.Content)) // typed while the agent worked
	case r.Type == "user" && r.IsCompactSummary:
		t.add(event{kind: summary, text: flat(r.Message.Content)})
	case r.Type == "assistant" && r.IsAPIError:
		t.add(event{kind: modelErr, text: flat(r.Message.Content)})
	case r.Type == "assistant":
		for _, b := range r.blocks() {
			switch b.Type {
			case "text":
				if strings.TrimSpace(b.Text) != "" {
					t.add(event{kind: reply, text: b.Text})
				}
			case "tool_use":
				c := &call{name: b.Name}
				if json.Unmarshal(b.Input, &c.input) != nil {
					c.input = toolInput{}
				}
				var texts strings.Builder
				collectLine(&texts, b.Input)
				c.inputs = texts.String()
				calls[b.ID] = c
				t.add(event{kind: toolCall, call: c})
			}
		}
	case r.Type == "user":
		for _, b := range r.blocks() {
			if b.Type == "tool_result" {
				t.result(b, r.Result, calls)
			} else if b.Type == "text" && !r.IsMeta {
				t.fromPerson(b.Text)
			}
		}
	}
}

func (t *transcript) add(e event) { t.events = append(t.events, e) }

// ofClient are commands of the client that make no request.
var ofClient = strings.Fields("clear exit quit model plan compact config context cost mcp hooks resume login status usage permissions agents rename") //nolint:gochecknoglobals // a read-only table

// fromPerson adds text that the person typed, but not the client's own text.
func (t *transcript) fromPerson(text string) {
	text = strings.TrimSpace(reminder.ReplaceAllString(text, ""))
	if name := commandName.FindStringSubmatch(text); name != nil {
		args := ""
		if m := commandArgs.FindStringSubmatch(text); m != nil {
			args = strings.TrimSpace(m[1])
		}
		if name[1] == "clear" && len(t.events) == 0 {
			t.cleared = true
		}
		if args != "" || !slices.Contains(ofClient, name[1]) {
			t.add(event{kind: request, text: strings.TrimSpace("/" + name[1] + " " + args)})
		}
		return
	}
	switch {
	case strings.HasPrefix(text, "[Request interrupted"):
		t.add(event{kind: interrupt, text: text})
	case text == "" || isBoilerplate(text) || strings.HasPrefix(text, "<") || text[0] == '/' && slices.Contains(ofClient, text[1:]):
	default:
		t.add(event{kind: request, text: text})
	}
}

// isBoilerplate reports whether a text is the client's own wording.
func isBoilerplate(text string) bool {
	for _, begin := range []string{
		"This session is being continued", "Base directory for this skill", "Caveat: The messages below", "<local-command",
		"<task-notification", "[Request interrupted", "The user doesn't want to", "The user wants to clarify", "User has answered your questions",
		"Your questions have been answered", "User has approved your plan", "User rejected", "The user has answered", "Error: The user doesn't want",
		"<tool_use_error", `{"task_id":`, "<execution_context", "Your task is to create a detailed summary", "Stop hook feedback",
	} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	return false
}

func (t *transcript) result(b block, raw json.RawMessage, calls map[string]*call) {
	c, ok := calls[b.ToolID]
	if !ok {
		return
	}
	c.ended, c.failed, c.output = true, b.IsError, flat(b.Content)
	c.refused = b.IsError && (strings.Contains(c.output, "The user doesn't want to") || strings.Contains(c.output, "The user wants to clarify"))
	if c.refused {
		t.add(event{kind: denial, text: c.output, call: c})
		return
	}
	if c.name == "AskUserQuestion" {
		var texts strings.Builder
		collectLine(&texts, raw)
		t.add(event{kind: pick, text: c.output + "\n" + texts.String(), call: c})
	}
	if c.failed {
		return
	}
	if len(raw) > 0 && raw[0] == '{' && json.Unmarshal(raw, &c.file) != nil {
		c.file = fileResult{}
	}
	t.list(c)
}

// list updates the agent's list of tasks.
func (t *transcript) list(c *call) {
	switch c.name {
	case "TodoWrite":
		t.todos = nil
		for _, item := range c.input.Todos {
			t.todos = append(t.todos, task{text: item.Content, status: item.Status})
		}
	case "TaskCreate":
		id := ""
		if m := taskNumber.FindStringSubmatch(c.output); m != nil {
			id = m[1]
		}
		t.todos = append(t.todos, task{id: id, text: c.input.Subject, status: "pending"})
	case "TaskUpdate":
		for i := range t.todos {
			if t.todos[i].id != c.input.TaskID || t.todos[i].id == "" {
				continue
			}
			if c.input.Status != "" {
				t.todos[i].status = c.input.Status
			}
			if c.input.Subject != "" {
				t.todos[i].text = c.input.Subject
			}
		}
	}
}

// inside returns a path relative to the root, "" if it is outside.
func (t *transcript) inside(path string) string {
	if path == "" {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.root, path)
	}
	rel, err := filepath.Rel(t.root, path)
	if err != nil || rel == "." || strings.HasPrefix(rel, "..") {
		return ""
	}
	return rel
}

// path returns the file of a call, relative to the root, "" for none.
func (t *transcript) path(c *call) string {
	switch c.name {
	case "Read", "Edit", "Write", "MultiEdit":
		return t.inside(c.input.Path)
	case "NotebookEdit":
		return t.inside(c.input.Notebook)
	}
	return ""
}

func (c *call) edits() bool {
	return slices.Contains([]string{"Edit", "Write", "MultiEdit", "NotebookEdit"}, c.name) && c.ended && !c.failed
}

var (
	reads     = regexp.MustCompile(`^(?:cat|head|tail|sed|grep|rg|less|wc|awk|git (?:diff|show|log|blame))\b`)
	pathInCmd = regexp.MustCompile(`^[\w@./-]+\.\w+$`)
)

// shown returns the files that a command reads, as it names them.
func (t *transcript) shown(c *call) []string {
	if c.name != "Bash" || !c.ended || c.failed || t.leaves(c.input.Command) {
		return nil
	}
	var list []string
	for part := range strings.SplitSeq(operator.ReplaceAllString(c.input.Command, "\n"), "\n") {
		part, _, _ = strings.Cut(strings.TrimSpace(part), " | ")
		if !reads.MatchString(part) {
			continue
		}
		for _, arg := range strings.Fields(redirect.ReplaceAllString(part, ""))[1:] {
			if arg = strings.Trim(arg, `"'`); pathInCmd.MatchString(arg) {
				if p := t.inside(arg); p != "" {
					list = append(list, p)
				}
			}
		}
	}
	return list
}

// known returns the files that the session read or edited, and those that it edited.
func (t *transcript) known() (files, edited map[string]bool) {
	files, edited = map[string]bool{}, map[string]bool{}
	for _, e := range t.events {
		if e.kind != toolCall || !e.call.ended || e.call.failed {
			continue
		}
		for _, p := range t.shown(e.call) {
			files[p] = true
		}
		if p := t.path(e.call); p != "" {
			files[p] = true
			if e.call.edits() {
				edited[p] = true
			}
		}
	}
	return files, edited
}

// wanted returns the files that the session read, edited or was asked about, in order of first
// occurrence.
func (t *transcript) wanted() []string {
	var list []string
	add := func(p string) {
		if p != "" && filepath.Ext(p) != "" && !strings.ContainsAny(p, "*{") && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	for _, e := range t.events {
		switch e.kind {
		case toolCall:
			add(t.path(e.call))
			for _, p := range t.shown(e.call) {
				add(p)
			}
			if e.call.name == "Grep" {
				add(t.inside(e.call.input.Folder))
			}
		case request:
			if !strings.HasPrefix(e.text, acceptedPlan) {
				for _, m := range mentioned.FindAllStringSubmatch(e.text, -1) {
					add(t.inside(m[1]))
				}
			}
		default:
		}
	}
	return list
}

var mentioned = regexp.MustCompile(`(?:^|\s)@([\w./-]+\.\w+)`)

// texts returns the texts of the events of some kinds, normalized.
func (t *transcript) texts(kinds ...kind) string {
	var b strings.Builder
	for _, e := range t.events {
		if slices.Contains(kinds, e.kind) {
			b.WriteString(e.text)
			b.WriteByte('\n')
		}
	}
	return letters(b.String())
}

// requests returns the person's requests.
func (t *transcript) requests() []string {
	var list []string
	for _, e := range t.events {
		if e.kind == request {
			list = append(list, e.text)
		}
	}
	return list
}

// collectLine appends all strings of a JSON value.
func collectLine(b *strings.Builder, raw []byte) {
	var v any
	if json.Unmarshal(raw, &v) == nil {
		collect(b, v)
	}
}

func collect(b *strings.Builder, v any) {
	switch v := v.(type) {
	case string:
		b.WriteString(v)
		b.WriteByte('\n')
	case []any:
		for _, e := range v {
			collect(b, e)
		}
	case map[string]any:
		for _, e := range v {
			collect(b, e)
		}
	}
}

// ending returns the kind of the last event.
func (t *transcript) ending() kind { return t.events[len(t.events)-1].kind }

func (t *transcript) lastCommit() int {
	list := t.commits()
	if len(list) == 0 {
		return -1
	}
	return list[len(list)-1].at
}

// lastOf returns the last event with a text, -1 if none has it.
func (t *transcript) lastOf(text string, kinds ...kind) int {
	for i, e := range slices.Backward(t.events) {
		if !slices.Contains(kinds, e.kind) && (e.kind != toolCall || !slices.Contains(kinds, toolCall)) {
			continue
		}
		in := e.text
		if e.kind == toolCall {
			in = e.call.inputs
		}
		if has(letters(in), text) {
			return i
		}
	}
	return -1
}

// repliedAfter reports whether the person wrote or picked anything after an event.
func (t *transcript) repliedAfter(at int) bool {
	return slices.ContainsFunc(t.events[at+1:], func(e event) bool { return e.kind == request || e.kind == pick })
}

// finishedAfter reports whether files were changed or committed after an event, and the
// turn then ended with a reply.
func (t *transcript) finishedAfter(at int) bool {
	worked := false
	for _, e := range t.events[at+1:] {
		if e.kind == toolCall && (e.call.edits() || e.call.name == "Bash" && gitCommit.MatchString(e.call.input.Command) && e.call.outcome() == passed) {
			worked = true
		}
	}
	return worked && t.events[len(t.events)-1].kind == reply
}
