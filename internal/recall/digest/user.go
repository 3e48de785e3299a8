package digest

import (
	"slices"
	"strings"
	"unicode"

	"github.com/seed-3aff656d/entire/internal/recall/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// take takes in a line, but for what settle does.
func (d *Digest) take(raw []byte, redact plain.Redactor) {
	e, ok := d.events.Line(raw)
	if !ok {
		return
	}
	if e.Cwd != "" && plain.JSONSize(e.Cwd) <= maxPath {
		d.Cwd = redact.Path(e.Cwd)
	}
	switch e.Kind {
	case transcript.UserEvent:
		d.user(e, redact)
	case transcript.AgentEvent:
		d.agent(e, redact)
	case transcript.CompactEvent:
		d.Tokens, d.MessageID, d.PlanOffered = 0, "", false
	case transcript.TitleEvent:
		d.Title = plain.Line(e.Said(), maxItem, redact)
	}
}

// settle redacts what came last of what only the last one is kept of.
func (d *Digest) settle(redact plain.Redactor) {
	if len(d.said) > 0 {
		d.Said = plain.Text(transcript.Unquoted(d.said), maxSaid, redact)
		d.said = d.said[:0]
	}
}

// user takes in a person's line, or a tool's result.
func (d *Digest) user(e *transcript.Event, redact plain.Redactor) {
	if e.PromptID != "" && !e.Compaction {
		d.PromptID = plain.Head(e.PromptID, maxName)
	}
	for _, r := range e.Results {
		d.result(e, r, redact)
	}
	switch {
	case e.Compaction:
		d.SetCompaction(e.Said(), redact)
	case e.Interrupted:
		d.interrupted()
	case e.Plan != "":
		d.begin()
		d.Plan = planOf(e.Plan, redact)
		d.accept(redact)
	case e.Prompt != "", e.Command != "":
		d.asked(e, redact)
	}
}

// begin is where a turn begins: what went wrong in the one before is past, but
// for commands that have to pass.
func (d *Digest) begin() {
	d.PlanOffered = false
	d.Troubles = slices.DeleteFunc(d.Troubles, func(t Trouble) bool { return t.Kind != FailedCommand })
}

// asked takes in what a person asked.
func (d *Digest) asked(e *transcript.Event, redact plain.Redactor) {
	d.begin()
	d.Prompts++
	text := e.Prompt
	if e.Command != "" {
		text = strings.TrimSpace("/" + e.Command + " " + text)
	}
	text = plain.Text(text, maxAsked, redact)
	if !enough(e.Prompt) {
		d.Short = text
		return
	}
	d.Short = ""
	d.Asked = plain.Last(append(d.Asked, Asked{Text: text, At: d.Prompts}), askedBound(),
		func(a Asked) int { return plain.JSONSize(a.Text) })
	if d.Prompts > 1 && corrects(text) {
		d.answer("user: " + plain.Line(text, maxItem, redact))
	}
}

// enough says whether a prompt says what is wanted: at least four words.
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
		words += dense / 2 //nolint:mnd // about two signs a word
		if letters > 0 {
			words++
		}
	}
	return words >= least
}

// corrects says whether a prompt tells the agent to do something another way.
func corrects(prompt string) bool {
	const longest = 500
	if len(prompt) > longest || strings.HasSuffix(prompt, "?") {
		return false
	}
	low := strings.ToLower(prompt)
	for _, begin := range []string{
		"no,", "no ", "nope", "don't ", "dont ", "do not ", "actually", "instead", "rather", "let's ", "lets ", "use ", "i'd rather",
		"i would rather", "please don't", "never ", "always ", "keep ", "we should ", "we shouldn't ", "yeah let's", "yes, but", "ok, but",
	} {
		if strings.HasPrefix(low, begin) {
			return true
		}
	}
	return containsAny(low, " instead", "i'd rather ", "i prefer ", "we prefer ")
}

// answer keeps what a person decided.
func (d *Digest) answer(text string) {
	d.Answers = plain.Append(d.Answers, text, answersBound())
}

// interrupted is where a person stopped the agent; the answer to an offered plan
// reads like that too.
func (d *Digest) interrupted() {
	if d.PlanOffered || slices.ContainsFunc(d.Troubles, func(t Trouble) bool { return t.Kind == Interrupted }) {
		return
	}
	d.trouble(Trouble{Kind: Interrupted})
}

// trouble keeps what went wrong, in the place of the same before.
func (d *Digest) trouble(t Trouble) {
	d.Troubles = slices.DeleteFunc(d.Troubles, func(old Trouble) bool { return old.Kind == t.Kind && old.Text == t.Text })
	const fields = 40 // the names of the fields
	d.Troubles = plain.Last(append(d.Troubles, t), troubleBound(),
		func(t Trouble) int { return plain.JSONSize(t.Text) + plain.JSONSize(t.Why) + fields })
}
