package digest

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/plain"
	"github.com/seed-3aff656d/entire/internal/recall/shellcmd"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// agent takes in an answer.
func (d *Digest) agent(e *transcript.Event, redact plain.Redactor) {
	if e.Failed {
		d.trouble(Trouble{Kind: FailedTurn, Text: plain.Line(e.Said(), maxItem, redact)})
		return
	}
	d.Troubles = slices.DeleteFunc(d.Troubles, func(t Trouble) bool { return t.Kind == FailedTurn })
	d.usage(e)
	if len(e.Raw()) > 0 {
		d.PlanOffered = false
		d.said, d.SaidAt = append(d.said[:0], e.Raw()...), d.Prompts
		if mayDecide(e.Raw()) {
			d.chose(e.Said(), redact)
		}
	}
	for _, use := range e.Uses {
		d.PlanOffered = false
		d.use(use, redact)
	}
}

// usage takes in how full the context was. An answer stands in several lines,
// and not all of them tell the truth: the most is it.
func (d *Digest) usage(e *transcript.Event) {
	if e.Model != "" {
		d.Model = plain.Head(plain.Clean(e.Model), maxName)
	}
	id := plain.Head(e.MessageID, maxName)
	switch {
	case e.Context <= 0:
	case id != "" && id == d.MessageID:
		d.Tokens = max(d.Tokens, e.Context)
	default:
		d.Tokens, d.MessageID = e.Context, id
	}
}

// use takes in the call of a tool.
func (d *Digest) use(use transcript.ToolUse, redact plain.Redactor) {
	call := Call{ID: plain.Head(use.ID, maxName), Tool: use.Tool}
	switch use.Tool {
	case "Edit", "Write", "MultiEdit", "NotebookEdit", "Read", "NotebookRead":
		call.Text = d.path(firstOf(use.Input, "file_path", "notebook_path"), redact)
	case "Bash":
		d.command(&call, use.Input, redact)
	case "WebFetch":
		call.Text = plain.Line(use.Input.Member("url").Text(), maxItem, redact)
	case "TaskCreate":
		call.Text = plain.Line(use.Input.Member("subject").Text(), maxItem, redact)
	case "TodoWrite":
		d.todos(use.Input.Member("todos"), redact)
		return
	case "TaskUpdate":
		d.taskUpdate(use.Input, redact)
		return
	case "ExitPlanMode":
		d.offer(use.Input.Member("plan").Text(), redact)
	case "AskUserQuestion":
	default:
		return
	}
	if call.ID == "" {
		return
	}
	d.Open = slices.DeleteFunc(d.Open, func(c Call) bool { return c.ID == call.ID })
	d.Open = plain.Last(append(d.Open, call), openBound(), Call.weight)
}

func (c Call) weight() int {
	const fields = 96 // their names, and the numbers
	n := plain.JSONSize(c.ID) + plain.JSONSize(c.Tool) + plain.JSONSize(c.Text) + fields
	for _, path := range c.Shown {
		n += plain.JSONSize(path) + len(`"",`)
	}
	return n
}

// firstOf is the text of the first of an object's members that has one.
func firstOf(v transcript.Value, keys ...string) string {
	for _, key := range keys {
		if text := v.Member(key).Text(); text != "" {
			return text
		}
	}
	return ""
}

// path is a file's path as it may be kept, empty if it can't be.
func (d *Digest) path(path string, redact plain.Redactor) string {
	path = shellcmd.ResolvePath(path, d.Cwd)
	if path == "" || plain.JSONSize(path) > maxPath {
		return ""
	}
	if slices.Contains(d.Edited, path) || slices.Contains(d.Read, path) {
		return path // it was redacted before
	}
	return redact.Path(path)
}

// command takes in a shell command.
func (d *Digest) command(call *Call, input transcript.Value, redact plain.Redactor) {
	text := strings.TrimSpace(input.Member("command").Text())
	line := shellcmd.Split(text)
	call.Checks = line.Checks()
	if call.Checks == 0 {
		call.Checks = shellcmd.DescribedChecks(input.Member("description").Text())
	}
	call.Judge, call.Trivial = line.Judge(), line.Trivial() && call.Checks == 0
	if input.Member("run_in_background").True() {
		call.Judge = shellcmd.Never
	}
	for _, path := range line.Files(d.Cwd) {
		const most = 16
		if path = d.path(path, redact); path != "" && len(call.Shown) < most {
			call.Shown = append(call.Shown, path)
		}
	}
	if !call.Trivial {
		call.Text = d.commandText(text, redact)
	}
}

// commandText is the first line of a command, as it may be kept.
func (d *Digest) commandText(text string, redact plain.Redactor) string {
	first, more, _ := strings.Cut(text, "\n")
	if more = strings.TrimSpace(more); more != "" && strings.Contains(first, "git commit ") {
		subject, _, _ := strings.Cut(more, "\n") // the message is a here-document, mostly
		first += " " + strings.TrimSpace(subject)
	}
	if more != "" {
		first = strings.TrimRight(first, " \\") + " " + plain.Ellipsis
	}
	if slices.ContainsFunc(d.Commands, func(c recall.Command) bool { return c.Text == first }) {
		return first
	}
	return plain.Line(first, maxItem, redact)
}
