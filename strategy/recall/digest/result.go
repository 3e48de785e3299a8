package digest

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/shellcmd"
)

// result adds the result of an open call; it ignores other results.
func (r *reader) result(e *transcript.Event, res transcript.ToolResult) {
	i := slices.IndexFunc(r.Open, func(c Call) bool { return c.ID == plain.Head(res.Of, maxName) })
	if i < 0 {
		return
	}
	call := r.Open[i]
	if call.Tool == "AskUserQuestion" {
		r.Question = Question{}
	}
	r.Open = slices.Delete(r.Open, i, i+1)
	said := ""
	if res.Failed {
		said = res.Content.Said()
		if r.denied(res, call, said) {
			return
		}
	}
	switch {
	case call.Tool == "Bash":
		r.ran(e, res, call, said)
	case transcript.IsEdit(call.Tool):
		r.edited(e, call, said)
	case call.Tool == "AskUserQuestion":
		for _, reply := range replies(e.Detail(), res) {
			r.answered(reply)
		}
	case res.Failed: // not recorded for other tools
	case call.Tool == "Read", call.Tool == "NotebookRead":
		r.readFile(call.Text)
	case call.Tool == "WebFetch" && call.Text != "":
		r.Docs = plain.Append(r.Docs, call.Text, plain.Bound{Items: 15, Bytes: 4 << 10})
	case call.Tool == "TaskCreate":
		id := e.Detail().Member("task").Member("id").Text()
		if id == "" {
			_, rest, _ := strings.Cut(res.Content.Said(), "Task #")
			id, _, _ = strings.Cut(rest, " ")
		}
		r.Tasks.add(Task{ID: plain.Line(id, maxName, r.redact), Text: call.Text, State: "pending"})
	case call.Tool == "ExitPlanMode":
		if plan := e.Detail().Member("plan").Text(); plan != "" { // the user may have edited it
			r.Plan = planOf(plan, r.redact)
		}
		r.acceptPlan()
	}
}

// denied records the denial of a tool call by the user or a permission rule, and reports
// whether the call was never executed. A denial by the user is not a trouble: an offered
// plan that the user accepts while clearing the context has the result of a refusal, too.
func (r *reader) denied(res transcript.ToolResult, call Call, said string) bool {
	said = strings.TrimSpace(said)
	byUser := strings.HasPrefix(said, "The user doesn't want to") || strings.HasPrefix(said, "User rejected")
	switch {
	case strings.HasPrefix(said, "Sibling tool call errored"), strings.HasPrefix(said, "Cancelled"),
		strings.HasPrefix(said, "<tool_use_error>") && call.Tool == "Bash":
		return true // never executed
	case !byUser && !strings.HasPrefix(said, "Permission to use "):
		return false
	}
	if text := res.Reply(); byUser && enough(text) { // the user's request instead of the call
		r.ask(plain.Text(text, maxRequest, r.redact), "")
		r.heard(text, "", &call)
	}
	if byUser || call.Text == "" {
		return true // not a failure
	}
	r.Troubles.add(Trouble{Kind: Denied, Text: plain.Shorten(call.Tool+" "+call.Text, maxItem)})
	return true
}

// ran adds the result of a command; said is its error message.
func (r *reader) ran(e *transcript.Event, res transcript.ToolResult, call Call, said string) {
	result := recall.Failed
	if res.Failed && shellcmd.CountedSuccess(said) { // the runner's own count decides
		r.Troubles.passed(call.Checks.Tests())
		if call.Checks &^= call.Checks.Tests(); call.Checks == 0 {
			result = recall.Unknown
		}
	}
	if !res.Failed {
		for _, path := range call.Shown {
			r.readFile(path)
		}
		result = outcome(e, res, call)
	}
	r.effects(res, call)
	if !res.Failed && call.UsesGit {
		r.Troubles.passed(shellcmd.GitChecks()) // a git check may have passed
	}
	if !call.Trivial && call.Text != "" {
		const fields = 40 // the names of the fields
		r.Commands = slices.DeleteFunc(r.Commands, func(c recall.Command) bool { return c.Text == call.Text })
		r.Commands = plain.Last(append(r.Commands, recall.Command{Text: call.Text, Result: result}), plain.Bound{Items: 20, Bytes: 8 << 10},
			func(c recall.Command) int { return plain.JSONSize(c.Text) + fields })
	}
	switch {
	case call.Checks == 0:
	case result == recall.Passed && call.Checks.Commits():
		r.Troubles.drop(func(t Trouble) bool { return t.Kind == FailedCommand }) // all settled
	case result == recall.Passed, result == recall.Unknown: // may have passed
		r.Troubles.passed(call.Checks)
	case result == recall.Failed:
		if said == "" {
			said = res.Content.Said()
		}
		r.Troubles.passed(call.Checks) // this failure replaces earlier ones
		if shellcmd.NothingToDo(said) {
			return
		}
		r.Troubles.add(Trouble{Kind: FailedCommand, Text: call.Text, Why: reason(said, r.redact), Checks: call.Checks})
	}
}

// outcome returns the outcome of a command whose result is not an error.
func outcome(e *transcript.Event, res transcript.ToolResult, call Call) recall.Outcome {
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
	return call.Judge.Outcome(res.Content.Said())
}

// reason returns the line of an output that describes the error, redacted.
func reason(output string, redact plain.Redactor) string {
	const most, share, longest = 8 << 10, 4, 160
	if len(output) > most {
		output = plain.Head(output, most/share) + "\n" + output[len(output)-most+most/share:]
	}
	output = plain.Clean(redact.Text(plain.Clean(output)))
	first, failure, mention := "", "", ""
	for text := range strings.SplitSeq(output, "\n") {
		text = strings.TrimSpace(text)
		switch {
		case text == "", strings.HasPrefix(text, "Exit code "):
			continue
		case text != "FAIL" && shellcmd.IsFailure(text):
			failure = text
		case mention == "" && containsAny(text, "rror:", "CONFLICT", "ERROR", "rejected"):
			mention = text
		case first == "":
			first = text
		}
	}
	return plain.Shorten(cmp.Or(failure, mention, first), longest)
}

// edited adds the edit of a file; said is its error. A failed edit is not a trouble: the
// agent tries again.
func (r *reader) edited(e *transcript.Event, call Call, said string) {
	if call.Text == "" || said != "" {
		return
	}
	if !ownFile(call.Text) {
		n := Note{Path: call.Text, Request: r.Asks, Created: e.Detail().Member("type").Text() == "create"}
		if r.SaidAt == r.Prompts {
			n.Why = cmp.Or(r.Doing, r.text.reason(r.Said, r.redact))
			if r.aboutOther(n.Why, call.Text) {
				n.Why = ""
			}
		}
		r.Worked = true
		// From an earlier note of the file keep Created, and Why if the new note has none.
		if i := slices.IndexFunc(r.Notes, func(old Note) bool { return old.Path == n.Path }); i >= 0 {
			n.Created, n.Why = n.Created || r.Notes[i].Created, cmp.Or(n.Why, r.Notes[i].Why)
			r.Notes = slices.Delete(r.Notes, i, i+1)
		}
		const fields = 80 // their names, and the numbers
		r.Notes = plain.Last(append(r.Notes, n), plain.Bound{Items: 120, Bytes: 12 << 10},
			func(n Note) int { return plain.JSONSize(n.Path) + plain.JSONSize(n.Why) + fields })
		r.Edited = plain.Append(r.Edited, call.Text, plain.Bound{Items: 300, Bytes: 24 << 10})
		r.useFile(call.Text, 1, 0)
		r.follow(call.Text)
		r.Plan.Begun = r.Plan.Accepted
	}
	r.Troubles.drop(func(t Trouble) bool {
		return t.Kind == Denied && strings.HasSuffix(t.Text, " "+call.Text)
	})
}

// aboutOther reports whether a text has the name of another file but not that of path.
func (r *reader) aboutOther(text, path string) bool {
	if !strings.Contains(text, ".") || strings.Contains(text, filepath.Base(path)) {
		return false
	}
	for word := range strings.FieldsFuncSeq(text, func(c rune) bool { return c > unicode.MaxASCII || !isNameByte(byte(c)) && c != '.' }) {
		word = strings.Trim(word, ".")
		ext := filepath.Ext(word)
		if ext != "" && ext == filepath.Ext(path) && len(word) > len(ext) {
			return true
		}
		if slices.ContainsFunc(r.Uses, func(u Use) bool { return filepath.Base(u.Path) == word }) {
			return true
		}
	}
	return false
}

// reply is the user's answer to one question of the agent.
type reply struct{ question, text string }

// replies returns the answers in the result of the tool for questions.
func replies(detail transcript.Value, res transcript.ToolResult) []reply {
	var list []reply
	for question, answer := range detail.Member("answers").Members() {
		text := answer.Text()
		question = transcript.Value(`"` + question + `"`).Text()
		if text != "" && question != "" {
			list = append(list, reply{question, text})
		}
	}
	if len(list) > 0 {
		return list
	}
	for pair := range strings.SplitSeq(res.Reply(), `", "`) {
		if question, answer, ok := strings.Cut(strings.Trim(pair, `"`), `"="`); ok {
			list = append(list, reply{question, answer})
		}
	}
	return list
}
