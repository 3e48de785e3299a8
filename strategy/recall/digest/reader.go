package digest

import (
	"slices"
	"strings"
	"unicode"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// reader adds the lines of a transcript to a digest.
type reader struct {
	*Digest

	redact plain.Redactor
	events transcript.Events
	// text is the agent's last text; finish sets Said to it.
	text lastText
	// call is the agent's last tool call; finish sets LastCall to it.
	call lastCall
	// raw is the line that is read.
	raw transcript.Value
	// linesOf calls line for the lines of a subagent's transcript, and reports whether there is
	// one.
	linesOf func(id string, line func([]byte)) bool
}

// lastCall is a tool call as found in its line, not redacted.
type lastCall struct{ tool, text string }

// line adds one line. It does not set Said and LastCall; finish does.
func (r *reader) line(raw []byte) {
	if f, ok := r.redact.(plain.Forgetter); ok {
		raw = f.Forget(raw)
	}
	r.raw = raw
	e, ok := r.events.Line(raw)
	if !ok {
		return
	}
	if e.Sidechain {
		r.sidechain(e)
		return
	}
	if e.Cwd != "" && plain.JSONSize(e.Cwd) <= maxPath {
		r.Cwd = r.redact.Path(e.Cwd)
	}
	if len(e.Branch) > 0 && string(e.Branch) != r.Branch && plain.JSONSize(string(e.Branch)) <= maxPath {
		r.Branch = r.redact.Path(transcript.Unquoted(e.Branch))
	}
	if e.Kind == transcript.UserEvent || e.Kind == transcript.AgentEvent {
		r.Lines++
		r.named(raw)
	}
	switch e.Kind {
	case transcript.UserEvent:
		r.user(e)
	case transcript.AgentEvent:
		r.agent(e)
		for _, res := range e.Results {
			r.result(e, res)
		}
	case transcript.CompactEvent:
		r.Tokens, r.MessageID, r.PlanOffered = 0, "", false
	case transcript.TitleEvent:
		// A summary may be another session's, and an agent's name names no task.
		if e.Titled == transcript.ModelTitle || e.Titled == transcript.PersonTitle {
			r.Title = item(e.Said(), r.redact)
		}
	case transcript.QueueEvent:
		r.queued(e)
	case transcript.LinkEvent:
		r.Pulls.add(e.Said(), r.redact)
		r.refer(recall.Fact{By: recall.OfAgent, Text: item(e.Said(), r.redact)})
	}
}

// finish sets Said to the agent's last text and LastCall to its last call.
func (r *reader) finish() {
	if len(r.text.raw) > 0 {
		r.Said = plain.Text(transcript.Unquoted(r.text.raw), maxSaid, r.redact)
		r.text.set(nil)
	}
	if r.call.tool != "" {
		r.LastCall = strings.TrimSpace(r.call.tool + " " + plain.Line(r.call.text, maxCall, r.redact))
		r.call = lastCall{}
	}
}

// item returns a text as one line of at most maxItem bytes, redacted.
func item(text string, redact plain.Redactor) string { return plain.Line(text, maxItem, redact) }

// user adds a prompt, the results of tools, or a message that the agent wrote in the user's
// name.
func (r *reader) user(e *transcript.Event) {
	if e.PromptID != "" && !e.Compaction {
		r.PromptID = plain.Head(e.PromptID, maxName)
	}
	for _, res := range e.Results {
		r.result(e, res)
	}
	switch {
	case e.Compaction:
		r.SetCompaction(e.Said(), r.redact)
	case e.Interrupted:
		// The answer to an offered plan has the same text in the transcript, and is not an
		// interruption.
		if !r.PlanOffered && !slices.ContainsFunc(r.Troubles, func(t Trouble) bool { return t.Kind == Interrupted }) {
			r.Troubles.add(Trouble{Kind: Interrupted})
		}
	case e.Plan != "":
		r.beginTurn()
		r.request("Implement the following plan: "+e.Plan, false)
		r.refersIn(transcript.PlanTitle(e.Plan), recall.OfPlan)
		r.Plan = planOf(e.Plan, r.redact)
		r.acceptPlan()
	case (e.Prompt != "" || e.Command != "") && !transcript.IsWrapper(e.Prompt):
		r.beginTurn()
		r.Prompts++
		text := e.Prompt
		if e.Command != "" {
			text = strings.TrimSpace("/" + e.Command + " " + text)
		}
		r.request(text, e.Command == "")
		head := text[:min(len(text), maxAsked)]
		for _, url := range pullURL().FindAllString(head, -1) {
			if strings.Contains(url, "/pull/") {
				r.Pulls.add(url, r.redact)
			}
		}
		for _, found := range pullWord().FindAllStringSubmatch(head, -1) {
			r.Pulls.add(found[1], r.redact)
		}
		r.Short = plain.Text(text, maxAsked, r.redact)
		if enough(e.Prompt) {
			r.Asked = plain.Last(append(r.Asked, Asked{Text: r.Short, At: r.Prompts}), plain.Bound{Items: 3, Bytes: 3 * maxAsked},
				func(a Asked) int { return plain.JSONSize(a.Text) })
			r.Short = ""
		}
	}
}

// beginTurn removes the troubles of the previous turn, except checks that still fail.
func (r *reader) beginTurn() {
	r.PlanOffered, r.Acted, r.Ended = false, false, false
	r.LastCall, r.call, r.Question = "", lastCall{}, Question{}
	r.stopFollowing()
	r.Troubles.drop(func(t Trouble) bool { return t.Kind != FailedCommand })
}

// enough reports whether a prompt has at least four words, enough to describe a task.
func enough(prompt string) bool {
	const least = 4
	words := 0
	for word := range strings.FieldsSeq(plain.Head(prompt, maxAsked)) {
		letters, dense := 0, 0
		for _, c := range word {
			switch {
			case unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
				dense++
			case unicode.IsLetter(c):
				letters++
			}
		}
		words += dense / 2 //nolint:mnd // about two characters a word
		if letters > 0 {
			words++
		}
	}
	return words >= least
}
