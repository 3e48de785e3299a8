package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

var (
	statedCommit = regexp.MustCompile("^committed as `?([0-9a-f]{7,40})`?(?:: (.*?))?(?:, for request (\\d+))?$")
	statedTitle  = regexp.MustCompile(`^committed: (.*?)(?:, for request (\d+))?$`)
	statedPull   = regexp.MustCompile(`(?i)(?:/pull/|#|\bPR |\bpull requests? |, )(\d+)`)
	forRequest   = regexp.MustCompile(`^for request (\d+)$`)
	changedBy    = regexp.MustCompile(`^session (\w+) changed after the checkpoint, [^:]*: (.*)$`)
	moreFiles    = regexp.MustCompile(`^and \d+ more$`)
)

// state checks the brief's progress of the last request.
func (j *judge) state(text string) string {
	is := func(prefix string) bool { return strings.HasPrefix(text, prefix) }
	switch {
	case is("committed after the checkpoint as ") && strings.HasSuffix(text, ": "+earlierWork):
	case is("committed"):
		return j.committed(strings.Replace(text, "committed after the checkpoint as", "committed as", 1))
	case is("pushed"):
		if !j.t.pushedAfter(j.t.lastCommit()) {
			return "no push succeeded after the last commit"
		}
	case is("no push"):
		if at := j.t.lastCommit(); at >= 0 && j.t.pushedAfter(at) {
			return "a push succeeded after the last commit"
		}
	case is("not committed: "):
		for name := range strings.SplitSeq(strings.TrimPrefix(text, "not committed: "), ", ") {
			name = strings.Trim(name, "` ")
			if moreFiles.MatchString(name) || strings.Contains(name, "…") {
				continue
			}
			if j.t.covered(name) == inCommit {
				return name + " is committed"
			}
		}
	case is("pull request"), is("PR "):
		return j.pull(text)
	case is("the person interrupted"):
		if j.t.ending() != interrupt && j.t.ending() != denial {
			return "the session didn't end with an interrupted turn"
		}
	case is("the last turn ended with an error"):
		if j.t.ending() != modelErr {
			return "the session didn't end with an error of the model"
		}
	case is("the agent had not begun"), is("the agent had not started"):
		if j.t.ending() != request {
			return "the session didn't end with a request"
		}
	case is("the last turn had not ended"):
		if k := j.t.ending(); k != toolCall && k != pick && k != denial {
			return "the session didn't end with a tool call"
		}
	default:
		_, report, ok := strings.Cut(text, ": ")
		if !ok {
			return "a state that has no rule"
		}
		return j.reported(report)
	}
	return ""
}

// otherSession checks that a session changed files.
func (j *judge) otherSession(text string) string {
	m := changedBy.FindStringSubmatch(text)
	if m == nil {
		return "a statement about another session that has no rule"
	}
	_, edited := j.t.known()
	for name := range strings.SplitSeq(m[2], ", ") {
		if name = strings.Trim(name, "` "); name != "" && name != "…" && (!strings.HasPrefix(j.t.id, m[1]) || !edited[name]) {
			return "that session did not change " + name
		}
	}
	return ""
}

// reported checks that a text is the agent's last one in the session.
func (j *judge) reported(text string) string {
	last := -1
	for i, e := range j.t.events {
		if e.kind == reply {
			last = i
		}
	}
	if last < 0 || !has(letters(j.t.events[last].text), text) {
		return "not the agent's last words"
	}
	if slices.ContainsFunc(j.t.events[last+1:], func(e event) bool { return e.kind == request }) {
		return "a request followed"
	}
	return ""
}

// committed checks a commit: its hash, its subject and the request before it.
func (j *judge) committed(text string) string {
	list := j.t.commits()
	at, title, number := -1, "", ""
	if m := statedCommit.FindStringSubmatch(text); m != nil {
		title, number = m[2], m[3]
		at = slices.IndexFunc(list, func(c commit) bool {
			return c.hash != "" && (strings.HasPrefix(c.hash, m[1]) || strings.HasPrefix(m[1], c.hash))
		})
	} else if m := statedTitle.FindStringSubmatch(text); m != nil {
		title, number = m[1], m[2]
		at = slices.IndexFunc(list, func(c commit) bool { return has(letters(c.subject), m[1]) })
	}
	if at < 0 { // a wrapper of git printed no hash
		at = slices.IndexFunc(list, func(c commit) bool { return c.hash == "" && title != "" && has(letters(c.subject), title) })
	}
	if at < 0 {
		return "no command's result has this commit"
	}
	c := list[at]
	if !has(letters(c.subject), title) {
		return "another subject"
	}
	if at+1 < len(list) && list[at+1].amends {
		return "amended later"
	}
	if first := j.asked(number); first > c.at {
		return "that request came later"
	}
	return ""
}

// asked returns the event of a request by its number in the brief, -1 if it isn't known.
func (j *judge) asked(number string) int {
	text, ok := j.numbered[number]
	if !ok {
		return -1
	}
	if r := replies.FindStringSubmatch(text); r != nil {
		text = r[1]
	}
	return slices.IndexFunc(j.t.events, func(e event) bool {
		return (e.kind == request || e.kind == pick) && has(letters(e.text), text)
	})
}

// pull checks that the session mentions the pull requests.
func (j *judge) pull(text string) string {
	numbers := statedPull.FindAllStringSubmatch(text, -1)
	if len(numbers) == 0 {
		return "no number"
	}
	var b strings.Builder
	for _, line := range j.t.lines {
		collectLine(&b, line)
	}
	raw := b.String()
	for _, m := range numbers {
		if !regexp.MustCompile(`(?i)(?:/pulls?/|#|\bPR #?|\bpr (?:\w+ )?)`+m[1]+`\b`).MatchString(raw) && !strings.Contains(raw, "number\\\":"+m[1]) {
			return "pull request " + m[1] + " is not in the transcript"
		}
	}
	return ""
}

// where checks the place.
func (j *judge) where(text string) string {
	switch {
	case strings.HasPrefix(text, "branch "):
		return j.branch(strings.TrimPrefix(text, "branch "))
	case strings.HasPrefix(text, "pull request"):
		return j.pull(text)
	case strings.HasPrefix(text, "worktree"), strings.HasPrefix(text, "directory"):
		return ""
	}
	return "a place that has no rule"
}

func (j *judge) branch(text string) string {
	name, _, _ := strings.Cut(text, " at ")
	name, _, _ = strings.Cut(name, ", ")
	if j.t.branch != "" && j.t.branch != "HEAD" && name != j.t.branch {
		return "the session was on another branch"
	}
	return ""
}

// file checks that the session used a file, and whether a commit has it.
func (j *judge) file(s statement) string {
	known, edited := j.t.known()
	if s.section == "files read" || s.section == "docs" || s.section == "files" && !strings.Contains(s.text, "(") {
		for name := range strings.SplitSeq(s.text, ", ") {
			if name = strings.TrimSpace(name); name != "" && !strings.HasPrefix(name, "…") && !known[name] && !has(j.t.all(), name) {
				return name + " is not in the transcript"
			}
		}
		return ""
	}
	name, rest, _ := strings.Cut(s.text, " (")
	about, why, _ := strings.Cut(rest, ")")
	if !edited[name] && !has(j.t.all(), filepath.Base(name)) {
		return "not in the transcript"
	}
	switch cover := j.t.covered(name); {
	case strings.Contains(about, "not committed") && cover == inCommit:
		return "a commit has its last edit"
	case strings.Contains(about, "committed") && !strings.Contains(about, "not committed") && cover == notInCommit:
		return "no commit has its last edit"
	}
	why = strings.TrimPrefix(why, ": ")
	if m := forRequest.FindStringSubmatch(why); m != nil {
		if j.asked(m[1]) > j.t.lastEdit(name) && edited[name] {
			return "that request came after the last edit"
		}
		why = ""
	}
	if why != "" && s.section != "content" && !has(j.sources.person()+j.sources.agent(), why) {
		return "the reason is not in the agent's words"
	}
	return ""
}
