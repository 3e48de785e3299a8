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
// said reports
// whether the person wrote it.
func (r *reader) request(text string, said bool) {
	kept := plain.Text(text, maxRequest, r.redact)
	if kept == "" || transcript.IsWrapper(kept) || transcript.IsClientCommand(kept) {
		return
	}
	repliesTo := r.repliedTo(kept)
	if !r.ask(kept, repliesTo) || strings.HasPrefix(text, transcript.PlanPrefix) {
		return
	}
	r.refersIn(text, recall.Person)
	if said {
		r.places(text)
		r.heard(text, repliesTo, nil)
	}
}

// ask adds a request, unless it repeats the last one, and reports whether it did.
func (d *Digest) ask(text, repliesTo string) bool {
	if n := len(d.Requests); n > 0 && d.Requests[n-1].Text == text {
		return false
	}
	d.Asks++
	d.Requests = append(d.Requests, recall.Request{Number: d.Asks, Text: text, RepliesTo: repliesTo})
	// Keep the first request, which is often the task, and the last ones.
	const fields = 60 // their names, and the number
	size := func(q recall.Request) int { return plain.JSONSize(q.Text) + plain.JSONSize(q.RepliesTo) + fields }
	for len(d.Requests) > 1 && !plain.Within(d.Requests, plain.Bound{Items: 100, Bytes: 18 << 10}, size) {
		d.Requests = slices.Delete(d.Requests, 1, 2)
	}
	return true
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
			r.request(text, true)
		}
		r.Queue = slices.Delete(r.Queue, 0, 1)
	}
}
