package main

import (
	"regexp"
	"slices"
	"strings"
)

var itemState = regexp.MustCompile(`\s*\((?:in progress|pending)\)$`)

// step checks that a next step was announced, and neither done nor replied to since.
func (j *judge) step(text string) string {
	text = itemState.ReplaceAllString(text, "")
	for _, label := range []string{"open question: ", "plan: ", "plan offered: "} {
		text = strings.TrimPrefix(text, label)
	}
	for _, item := range j.t.todos {
		if item.text == "" || !has(letters(item.text), text) {
			continue
		}
		if item.status == "completed" || item.status == "deleted" {
			return "an item of the list that is " + item.status
		}
		return ""
	}
	at := j.t.lastOf(text, reply, summary, request, toolCall)
	switch {
	case at < 0:
		return "neither the person nor the agent said it"
	case j.t.repliedAfter(at):
		return "the person went on after it"
	case j.t.finishedAfter(at):
		return "the agent worked on after it and ended its turn"
	}
	return ""
}

// question checks that the session ended with the question.
func (j *judge) question(text string) string {
	text, isOption := strings.CutPrefix(text, "alternative: ")
	at := j.t.lastOf(text, reply, toolCall)
	switch {
	case at < 0:
		return "the agent didn't ask it"
	case j.t.repliedAfter(at):
		return "the person replied to it"
	case !isOption && !strings.Contains(text, "?"):
		return "not a question"
	}
	return ""
}

var inTicks = regexp.MustCompile("`([^`]+)`")

// blocker checks that a call failed, by its exit status, the client's mark or the runner's own
// count, and that the same command didn't succeed later.
func (j *judge) blocker(text string) string {
	if strings.Contains(text, "interrupted the last turn") {
		if k := j.t.ending(); k != interrupt && k != denial {
			return "the session didn't end with an interrupted turn"
		}
		return ""
	}
	rest, isFailure := strings.CutPrefix(text, "failed and did not pass since: ")
	if before, _, ok := strings.Cut(text, "failed and did not pass since"); ok && !isFailure {
		rest = strings.TrimRight(before, " :,")
	}
	rest = toolFailed.ReplaceAllString(rest, "")
	for _, label := range []string{"denied: ", "not allowed: "} {
		if what, ok := strings.CutPrefix(rest, label); ok {
			return j.quoted(what, j.sources.denied(), "a call that the person denied")
		}
	}
	at := j.failure(rest)
	if at < 0 {
		if slices.ContainsFunc(j.t.events, func(e event) bool { return e.kind == modelErr && has(letters(e.text), rest) }) {
			return ""
		}
		if i := j.t.lastOf(rest, reply); i >= 0 && !j.t.repliedAfter(i) && !j.t.finishedAfter(i) {
			return "" // the agent's own last words
		}
		return "no call of it failed"
	}
	wrong := j.t.events[at].call
	for _, e := range j.t.events[at+1:] {
		if e.kind == toolCall && e.call.outcome() == passed && j.repeats(wrong, e.call) {
			return "it succeeded later"
		}
	}
	return ""
}

// toolFailed is the beginning of a failure of a tool: "edit failed: a.go: …".
var toolFailed = regexp.MustCompile(`^(?:\w+ )?failed: `)

// failure returns the last failed call that a text describes, -1 for none. The text is the command
// or the tool with its input, optionally followed by a colon and the error.
func (j *judge) failure(text string) int {
	if m := inTicks.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	for i, e := range slices.Backward(j.t.events) {
		if e.kind != toolCall || e.call.outcome() != failed {
			continue
		}
		for what := text; what != ""; {
			// The text is the command, or part of the input of another tool.
			is := has(letters(e.call.name+" "+e.call.inputs), what)
			if e.call.name == "Bash" && !strings.HasPrefix(what, "Bash ") {
				is = slices.ContainsFunc(forms, func(form func(line, text string) bool) bool { return form(e.call.input.Command, what) })
			}
			if is && letters(what) != "" {
				return i
			}
			cut := strings.LastIndex(what, ": ")
			if cut < 0 {
				break
			}
			what = what[:cut]
		}
	}
	return -1
}

// repeats reports whether two calls are the same: the same command, edits of the same file, or the
// same tool with the same input.
func (j *judge) repeats(a, b *call) bool {
	if a.name == "Bash" && b.name == "Bash" {
		of := simple(b.input.Command)
		return slices.ContainsFunc(simple(a.input.Command), func(s string) bool { return slices.Contains(of, s) })
	}
	if p := j.t.path(a); p != "" {
		return p == j.t.path(b) && (a.name == b.name || b.edits())
	}
	return a.name == b.name && a.inputs == b.inputs
}

// forms are the ways in which a text may quote a command line, whole or cut at its end: the line
// itself, the line without redirections and the rest of a pipe, or one of its commands.
var forms = []func(line, text string) bool{ //nolint:gochecknoglobals // a read-only table
	func(line, text string) bool {
		return isQuote(line, text) || isQuote(changedTo.ReplaceAllString(line, ""), text)
	},
	func(line, text string) bool { return isQuote(strings.Join(simple(line), ""), text) },
	func(line, text string) bool {
		return slices.ContainsFunc(simple(line), func(s string) bool { return isQuote(s, text) })
	},
}

// isQuote reports whether a text is a line, possibly without redirections, or its beginning if the
// text is cut at its end.
func isQuote(line, text string) bool {
	whole := strings.TrimRight(text, " .…")
	of, quoted := letters(line), letters(whole)
	cutOff := len(whole) < len(strings.TrimRight(text, " "))
	return of != "" && (of == quoted || of == letters(text) || of == letters(strings.Join(simple(whole), "")) || cutOff && strings.HasPrefix(of, quoted))
}

var changedTo = regexp.MustCompile(`^\s*cd\s+\S+\s*(?:&&|;)\s*`)

var result = regexp.MustCompile("^`?(.*?)`?: (passed|failed|result unknown|[^:]*)$")

// command checks the last run of a command.
func (j *judge) command(text string) string {
	m := result.FindStringSubmatch(text)
	if m == nil {
		return "no result"
	}
	var c *call // the last run
	for i := 0; i < len(forms) && c == nil; i++ {
		for _, e := range slices.Backward(j.t.events) {
			if e.kind == toolCall && e.call.name == "Bash" && forms[i](e.call.input.Command, m[1]) {
				c = e.call
				break
			}
		}
	}
	if c == nil {
		return "not run"
	}
	switch got := c.outcome(); {
	case m[2] == "passed" && got == failed:
		return "it failed"
	case m[2] == "failed" && got != failed:
		return "it didn't fail"
	}
	return ""
}
