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
		if res.Failed { // the person may have refused a call of another tool
			r.denied(res, Call{}, res.Content.Said())
		}
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
	case transcript.IsTask(call.Tool):
		r.delegated(e.Detail().Member("agentId").Text(), res.Content.Said())
	case call.Tool == "TaskOutput" && r.subagent(call.Text):
	case call.Tool == "BashOutput", call.Tool == "TaskOutput":
		r.serves(res.Content.Said(), r.Background)
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
	r.environment(res, call, result)
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
		if call.Checks.Tests() != 0 { // they were built
			r.Troubles.drop(func(t Trouble) bool {
				return t.Kind == FailedCommand && containsAny(t.Text, "go build", "go vet", "cargo build", "cargo check")
			})
		}
	case result == recall.Failed:
		if said == "" {
			said = res.Content.Said()
		}
		r.Troubles.passed(call.Checks) // this failure replaces earlier ones
		if shellcmd.NothingToDo(said) {
			return
		}
		t := Trouble{Kind: FailedCommand, Text: call.Text, Checks: call.Checks, Request: r.Asks, At: r.time()}
		t.Why, t.Files = r.failure(said)
		r.Troubles.add(t)
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

// failure returns what an output says about a failure, redacted: the line that names the test
// or the error, and the line that names its place. files are the files of that place.
func (r *reader) failure(output string) (said string, files []string) {
	const most, share, longest = 8 << 10, 4, 160
	if len(output) > most {
		_, end, _ := strings.Cut(output[len(output)-most+most/share:], "\n") // without the part of a line
		output = plain.Head(output, most/share) + "\n" + end
	}
	output = plain.Clean(r.redact.Text(plain.Clean(output)))
	var best [testNamed + 1]string // the first line of each rank
	var before, after string       // details: lines before and after that of the test
	next := ""                     // the error after the first place
	ended := false                 // the output is past that of the test
	for text := range strings.SplitSeq(output, "\n") {
		text = plain.Shorten(strings.TrimRight(strings.TrimSpace(text), "\u2501 "), longest)
		rank, test := rankOf(text), best[testNamed]
		switch isDetail := rank == placed || rank == errorNamed; {
		case isDetail && test == "":
			before = text
			if rank == errorNamed && best[placed] != "" && next == "" {
				next = text
			}
		case isDetail && !ended && (after == "" || strings.HasPrefix(test, "--- FAIL")): // go logs before it fails
			after = text
		case rank == testNamed || rank == failing:
			ended = ended || test != ""
		}
		if best[rank] == "" {
			best[rank] = text
		}
	}
	detail := cmp.Or(after, before)
	switch test := best[testNamed]; {
	case strings.HasPrefix(test, "(fail)"):
		detail = before
	case test == "":
		detail = next
	}
	said = cmp.Or(best[testNamed], best[placed], best[errorNamed], best[failing], best[mentioning], best[otherLine])
	if detail != "" && detail != said {
		said += "; " + detail
	}
	return said, r.mentioned(said)
}

// The ranks of a line of a failed check's output: how well it names the failure.
const (
	noLine = iota
	otherLine
	mentioning // has a word for errors
	failing    // only failures print it, but it names a package or counts
	errorNamed
	placed // begins with a file and a line
	testNamed
)

func rankOf(text string) int {
	begins := func(beginnings ...string) bool {
		return slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(text, b) })
	}
	switch {
	case text == "", text == "FAIL", begins("Exit code ", "$ ", "# "), begins("\u00d7 Some ") && strings.Contains(text, " were emitted "):
		return noLine
	case begins("--- FAIL: ", "(fail) ", "FAILED ", "not ok ", "\u2715 ", "\u2717 ", "\u25cf "), begins("FAIL ") && strings.Contains(text, ".test."),
		begins("test ") && strings.HasSuffix(text, " FAILED"):
		return testNamed
	case isPlaced(strings.TrimPrefix(text, "at ")): // of a linter
		return placed
	case begins("error: script ", "error: Recipe ", "error Command failed"), strings.HasSuffix(text, " ERROR task failed"):
		return mentioning
	case begins("AssertionError", "TypeError: ", "ReferenceError: ", "SyntaxError: ", "ValueError: ", "ImportError: ", "ModuleNotFoundError: ", "Error: ", "error: ", "error[",
		"panic: ", "fatal: ", "E   ", "\u00d7 "), strings.Contains(text, "error TS"), strings.Contains(text, "Cannot find module"):
		return errorNamed
	case shellcmd.IsFailure(text):
		return failing
	case containsAny(text, "rror:", "CONFLICT", "ERROR", "rejected"):
		return mentioning
	}
	return otherLine
}

// isPlaced reports whether a line begins with a file, a line number and a message, as in
// "a/b.go:12:3: undefined: x" and "src/a.ts(12,5): error TS2345", or is "a/b.ts format".
func isPlaced(text string) bool {
	at := strings.IndexAny(text, ":( ")
	if at < 0 {
		return false
	}
	path, rest := text[:at], text[at+1:]
	ext := filepath.Ext(path)
	digits := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
	return len(ext) > 1 && len(ext) < len(path) && strings.ContainsFunc(ext, unicode.IsLetter) &&
		(text[at] != ' ' && digits > 0 && strings.Contains(rest, " ") || rest == "format" && strings.Contains(path, "/"))
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
		r.Edited = plain.Append(r.Edited, call.Text, editedBound())
		r.useFile(call.Text, 1, 0)
		r.follow(call.Text)
		r.replaced(call)
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
