package brief

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// The maximum lengths of requests, in bytes: of the last ones, and of earlier ones.
const (
	newestWidth = 1400
	newWidth    = 700
	oldWidth    = 360
	replyWidth  = 240 // of the text that a reply answers
)

// requests returns the requests verbatim, the oldest first; the last ones have precedence.
func requests(a recall.Analysis, widths ...int) section {
	s := section{title: "**Requests** (in the person's words, newest last):\n", more: "- … %d other ones\n", last: true}
	from := max(0, len(a.Requests)-listWidth)
	s.over = from
	counted := slices.ContainsFunc(a.Requests, func(r recall.Request) bool { return r.Edits > 0 })
	for i, r := range a.Requests[from:] {
		behind := len(a.Requests) - 1 - from - i
		const all = 10 // of longer lists, questions and steps that changed nothing are left out
		if counted && len(a.Requests) > all && r.Edits == 0 && i+from > 0 && behind >= len(widths)-1 {
			s.over++
			continue
		}
		text := shownLine(r.Text, widths[min(behind, len(widths)-1)])
		if text == "" {
			continue
		}
		if isDone(a, r, behind == 0) {
			continue
		}
		number := cmp.Or(r.Number, from+i+1)
		line := fmt.Sprintf("%d. %s", number, text)
		if to := shownLine(r.RepliesTo, replyWidth); to != "" {
			line = fmt.Sprintf("%d. \"%s\", in reply to: %s", number, text, to)
		}
		s.lines = append(s.lines, line+"\n")
	}
	return s
}

// isDone reports whether a request only asks for a commit or a push, and was carried out: the state
// has them.
func isDone(a recall.Analysis, r recall.Request, last bool) bool {
	ended := a.Progress.Stopped == "" && a.Progress.Reported != ""
	if r.RepliesTo != "" || len(a.Progress.Commits) == 0 || last && !ended {
		return false
	}
	asks := false
	for word := range strings.FieldsFuncSeq(strings.ToLower(r.Text), func(c rune) bool { return !unicode.IsLetter(c) }) {
		switch word {
		case "commit", "push":
			asks = true
		case "a", "all", "and", "can", "changes", "everything", "it", "let", "now", "ok", "please", "s", "the", "them", "then", "these", "this", "to", "up", "you":
		default:
			return false
		}
	}
	return asks
}

const (
	stateTitle    = "**State**:\n"
	reportedAtEnd = "the agent reported at the end: "
)

// progress returns the section about the state of the last request.
func progress(m Material) section {
	a := m.Checkpoint.State.Analysis
	p := a.Progress
	s := section{title: stateTitle, more: "- … %d more\n"}
	add := func(format string, args ...any) { s.lines = append(s.lines, "- "+fmt.Sprintf(format, args...)+"\n") }
	switch p.Stopped {
	case recall.ByPerson:
		add("the person interrupted the last turn%s", after(p.LastCall))
	case recall.ByError:
		add("the last turn ended with a model error%s", after(p.LastCall))
	case recall.Unstarted:
		add("the agent had not started on the last request")
	case recall.Midway:
		add("the last turn had not ended%s", after(p.LastCall))
	}
	if subject := shownLine(m.Subject, summaryWidth); subject != "" && m.Commit != m.Checkpoint.State.Context.GitCommit {
		add("committed after the checkpoint as `%s`: %s", shortHash(m.Commit), subject)
	}
	for _, c := range commits(m) {
		of := ""
		// A request like "commit" is about the requests before it.
		i := slices.IndexFunc(a.Requests, func(r recall.Request) bool { return r.Number == c.Request })
		if c.Request > 0 && len(a.Requests) > 0 && (i < 0 || !transcript.IsReply(a.Requests[i].Text)) {
			of = ", for request " + strconv.Itoa(c.Request)
		}
		as := ""
		if hash := shownLine(c.Hash, 40); hash != "" {
			as = " as `" + hash + "`"
		}
		add("committed%s: %s%s", as, shownLine(c.Subject, summaryWidth), of)
	}
	switch {
	case m.Remote != "":
		add("pushed: `%s` has the last commit", shownLine(m.Remote, pathWidth))
	case m.Pushed:
		add("pushed: a remote-tracking branch has the last commit")
	case m.Unpushed:
		add("no push: no remote-tracking branch has the last commit")
	case p.Pushed:
		add("pushed after the last commit")
	}
	if url := shownLine(p.Opened, pathWidth); url != "" {
		add("pull request opened: %s", url)
	}
	const most = 6
	var left []string
	for _, v := range ranked(m) {
		if v.tracked == recall.Uncommitted {
			left = append(left, shownPath(v.path))
		}
	}
	switch names := left[:min(len(left), most)]; {
	case len(left) == 0:
	case m.Kind == Short && len(left) > 1: // the names have a section of their own
		add("not committed: %d files", len(left))
	case len(left) > most:
		add("not committed: %s, and %d more", strings.Join(names, ", "), len(left)-most)
	default:
		add("not committed: %s", strings.Join(names, ", "))
	}
	if text := shownLine(p.Reported, taskWidth); text != "" {
		add("%s", reportedAtEnd+text)
	}
	return s
}

// commits returns the commits of the session, the most recent first: those of its
// transcript, with the hashes from git if known, and those that only the repository has.
func commits(m Material) []recall.Commit {
	said := m.Checkpoint.State.Analysis.Progress.Commits
	said = slices.Clone(said[:min(len(said), listWidth)])
	var more []recall.Commit
	for _, c := range m.Commits[:min(len(m.Commits), listWidth)] {
		i := slices.IndexFunc(said, func(s recall.Commit) bool {
			return s.Hash != "" && (strings.HasPrefix(c.Hash, s.Hash) || strings.HasPrefix(s.Hash, c.Hash)) || s.Subject == c.Subject
		})
		switch {
		case i < 0:
			more = append(more, c)
		default:
			said[i].Hash = shortHash(c.Hash)
		}
	}
	for i := range more {
		more[i].Hash = shortHash(more[i].Hash)
	}
	return append(more, said...)
}

func after(call string) string {
	if call = shownLine(call, itemWidth); call == "" {
		return ""
	}
	return "; last call: " + call
}
