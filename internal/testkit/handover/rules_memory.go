package main

import (
	"regexp"
	"slices"
	"strings"
)

var (
	ofSession  = regexp.MustCompile(`, session ([0-9a-z]{4,8})\w*(?: of [^,]*)?$`)
	saidTimes  = regexp.MustCompile(` \(said \d+ times\)$`)
	endingNote = regexp.MustCompile(`^(.*) \((.*)\)$`)
	begunWith  = regexp.MustCompile(`^begun (?:a session|\d+ sessions) ago with: (.*)$`)
	earlierOne = regexp.MustCompile(`^session ([0-9a-z]{4,8})\w*, ([^:;]*)(?:: (.*?))?(?:; committed: (.*))?$`)
)

// attributed returns a statement without the session that it names at its end, and the beginning of
// that session's id, empty if it names none.
func (s statement) attributed() (statement, string) {
	id := ""
	if m := ofSession.FindStringSubmatch(s.text); m != nil {
		id = m[1]
		s.text = strings.TrimSuffix(s.text, m[0])
	}
	s.text = saidTimes.ReplaceAllString(s.text, "")
	return s, id
}

// rule checks that the person said it.
func (j *judge) rule(text string) string {
	_, said, ok := strings.Cut(text, ": ")
	if !ok {
		return "nobody is named"
	}
	if m := endingNote.FindStringSubmatch(said); m != nil && !has(j.sources.person(), said) {
		if !has(j.t.all(), m[2]) {
			return "the reason is not in the transcript"
		}
		said = m[1]
	}
	return j.quoted(said, j.sources.person(), "the person's words")
}

// reasoned checks a decision or an attempt, which may have its reason in parentheses.
func (j *judge) reasoned(text string) string {
	why := j.decision(text)
	if m := endingNote.FindStringSubmatch(text); m != nil && why != "" && has(j.t.all(), m[2]) {
		return j.decision(m[1])
	}
	return why
}

// environment checks a fact about commands or the machine: the transcript has its command, or its
// text.
func (j *judge) environment(text string) string {
	if m := inTicks.FindStringSubmatch(text); m != nil {
		if !slices.ContainsFunc(j.t.events, func(e event) bool {
			return e.kind == toolCall && e.call.name == "Bash" && slices.ContainsFunc(forms, func(form func(line, text string) bool) bool { return form(e.call.input.Command, m[1]) })
		}) {
			return "the command was not run"
		}
		return ""
	}
	for part := range strings.SplitSeq(strings.NewReplacer(" (", ": ", ")", "").Replace(text), ": ") {
		if !has(j.t.all(), part) {
			return "not in the transcript"
		}
	}
	return ""
}

// reference checks that the session has a number or a link.
func (j *judge) reference(text string) string {
	word, _, _ := strings.Cut(text, " (")
	_, word, labelled := strings.Cut(word, ": ")
	if !labelled {
		word, _, _ = strings.Cut(text, " (")
	}
	if strings.Contains(word, "#") && statedPull.MatchString(word) {
		return j.pull(word)
	}
	if !has(j.t.all(), word) {
		return "not in the transcript"
	}
	return ""
}

// earlier checks a line about an earlier session: its first request and its commits.
func (j *judge) earlier(text string) string {
	if m := begunWith.FindStringSubmatch(text); m != nil {
		return j.quoted(m[1], j.sources.person(), "the person's words")
	}
	m := earlierOne.FindStringSubmatch(text)
	if m == nil {
		return "a line about a session that has no rule"
	}
	if !strings.HasPrefix(j.t.id, m[1]) {
		return "another session"
	}
	if m[3] != "" && !has(j.sources.person(), m[3]) {
		return "the request is not in the person's words"
	}
	commits := j.t.commits()
	for subject := range strings.SplitSeq(m[4], "; ") {
		if subject = strings.TrimSpace(subject); subject != "" && subject != earlierWork &&
			!slices.ContainsFunc(commits, func(c commit) bool { return has(letters(c.subject), subject) }) {
			return "no commit is " + subject
		}
	}
	return ""
}
