package digest

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/plain"
	"github.com/seed-3aff656d/entire/internal/recall/shellcmd"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// result takes in what a tool answered.
func (d *Digest) result(e *transcript.Event, r transcript.ToolResult, redact plain.Redactor) {
	i := slices.IndexFunc(d.Open, func(c Call) bool { return c.ID == plain.Head(r.Of, maxName) })
	if i < 0 {
		return
	}
	call := d.Open[i]
	d.Open = slices.Delete(d.Open, i, i+1)
	said := ""
	if r.Failed {
		said = r.Content.Said()
		if d.denied(call, said, redact) {
			return
		}
	}
	switch call.Tool {
	case "Bash":
		d.ran(e, r, ran{call: call, said: said}, redact)
	case "Edit", "Write", "MultiEdit", "NotebookEdit":
		d.edited(call, said, redact)
	case "AskUserQuestion":
		d.answered(e.Detail(), redact)
	default:
		if !r.Failed {
			d.succeeded(e, r, call, redact)
		}
	}
}

// succeeded takes in what a tool did that leaves no trace when it fails.
func (d *Digest) succeeded(e *transcript.Event, r transcript.ToolResult, call Call, redact plain.Redactor) {
	switch call.Tool {
	case "Read", "NotebookRead":
		d.read(call.Text)
	case "WebFetch":
		if call.Text != "" {
			d.Docs = plain.Append(d.Docs, call.Text, docsBound())
		}
	case "TaskCreate":
		d.created(call.Text, e.Detail(), r.Content, redact)
	case "ExitPlanMode":
		d.revised(e.Detail(), redact)
		d.accept(redact)
	}
}

// denied takes in that a person or a rule didn't let the agent do something. An
// offered plan is no such thing: when a person accepts it and clears the context,
// the result reads as if they had refused.
func (d *Digest) denied(call Call, said string, redact plain.Redactor) bool {
	said = strings.TrimSpace(said)
	byUser := strings.HasPrefix(said, "The user doesn't want to") || strings.HasPrefix(said, "User rejected")
	switch {
	case strings.HasPrefix(said, "Sibling tool call errored"), strings.HasPrefix(said, "Cancelled"),
		strings.HasPrefix(said, "<tool_use_error>") && call.Tool == "Bash":
		return true // it was never done
	case !byUser && !strings.HasPrefix(said, "Permission to use "):
		return false
	}
	if _, words, ok := strings.Cut(said, "the user said:"); ok && byUser {
		if text := plain.Line(words, maxItem, redact); enough(text) {
			d.answer(userSaid + text)
		}
	}
	if call.Tool == "ExitPlanMode" || call.Tool == "AskUserQuestion" || call.Text == "" {
		return true
	}
	d.trouble(Trouble{Kind: Denied, Text: plain.Shorten(call.Tool+" "+call.Text, maxItem)})
	return true
}

// ran is a command that ended, with what an error said.
type ran struct {
	call Call
	said string
}

// ran takes in how a command ended.
func (d *Digest) ran(e *transcript.Event, r transcript.ToolResult, of ran, redact plain.Redactor) {
	call := of.call
	result := recall.Failed
	if !r.Failed {
		for _, path := range call.Shown {
			d.read(path)
		}
		result = d.outcome(e, r, call)
	}
	if !call.Trivial && call.Text != "" {
		const fields = 40 // the names of the fields
		d.Commands = slices.DeleteFunc(d.Commands, func(c recall.Command) bool { return c.Text == call.Text })
		d.Commands = plain.Last(append(d.Commands, recall.Command{Text: call.Text, Result: result}), runBound(),
			func(c recall.Command) int { return plain.JSONSize(c.Text) + fields })
	}
	switch {
	case call.Checks == 0:
	case result == recall.Passed, result == recall.Unknown: // it may have passed
		d.passed(call.Checks)
	case result == recall.Failed:
		if of.said == "" {
			of.said = r.Content.Said()
		}
		d.passed(call.Checks) // what failed before is old news
		d.trouble(Trouble{Kind: FailedCommand, Text: call.Text, Why: reason(of.said, redact), Checks: call.Checks})
	}
}

// outcome is how a command ended that gave no error.
func (d *Digest) outcome(e *transcript.Event, r transcript.ToolResult, call Call) recall.Outcome {
	for key, value := range e.Detail().Members() {
		switch key {
		case "interrupted":
			if value.True() {
				return recall.Unknown
			}
		case "backgroundTaskId":
			if value.Text() != "" {
				return recall.Unknown
			}
		}
	}
	if call.Judge == shellcmd.ByStatus {
		return recall.Passed
	}
	if call.Judge == shellcmd.Never || call.Checks == 0 {
		return recall.Unknown
	}
	return call.Judge.Outcome(r.Content.Said())
}

// passed takes what passed from what failed before.
func (d *Digest) passed(checks shellcmd.Checks) {
	for i := range d.Troubles {
		d.Troubles[i].Checks &^= checks
	}
	d.Troubles = slices.DeleteFunc(d.Troubles, func(t Trouble) bool { return t.Kind == FailedCommand && t.Checks == 0 })
}

// reason is the line of an output that tells what was wrong, redacted.
func reason(output string, redact plain.Redactor) string {
	const most, share, longest = 8 << 10, 4, 160
	if len(output) > most {
		output = plain.Head(output, most/share) + "\n" + output[len(output)-most+most/share:]
	}
	output = plain.Clean(redact.Text(plain.Clean(output)))
	first := ""
	for text := range strings.SplitSeq(output, "\n") {
		text = strings.TrimSpace(text)
		switch {
		case text == "", strings.HasPrefix(text, "Exit code "):
			continue
		case text != "FAIL" && (shellcmd.IsFailure(text) || containsAny(text, "rror:", "CONFLICT", "ERROR", "rejected")):
			return plain.Shorten(text, longest)
		case first == "":
			first = text
		}
	}
	return plain.Shorten(first, longest)
}

// edited takes in that a file was changed, or wasn't: said is the error.
func (d *Digest) edited(call Call, said string, redact plain.Redactor) {
	if call.Text == "" {
		return
	}
	if said != "" {
		said = strings.TrimSuffix(strings.TrimPrefix(said, "<tool_use_error>"), "</tool_use_error>")
		first, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
		const longest = 160
		d.trouble(Trouble{Kind: FailedEdit, Text: call.Text, Why: plain.Line(first, longest, redact)})
		return
	}
	if !ownFile(call.Text) {
		d.Edited = plain.Append(d.Edited, call.Text, editedBound())
		d.Plan.Begun = d.Plan.Accepted
	}
	d.Troubles = slices.DeleteFunc(d.Troubles, func(t Trouble) bool {
		return t.Kind == FailedEdit && t.Text == call.Text || t.Kind == Denied && strings.HasSuffix(t.Text, " "+call.Text)
	})
}

func (d *Digest) read(path string) {
	if path != "" && !ownFile(path) {
		d.Read = plain.Append(d.Read, path, readBound())
	}
}

// answered takes in what a person answered to the agent's questions.
func (d *Digest) answered(detail transcript.Value, redact plain.Redactor) {
	for question, answer := range detail.Member("answers").Members() {
		text := answer.Text()
		question = transcript.Value(`"` + question + `"`).Text()
		if text == "" || question == "" {
			continue
		}
		const half = maxItem / 2
		d.answer(plain.Line(question, half, redact) + " -> " + plain.Line(text, half, redact))
	}
}
