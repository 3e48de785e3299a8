package digest

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/shellcmd"
)

// Note is information about an edited file.
type Note struct {
	Path string `json:"path"`
	// Why is the agent's text before the last edit, Request the number of requests so far.
	Why     string `json:"why,omitempty"`
	Request int    `json:"request,omitempty"`
	// Created is set if the session created the file, Committed if a commit has its last
	// edit.
	Created   bool `json:"created,omitempty"`
	Committed bool `json:"committed,omitempty"`
}

// maxWhy is the limit of Note.Why, in bytes of JSON.
const maxWhy = 160

// lastText is the agent's last text, as quoted in its line. It is redacted on demand: a
// transcript has many texts, and redacting each costs more than reading all lines.
type lastText struct {
	raw []byte
	// why caches the result of reason for the text whyOf; end is its last line, with the one
	// before it if it is short.
	why, end, whyOf string
}

// set replaces the text by a copy of raw.
func (t *lastText) set(raw []byte) { t.raw = append(t.raw[:0], raw...) }

// reason returns the last sentence of the text in at most maxWhy bytes, redacted. If there is
// no new text it is that of said, which was stored.
func (t *lastText) reason(said string, redact plain.Redactor) string {
	const tail, short, maxEnd = 600, 80, 240
	text := said
	if len(t.raw) > 0 {
		text = string(t.raw)
	}
	if text != t.whyOf {
		t.whyOf = text
		if len(t.raw) > 0 {
			text = transcript.Unquoted(t.raw)
		}
		if len(text) > tail {
			text = strings.ToValidUTF8(text[len(text)-tail:], "")
		}
		text = strings.TrimSpace(text)
		at := strings.LastIndexByte(text, '\n') + 1
		last, before := plain.Line(text[at:], tail, redact), strings.TrimSpace(text[:at])
		t.why, t.end = plain.Shorten(lastSentence(last), maxWhy), last
		if before = before[strings.LastIndexByte(before, '\n')+1:]; len(last) < short && before != "" && !strings.ContainsAny(before[:1], "`|>#") {
			t.end = plain.Line(before, tail, redact) + " " + last
		}
		t.end = plain.Shorten(strings.ReplaceAll(t.end, "**", ""), maxEnd)
	}
	return t.why
}

// lastSentence returns the last sentence of a text without introductory words such as
// "Now".
func lastSentence(text string) string {
	text = strings.TrimSpace(text)
	text = strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	last := ""
	for sentence := range sentences(text) {
		last = sentence
	}
	last = strings.TrimRight(strings.Trim(strings.ReplaceAll(last, "**", ""), "*_# "), " .:")
	for again := true; again; {
		again = false
		for _, begin := range []string{
			"Now, ", "Now ", "now ", "Next, ", "Then ", "First, ", "First ", "first ", "Also ", "also ", "Actually, ", "So ", "just ",
			"let me ", "Let me ", "let's ", "Let's ", "I'll ", "I will ", "I need to ", "I should ", "I just need to ", "Need to ", "need to ",
		} {
			if rest, found := strings.CutPrefix(last, begin); found {
				last, again = rest, true
			}
		}
	}
	const fewest = 4
	first, _, _ := strings.Cut(strings.ToLower(last), " ")
	if slices.Contains([]string{
		"read", "re-read", "check", "look", "see", "verify", "find", "search", "run", "build", "view", "examine", "explore", "try", "retry",
		"do", "start", "starting", "proceed", "continue",
	}, first) {
		return "" // not about an edit
	}
	if len(strings.Fields(last)) < fewest || strings.HasPrefix(last, "|") || strings.HasPrefix(last, "```") {
		return ""
	}
	return last
}

// effects records the git changes of a command (staged paths, commits, pushes) and the pull
// requests that it worked on.
func (r *reader) effects(res transcript.ToolResult, call Call) {
	if len(call.Git) == 0 && call.Reference.Done == "" {
		return
	}
	output := res.Content.Said()
	for _, git := range call.Git {
		if !res.Failed {
			r.restored(git, call.Text)
		}
		switch git.Command {
		case "add", "rm", "mv":
			if !res.Failed || len(call.Git) > 1 {
				r.Staged = plain.Last(append(r.Staged, git.Arguments...), plain.Bound{Items: 60, Bytes: 4 << 10}, plain.JSONSize)
			}
		case "commit":
			r.committed(git, output, res.Failed)
		case "push":
			if !res.Failed && (call.Judge == shellcmd.ByStatus || pushedLine().MatchString(output)) && !refusedLine().MatchString(output) {
				r.Pushed = true
			}
		case "reset", "restore", "checkout", "switch", "stash":
			r.Staged = nil
		}
	}
	ref := call.Reference
	name := ref.Repository + "#" + ref.Number
	switch {
	case ref.Done == "" || res.Failed:
		return
	case ref.Number == "":
		const most = 8 << 10
		found := pullURL().FindAllString(output[:min(len(output), most)], -1)
		if len(found) == 0 {
			return
		}
		name = found[len(found)-1]
		if ref.Done == shellcmd.Created && !ref.Issue {
			r.Opened = item(name, r.redact)
		}
		if !ref.Issue {
			r.Pulls.add(name, r.redact)
		}
	case !ref.Issue:
		r.Pulls.add(ref.Number, r.redact)
	}
	r.refer(recall.Fact{By: recall.OfAgent, Text: name, Why: ref.Done, Command: call.Text})
}

var (
	commitLine  = lazyRegexp(`(?m)^\[[^\]\n]* ([0-9a-f]{7,40})\] (.*)$`)                                                            //nolint:gochecknoglobals // read-only
	pushedLine  = lazyRegexp(`(?m)^\s*([+*]? ?[0-9a-f]{7,}\.{2,3}[0-9a-f]{7,}|\* \[new (branch|tag)\]|Everything up-to-date|ok ✓)`) //nolint:gochecknoglobals // read-only
	refusedLine = lazyRegexp(`(?m)(\[rejected\]|\[remote rejected\]|^fatal: |^error: failed to push)`)                              //nolint:gochecknoglobals // read-only
	pullURL     = lazyRegexp(`https://[A-Za-z0-9.-]+/[A-Za-z0-9._-]+/[A-Za-z0-9._-]+/(?:pull|issues)/[0-9]+`)                       //nolint:gochecknoglobals // read-only
	pullWord    = lazyRegexp(`(?i)\b(?:PR|pull request)\s*#?\s?([0-9]+)\b`)                                                         //nolint:gochecknoglobals // read-only
)

// lazyRegexp returns a function that compiles expr on its first call: every hook links this
// package, but few read a conversation.
func lazyRegexp(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}

// committed adds a commit if the output shows it, or if the command has certainly
// succeeded.
func (r *reader) committed(git shellcmd.Git, output string, failed bool) {
	var c recall.Commit
	if found := commitLine().FindAllStringSubmatch(output, -1); len(found) > 0 {
		last := found[len(found)-1]
		c = recall.Commit{Hash: last[1], Subject: item(last[2], r.redact), Request: r.Asks}
	} else if failed || git.Masked || shellcmd.NothingToDo(output) || shellcmd.PrintsFailure(output) {
		return // a program that runs git may hide its status
	} else {
		c = recall.Commit{Subject: item(git.Subject, r.redact), Request: r.Asks}
	}
	if git.Amends && len(r.Commits) > 0 {
		r.Commits = r.Commits[:len(r.Commits)-1]
	}
	const fields = 50 // their names, and the number
	r.refersIn(c.Subject, recall.OfAgent)
	r.Commits = plain.Last(append(r.Commits, c), plain.Bound{Items: 20, Bytes: 6 << 10}, func(c recall.Commit) int { return plain.JSONSize(c.Hash) + plain.JSONSize(c.Subject) + fields })
	r.Pushed = false
	arguments := slices.Concat(r.Staged, git.Arguments)
	for i := range r.Notes {
		n := &r.Notes[i]
		n.Committed = n.Committed || git.All && !n.Created || slices.ContainsFunc(arguments, func(arg string) bool {
			arg = strings.TrimSuffix(strings.TrimPrefix(arg, "./"), "/")
			return slices.Contains([]string{"", ".", "-A", "--all", ":/", n.Path}, arg) ||
				strings.HasSuffix(n.Path, "/"+arg) || strings.Contains(n.Path+"/", "/"+arg+"/")
		})
	}
	r.Staged = nil
}

// Pulls is a list of pull requests, by number or URL, the most recent last.
type Pulls []string

// add appends a pull request: a URL replaces its number.
func (l *Pulls) add(name string, redact plain.Redactor) {
	number := name[strings.LastIndexByte(name, '/')+1:]
	old := slices.IndexFunc(*l, func(p string) bool { return p[strings.LastIndexByte(p, '/')+1:] == number })
	if old >= 0 && name == number {
		name = (*l)[old]
	}
	if old >= 0 {
		*l = slices.Delete(*l, old, old+1)
	}
	*l = plain.Append(*l, item(name, redact), plain.Bound{Items: 5, Bytes: 1 << 10})
}

// progress returns the state of the last request.
func (r report) progress() recall.Progress {
	p := recall.Progress{Pushed: r.Pushed && len(r.Commits) > 0, Commits: slices.Clone(r.Commits), PullRequests: slices.Clone(r.Pulls), Opened: r.Opened}
	slices.Reverse(p.Commits)
	slices.Reverse(p.PullRequests)
	p.PastCompaction = r.Compaction != "" && (r.Asks > r.CompactedAt || r.Ended || r.src.Said != "")
	has := func(kind TroubleKind) bool {
		return slices.ContainsFunc(r.Troubles, func(t Trouble) bool { return t.Kind == kind })
	}
	switch {
	case r.Asks == 0, r.PlanOffered: // the last turn ended, or that is unknown
	case has(Interrupted):
		p.Stopped = recall.ByPerson
	case has(FailedTurn):
		p.Stopped = recall.ByError
	case r.src.Said != "" || r.Ended:
	case !r.Acted:
		p.Stopped = recall.Unstarted
	default:
		p.Stopped = recall.Midway
	}
	switch p.Stopped {
	case "":
		if said := r.lastSaid(); r.Asks > 0 && !r.PlanOffered && !isAnnouncement(said) {
			p.Reported = oneLine(said, maxReported)
		}
	case recall.ByPerson, recall.Midway, recall.ByError:
		p.LastCall = r.src.short(r.LastCall)
	case recall.Unstarted:
	}
	return p
}

// isAnnouncement reports whether a text ends with the announcement of the agent's next
// action. Such a text is not a report at the end of a turn.
func isAnnouncement(said string) bool {
	said = strings.TrimSpace(said)
	last := ""
	for sentence := range sentences(said[strings.LastIndexByte(said, '\n')+1:]) {
		last = sentence
	}
	low := strings.ToLower(strings.ReplaceAll(strings.Trim(last, "*_ "), "\u2019", "'"))
	if containsAny(low, "let me know", " if you ", " once you ", " when you ", " after you ", " until you ") || strings.HasSuffix(low, "?") {
		return false
	}
	for _, adverb := range []string{"now ", "next, ", "next ", "then ", "first, ", "so ", "ok, ", "okay, "} {
		low = strings.TrimPrefix(low, adverb)
	}
	for _, begin := range []string{"let me ", "i'll now ", "i will now ", "i'm going to ", "i am going to ", "let's now "} {
		if strings.HasPrefix(low, begin) {
			return true
		}
	}
	return strings.HasSuffix(low, ":") && (strings.HasPrefix(low, "i'll ") || strings.HasPrefix(low, "i will ")) ||
		strings.HasPrefix(strings.ToLower(last), "now i'll ") || strings.HasPrefix(strings.ToLower(last), "now i will ")
}

// maxReported is the limit of the agent's message at the end of its turn, in bytes.
const maxReported = 900

// todo returns the unfinished items of the agent's list, those in progress first.
func (r report) todo() []recall.Todo {
	var list []recall.Todo
	for _, state := range []string{"in_progress", "pending"} {
		for _, t := range r.Tasks {
			if t.State == state {
				list = append(list, recall.Todo{Text: t.Text, State: state})
			}
		}
	}
	return list[:min(len(list), maxSteps)]
}
