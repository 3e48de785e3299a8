package recall

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/session/transcript"
)

// judge is how the success of a command is told from a result without an error.
type judge uint8

const (
	byStatus    judge = iota // it is one
	byOutput                 // the end of the output tells
	byFewOutput              // the output tells, but parts are left out
	never                    // nothing tells
)

func judgeOf(line shellLine) judge {
	switch {
	case line.masked && line.cuts:
		return byFewOutput
	case line.masked:
		return byOutput
	}
	return byStatus
}

// result takes in what a tool answered.
func (d *Digest) result(e *transcript.Event, r transcript.ToolResult, redact Texts) {
	i := slices.IndexFunc(d.Open, func(c Call) bool { return c.ID == head(r.Of, maxName) })
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
func (d *Digest) succeeded(e *transcript.Event, r transcript.ToolResult, call Call, redact Texts) {
	switch call.Tool {
	case "Read", "NotebookRead":
		d.read(call.Text)
	case "WebFetch":
		if call.Text != "" {
			d.Docs = latest(d.Docs, call.Text, docsBound())
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
func (d *Digest) denied(call Call, said string, redact Texts) bool {
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
		if text := keptLine(words, maxItem, redact); enough(text) {
			d.answer(userSaid + text)
		}
	}
	if call.Tool == "ExitPlanMode" || call.Tool == "AskUserQuestion" || call.Text == "" {
		return true
	}
	d.trouble(Trouble{Kind: Denied, Text: shortened(call.Tool+" "+call.Text, maxItem)})
	return true
}

// ran is a command that ended, with what an error said.
type ran struct {
	call Call
	said string
}

// ran takes in how a command ended.
func (d *Digest) ran(e *transcript.Event, r transcript.ToolResult, of ran, redact Texts) {
	call := of.call
	result := Failed
	if !r.Failed {
		for _, path := range call.Shown {
			d.read(path)
		}
		result = d.outcome(e, r, call)
	}
	if !call.Trivial && call.Text != "" {
		const fields = 40 // the names of the fields
		d.Commands = without(d.Commands, func(c Command) bool { return c.Text == call.Text })
		d.Commands = lastWithin(append(d.Commands, Command{Text: call.Text, Result: result}), runBound(),
			func(c Command) int { return weight(c.Text) + fields })
	}
	switch {
	case call.Checks == 0:
	case result == Passed, result == Unknown: // it may have passed
		d.passed(call.Checks)
	case result == Failed:
		if of.said == "" {
			of.said = r.Content.Said()
		}
		d.passed(call.Checks) // what failed before is old news
		d.trouble(Trouble{Kind: FailedCommand, Text: call.Text, Why: reason(of.said, redact), Checks: call.Checks})
	}
}

// outcome is how a command ended that gave no error.
func (d *Digest) outcome(e *transcript.Event, r transcript.ToolResult, call Call) Outcome {
	for key, value := range e.Detail().Members() {
		switch key {
		case "interrupted":
			if value.True() {
				return Unknown
			}
		case "backgroundTaskId":
			if value.Text() != "" {
				return Unknown
			}
		}
	}
	if call.Judge == byStatus {
		return Passed
	}
	if call.Judge == never || call.Checks == 0 {
		return Unknown
	}
	return outcomeOf(call.Judge, r.Content.Said())
}

// passed takes what passed from what failed before.
func (d *Digest) passed(checks check) {
	for i := range d.Troubles {
		d.Troubles[i].Checks &^= checks
	}
	d.Troubles = without(d.Troubles, func(t Trouble) bool { return t.Kind == FailedCommand && t.Checks == 0 })
}

// reason is the line of an output that tells what was wrong, redacted.
func reason(output string, redact Texts) string {
	const most, share, longest = 8 << 10, 4, 160
	if len(output) > most {
		output = head(output, most/share) + "\n" + output[len(output)-most+most/share:]
	}
	output = tidy(redact.Text(tidy(output)))
	first := ""
	for text := range strings.SplitSeq(output, "\n") {
		text = strings.TrimSpace(text)
		switch {
		case text == "", strings.HasPrefix(text, "Exit code "):
			continue
		case text != "FAIL" && (tellsFailure(text) || contains(text, "rror:", "CONFLICT", "ERROR", "rejected")):
			return shortened(text, longest)
		case first == "":
			first = text
		}
	}
	return shortened(first, longest)
}

// edited takes in that a file was changed, or wasn't: said is the error.
func (d *Digest) edited(call Call, said string, redact Texts) {
	if call.Text == "" {
		return
	}
	if said != "" {
		said = strings.TrimSuffix(strings.TrimPrefix(said, "<tool_use_error>"), "</tool_use_error>")
		first, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
		const longest = 160
		d.trouble(Trouble{Kind: FailedEdit, Text: call.Text, Why: keptLine(first, longest, redact)})
		return
	}
	if !ownFile(call.Text) {
		d.Edited = latest(d.Edited, call.Text, editedBound())
		d.Plan.Begun = d.Plan.Accepted
	}
	d.Troubles = without(d.Troubles, func(t Trouble) bool {
		return t.Kind == FailedEdit && t.Text == call.Text || t.Kind == Denied && strings.HasSuffix(t.Text, " "+call.Text)
	})
}

func (d *Digest) read(path string) {
	if path != "" && !ownFile(path) {
		d.Read = latest(d.Read, path, readBound())
	}
}

// answered takes in what a person answered to the agent's questions.
func (d *Digest) answered(detail transcript.Value, redact Texts) {
	for question, answer := range detail.Member("answers").Members() {
		text := answer.Text()
		question = transcript.Value(`"` + question + `"`).Text()
		if text == "" || question == "" {
			continue
		}
		const half = maxItem / 2
		d.answer(keptLine(question, half, redact) + " -> " + keptLine(text, half, redact))
	}
}
