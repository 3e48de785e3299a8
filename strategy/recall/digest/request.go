package digest

import (
	"slices"
	"strings"
	"unicode"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// maxRequest is the limit of a request, in bytes of JSON.
const maxRequest = 1500

// request adds a request of the user, unless it is a wrapper or a command of the client.
func (r *reader) request(text string) {
	text = plain.Text(text, maxRequest, r.redact)
	if text == "" || transcript.IsWrapper(text) || transcript.IsClientCommand(text) {
		return
	}
	r.ask(text, r.repliedTo(text))
}

// ask adds a request, unless it repeats the last one.
func (d *Digest) ask(text, repliesTo string) {
	if n := len(d.Requests); n > 0 && d.Requests[n-1].Text == text {
		return
	}
	d.Asks++
	d.Requests = append(d.Requests, recall.Request{Number: d.Asks, Text: text, RepliesTo: repliesTo})
	// Keep the first request, which is often the task, and the last ones.
	const fields = 60 // their names, and the number
	size := func(q recall.Request) int { return plain.JSONSize(q.Text) + plain.JSONSize(q.RepliesTo) + fields }
	for len(d.Requests) > 1 && !plain.Within(d.Requests, plain.Bound{Items: 100, Bytes: 18 << 10}, size) {
		d.Requests = slices.Delete(d.Requests, 1, 2)
	}
}

// repliedTo returns the text that a short request replies to: items of a list in the
// agent's last message, the question at its end, or the task in progress. It returns "" if
// there is none, or if the request stands on its own.
func (r *reader) repliedTo(text string) string {
	const most = 12
	short := transcript.IsReply(text)
	if !short && len(strings.Fields(text)) > most {
		return ""
	}
	r.finish()
	// The labels are the numbers in the text and the letters that are alone or after
	// "option".
	const mostLabels = 4
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	var labels, items []string
	for i, label := range words {
		isNumber := strings.Trim(label, "0123456789") == "" && len(label) < 3
		isLetter := len(label) == 1 && (len(words) == 1 || i > 0 && strings.EqualFold(words[i-1], "option"))
		if !isNumber && !isLetter || len(labels) == mostLabels || slices.Contains(labels, label) {
			continue
		}
		labels = append(labels, label)
		if item := transcript.PromptItem(label, r.Said); item != "" {
			items = append(items, label+". "+plain.Shorten(item, maxItem))
		}
	}
	switch {
	case len(items) > 0:
		return plain.Shorten(strings.Join(items, "; "), maxItem)
	case !short:
		return ""
	}
	if question := lastQuestion(r.Said); question != "" {
		return question
	}
	for _, t := range r.Tasks {
		if t.State == "in_progress" {
			return t.Text
		}
	}
	return ""
}

// queued applies a change of the client's queue. A prompt counts as a request when the
// agent gets it within its turn; a prompt that begins a turn has a line of its own.
func (r *reader) queued(e *transcript.Event) {
	switch e.Queue {
	case "enqueue":
		r.Queue = plain.Last(append(r.Queue, plain.Text(e.Prompt, maxRequest, r.redact)), plain.Bound{Items: 16, Bytes: 4 << 10}, plain.JSONSize)
	case "popAll":
		r.Queue = nil
	case "dequeue", "remove":
		if len(r.Queue) == 0 {
			return
		}
		if text := r.Queue[0]; e.Queue == "remove" && text != "" {
			r.request(text)
			r.correct(text, r.redact)
		}
		r.Queue = slices.Delete(r.Queue, 0, 1)
	}
}

// correct adds the sentences of a prompt that correct the agent or limit its actions. It
// skips the paragraphs between the first and the last: they often quote other texts, such
// as a review or a program's output, which are not decisions of the person.
func (d *Digest) correct(prompt string, redact plain.Redactor) {
	const longest, sentence = 4 << 10, 400
	if len(prompt) > longest || strings.HasPrefix(prompt, "/") {
		return
	}
	first := d.Asks <= 1
	var quotes quotation
	paragraphs := strings.Split(strings.TrimSpace(prompt), "\n\n")
	for i, paragraph := range paragraphs {
		between := 0 < i && i < len(paragraphs)-1
		for line := range strings.Lines(paragraph) {
			if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, ">") {
				continue
			}
			for text := range sentences(strings.TrimSpace(line)) {
				if !quotes.cuts(text) && !between && len(text) <= sentence && corrects(text, first) && enough(text) && !transcript.IsReply(text) {
					d.decided(userSaid + item(text, redact))
				}
			}
		}
	}
}

// quotation tracks whether the sentences of a prompt are within double quotes.
type quotation struct{ open bool }

// cuts reports whether a quotation begins before a sentence or ends after it. Such a
// sentence is not the person's own.
func (q *quotation) cuts(sentence string) bool {
	before := q.open
	for _, c := range sentence {
		switch c {
		case '"':
			q.open = !q.open
		case '\u201c':
			q.open = true
		case '\u201d':
			q.open = false
		}
	}
	return before || q.open
}

// corrects reports whether a sentence of a prompt limits the agent's actions or, except in
// the first prompt, asks for a different approach.
func corrects(sentence string, first bool) bool {
	low := " " + strings.ToLower(strings.ReplaceAll(sentence, "\u2019", "'")) + " "
	if strings.HasPrefix(low, " use ") && strings.Contains(low, " for now") {
		return true // holds until revoked
	}
	if containsAny(low, " thinking aloud", " thinking out loud", " probably ", "_probably_", " maybe ", " perhaps ", " i wonder ", " not sure ",
		" your recommendation", " your suggestion", " your proposal") {
		return false // not decided, or a reference to the agent's words
	}
	if containsAny(low, " don't know", " dont know", " don't think", " don't see", " don't have", " don't understand", " don't we ", " don't you ",
		" do not see", " -> ", " for now", " just validate ", " just continue", " never mind", " no idea", " don't worry", " no need to worry") {
		return false
	}
	asks := strings.HasSuffix(sentence, "?") && !strings.HasPrefix(low, " why ")
	for _, begin := range []string{" can you ", " could you ", " update ", " write ", " exit ", " revert ", " undo ", " wait"} {
		asks = asks || strings.HasPrefix(low, begin) // an order for a single step is a request
	}
	if asks {
		return false
	}
	if containsAny(low, " don't ", " dont ", " do not ", " never ", " must not ", " mustn't ", " should not ", " shouldn't ", " should never ", " should only ",
		" not allowed ", " must only ", " must be ", " must stay ", " has to stay ", " leave it ", " no longer ") {
		return true
	}
	if first {
		return false
	}
	for _, begin := range []string{
		" no,", " no ", " nope", " actually", " instead", " rather", " use ", " i'd rather", " i would rather", " always ", " keep ", " we should ",
		" yeah let's", " yes, but", " ok, but", " yes but", " ok but", " why would ", " why did you", " why do you", " why are you", " that's not ", " thats not ",
		" that is not ", " this is not ", " it's not ", " wrong", " stop ", " i said ", " i meant ", " only ", " not ",
	} {
		if strings.HasPrefix(low, begin) {
			return true
		}
	}
	return containsAny(low, " instead", "i'd rather ", "i prefer ", "we prefer ", " rather than ", " not what i ", " i want ", " i don't want", " make sure ",
		" let's avoid ", " let's not ", " i think we should ")
}
