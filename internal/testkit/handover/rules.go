package main

import (
	"regexp"
	"slices"
	"strings"
)

// judge checks the statements of a brief against the transcript of a session.
type judge struct {
	t        *transcript
	sources  sources
	numbered map[string]string // the requests, as the brief quotes them
}

// check returns the verdicts on all statements of a brief. A statement is true if it is true of one
// of the sessions that the brief may be about, given in the order of their ends, and a failure only
// if the same command didn't pass in a later one.
func check(text string, sessions ...*transcript) []verdict {
	list, _ := statements(text)
	numbered := map[string]string{}
	for _, s := range list {
		if s.section == "requests" && s.number != "" {
			numbered[s.number] = s.text
		}
	}
	var verdicts []verdict
	for _, s := range list {
		var last *verdict
		said, id := s.attributed()
		for i, t := range slices.Backward(sessions) {
			if id != "" && !strings.HasPrefix(t.id, id) {
				continue
			}
			j := &judge{t: t, sources: sources{t}, numbered: numbered}
			class, why, ok := j.one(said)
			if !ok {
				break
			}
			if why == "" && class == "blocker" && slices.ContainsFunc(sessions[i+1:], func(t *transcript) bool { return t.passed(said.text) }) {
				why = "it succeeded in a later session"
			}
			if last == nil || why == "" {
				last = &verdict{s, class, why}
			}
			if why == "" {
				break
			}
		}
		if last == nil && id != "" {
			last = &verdict{s, "other", "no such session"}
		}
		if last != nil {
			verdicts = append(verdicts, *last)
		}
	}
	return verdicts
}

// passed reports whether a command that a statement names passed in the session.
func (t *transcript) passed(text string) bool {
	return slices.ContainsFunc(t.events, func(e event) bool {
		return e.kind == toolCall && e.call.name == "Bash" && e.call.outcome() == passed &&
			slices.ContainsFunc(simple(e.call.input.Command), func(c string) bool { return len(c) > shortName && strings.Contains(text, c) })
	})
}

// continued matches the first line of a brief's second part.
var continued = regexp.MustCompile(`^(?:Files of c|C)heckpoint \S+, continued:$`)

// one checks a statement; ok is false for a line that states nothing.
func (j *judge) one(s statement) (class, why string, ok bool) {
	if continued.MatchString(s.text) || s.text == "all in the next part" || strings.HasPrefix(s.text, "More: `entire") {
		return "", "", false
	}
	switch s.section {
	case "head":
		return j.head(s.text)
	case "requests":
		return "request", j.request(s.text), true
	case "current task", "task":
		return "request", j.task(s.text), true
	case "description":
		return "request", j.description(s.text), true
	case "next steps", "next step", "todo":
		return "next step", j.step(s.text), true
	case "open question", "open questions":
		return "next step", j.question(s.text), true
	case "blockers", "failed", "failures":
		return "blocker", j.blocker(s.text), true
	case "decisions", "decisions made":
		return "decision", j.reasoned(s.text), true
	case "tried and given up":
		return "attempt", j.reasoned(s.text), true
	case "rules":
		return "rule", j.rule(s.text), true
	case "environment":
		return "environment", j.environment(s.text), true
	case "references":
		return "reference", j.reference(s.text), true
	case "branch":
		return "earlier session", j.earlier(s.text), true
	case "state":
		return "state", j.state(s.text), true
	case "files", "working files", "content", "files read", "docs":
		return "file", j.file(s), true
	case "commands", "recent commands":
		return "command", j.command(s.text), true
	case "where":
		return "state", j.where(s.text), true
	case "git branch":
		return "state", j.branch(s.text), true
	case "other sessions":
		return "state", j.otherSession(s.text), true
	case "working directory":
		return "", "", false
	case "summary at compaction", "summary of an earlier compaction":
		return "quote", j.quoted(s.text, j.t.texts(summary), "the summary at the compaction"), true
	}
	return "other", "a section that has no rule: " + s.section, true
}

func (j *judge) quoted(text, in, what string) string {
	if !has(in, text) {
		return "not in " + what
	}
	return ""
}

var andMore = regexp.MustCompile(` and (?:another commit|\d+ more commits)\s*$`)

var savedAgo = regexp.MustCompile(`\s*\(\d+ files?(?:, [+-]\d+(?: [+-]\d+)?)?\)|\s*\(saved [^)]*\)`)

// head checks the line that summarizes the checkpoint.
func (j *judge) head(text string) (class, why string, ok bool) {
	_, about, found := strings.Cut(text, "from checkpoint: ")
	if !found {
		return "", "", false
	}
	about = andMore.ReplaceAllString(savedAgo.ReplaceAllString(about, ""), "")
	if isBoilerplate(about) {
		return "request", "the client's own wording as summary", true
	}
	if about == "no summary" || about == earlierWork || has(j.t.all(), about) || has(letters(strings.Join(j.t.requests(), "\n")), about) { // a command with arguments is only there
		return "request", "", true
	}
	return "request", "summary that is not in the transcript", true
}

var replies = regexp.MustCompile(`^"(.*)", in reply to: (.*)$`)

// request checks that the session has a request with this text.
func (j *judge) request(text string) string {
	if m := replies.FindStringSubmatch(text); m != nil {
		if !has(j.sources.agent(), m[2]) {
			return "what it replies to is not in the agent's words"
		}
		text = m[1]
	}
	for _, label := range []string{"plan accepted: ", "accepted plan: ", "plan: "} {
		text = strings.TrimPrefix(text, label)
	}
	if isBoilerplate(text) {
		return "the client's own wording, not a request"
	}
	if strings.HasPrefix(text, "/") && slices.Contains(ofClient, text[1:]) {
		return "a command of the client, not a request"
	}
	return j.quoted(text, j.sources.person(), "the person's words")
}

// task checks the older form: a task and the last request.
func (j *judge) task(text string) string {
	for _, label := range []string{"plan offered: ", "plan accepted: "} {
		text = strings.TrimPrefix(text, label)
	}
	for _, mark := range []string{"; last asked: ", "; plan: "} {
		if a, b, ok := strings.Cut(text, mark); ok {
			if why := j.task(a); why != "" {
				return why
			}
			return j.task(b)
		}
	}
	if isBoilerplate(text) {
		return "the client's own wording, not a task"
	}
	return j.quoted(text, j.sources.person()+j.sources.agent(), "the person's or the agent's words")
}

func (j *judge) description(text string) string {
	for _, label := range []string{"Asked: ", "Then: "} {
		if rest, ok := strings.CutPrefix(text, label); ok {
			return j.task(rest)
		}
	}
	return j.quoted(strings.TrimPrefix(text, "The agent said last: "), j.sources.person()+j.sources.agent(), "the person's or the agent's words")
}

// decision checks that a decision quotes its author.
func (j *judge) decision(text string) string {
	in, who := j.sources.person()+j.sources.agent(), "the person's or the agent's words"
	label := ""
	for _, l := range []string{"user", "person", "agent", "plan accepted", "plan rejected", "plan", "denied", "correction", "constraint"} {
		if rest, ok := strings.CutPrefix(text, l+": "); ok {
			text, label = rest, l
			break
		}
	}
	switch label {
	case "user", "person":
		in, who = j.sources.person()+j.sources.list(), "the person's words"
	case "agent":
		in, who = j.sources.agent(), "the agent's words"
	case "denied":
		in += j.sources.denied()
	}
	text = strings.TrimPrefix(text, `"`)
	if isBoilerplate(text) {
		return "the client's own wording, not a decision"
	}
	for part := range strings.SplitSeq(text, " -> ") {
		if isBoilerplate(part) {
			return "the client's own wording, not a decision"
		}
		if before, after, ok := strings.Cut(part, `", in reply to: `); ok {
			if !has(in, before) || !has(j.sources.agent(), after) {
				return "not in " + who
			}
			continue
		}
		if !has(in, part) {
			return "not in " + who
		}
	}
	return ""
}
