package digest

import (
	"slices"
	"strings"
	"sync"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// heard adds the decisions and rules of a text of the person. repliesTo is the text that it
// replies to; refused is the call that the person refused with it, if any. It skips the
// paragraphs between the first and the last: they often quote other texts, such as a review
// or a program's output.
func (r *reader) heard(prompt, repliesTo string, refused *Call) {
	const longest, longestSentence = 4 << 10, 400
	if len(prompt) > longest || strings.HasPrefix(prompt, "/") {
		return
	}
	if repliesTo == "" || !r.chooses(prompt, repliesTo) {
		repliesTo = r.picked(prompt)
	}
	picks := "" // the sentence that picks an alternative
	if repliesTo != "" {
		for picks = range sentences(strings.Join(strings.Fields(plain.Head(prompt, maxQuestion)), " ")) {
			break
		}
		f := recall.Fact{Kind: recall.Decision, By: recall.Person, Files: r.mentioned(repliesTo)}
		f.Text, f.Why = r.withReason(picks, "")
		f.Text = plain.Shorten(f.Text+chosen+recommended(repliesTo), maxFact)
		r.learn(f, true)
	}
	// Most prompts have none of the words that are searched for.
	if low := strings.ToLower(prompt); !containsAny(low, "let's", "lets ", "let\u2019s", "instead", "rather", "keep", "leave", "stick", "prefer", "always", "never", "don't",
		"don\u2019t", "dont ", "do not", "use ", "should", "must", "we'll", "only", "with", "decided", "need", "stop", "revert", "undo", " back", "again", "still", "i said", "told", "not like", "from now", "going forward", "time you", "whenever",
		" commit", "remember", "want", "defer", "replace", "match", "follow", "because", "since", "so that", "to avoid", "for c", "for simpl", "no, ", "not ") {
		return
	}
	var quotes quotation
	paragraphs := strings.Split(strings.TrimSpace(prompt), "\n\n")
	for i, paragraph := range paragraphs {
		between := 0 < i && i < len(paragraphs)-1
		for line := range strings.Lines(paragraph) {
			if strings.HasPrefix(line, "    ") || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, ">") || r.repeatsRequest(line) {
				continue
			}
			consider := func(text, next string) {
				if text != "" && !quotes.cuts(text) && !between && len(text) <= longestSentence && text != picks {
					r.sentence(text, next, refused)
				}
			}
			last := ""
			for text := range sentences(strings.TrimSpace(line)) {
				consider(last, text)
				last = text
			}
			consider(last, "")
		}
	}
}

// sentence adds the fact that a sentence of the person states, if it does; next is the sentence after
// it, refused as in heard.
func (r *reader) sentence(text, next string, refused *Call) {
	f, low := recall.Fact{By: recall.Person, Files: r.mentioned(text)}, lowered(text)
	f.Text, f.Why = r.withReason(text, next)
	if takesBack(low) {
		f.Kind, f.Request = recall.Attempt, r.Asks
		if !r.tookBack(f) && f.Why+f.Text != "" && strings.HasPrefix(low, " no ") && strings.Contains(low, ", ") { // it was only proposed
			f.Kind = recall.Decision
			r.learn(f, true)
			return
		}
	}
	if !enough(text) || transcript.IsReply(text) {
		return
	}
	switch {
	case !isGeneral(low) && choosesWords(low, r.Asks <= 1):
		f.Kind = recall.Decision
	case isRule(low, refused != nil):
		f.Kind, f.Command = recall.Rule, r.corrected(text, refused)
		if refused != nil && transcript.IsEdit(refused.Tool) && refused.Text != "" && len(f.Files) == 0 && !strings.HasPrefix(low, " prefer ") {
			f.Files = []string{refused.Text}
		}
	case corrects(low):
		if f.Kind, f.Times = recall.Rule, r.timesCorrected(f.Text); f.Times == 1 {
			return
		}
	default:
		return
	}
	r.learn(f, f.Kind == recall.Decision)
}

// Correction is a sentence with which the person corrected the agent, Request the number of
// requests when it was said last.
type Correction struct {
	Text    string `json:"text"`
	Times   int    `json:"times"`
	Request int    `json:"request"`
}

// corrects reports whether a sentence of a prompt, in lower case, corrects the agent.
func corrects(low string) bool {
	return slices.ContainsFunc([]string{" no ", " no, ", " don't ", " do not ", " please don't ", " not ", " stop ", " i said ", " i told you ", " again, ", " still ", " you should ", " you shouldn't "},
		func(begin string) bool { return strings.HasPrefix(low, begin) }) && !strings.HasSuffix(strings.TrimSpace(low), "?")
}

// timesCorrected records a correction, and returns in how many requests it was said.
func (r *reader) timesCorrected(text string) int {
	c := Correction{Text: text, Times: 1, Request: r.Asks}
	words := contentWords(text)
	r.Corrections = slices.DeleteFunc(r.Corrections, func(old Correction) bool {
		if overlap(contentWords(old.Text), words) < similar {
			return false
		}
		if c.Times = old.Times; old.Request != r.Asks {
			c.Times++
		}
		return true
	})
	const fields = 50 // their names, and the numbers
	r.Corrections = plain.Last(append(r.Corrections, c), plain.Bound{Items: 16, Bytes: 3 << 10}, func(c Correction) int { return plain.JSONSize(c.Text) + fields })
	return c.Times
}

// repeatsRequest reports whether a line quotes an earlier request after a mark, as the output
// of a program that lists sessions does.
func (r *reader) repeatsRequest(line string) bool {
	const least = 24
	for _, q := range r.Requests[:max(len(r.Requests)-1, 0)] {
		at := strings.Index(line, plain.Head(q.Text, least))
		if at > 0 && len(q.Text) >= least && strings.ContainsAny(line[:at], "*]>-") {
			return true
		}
	}
	return false
}

// chooses reports whether a short prompt picks one of the alternatives in the agent's last
// text.
func (r *reader) chooses(prompt, repliesTo string) bool {
	question := lastQuestion(r.Said)
	if repliesTo == question || containsAny(lowered(prompt), " first", " start with ", " then ") || strings.HasSuffix(strings.TrimSpace(prompt), "?") {
		return false
	}
	return len(alternatives(r.Said, question)) > 0
}

// picked returns the alternative that a prompt picks by a letter, such as "I think B, it needs
// no migration", from a list in the agent's last text with a question; "" if it picks none.
func (r *reader) picked(prompt string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(prompt), "\n")
	list := clauses(lowered(first))
	if len(list) == 0 || containsAny(strings.ToLower(rest), "a) ", "b) ", "c) ") { // several answers
		return ""
	}
	words := strings.Fields(list[0].label + list[0].text)
	named := false
	for len(words) > 1 && slices.Contains([]string{"let's", "go", "do", "with", "i'd", "i'll", "option", "for"}, words[0]) {
		named = words[0] == "with" || words[0] == "option"
		words = words[1:]
	}
	label := strings.Trim(words[0], ").:,")
	alone := len(words) == 1 || label != words[0] || named && slices.Contains([]string{"because", "since", "as", "for", "if", "please", "then"}, words[1])
	if len(label) != 1 || label < "a" || label > "f" || !alone {
		return ""
	}
	r.finish()
	item, other := transcript.PromptItem(label, r.Said), transcript.PromptItem("b", r.Said)
	if item == "" || other == "" || strings.HasSuffix(item, "?") || !strings.Contains(r.Said, "?") {
		return ""
	}
	return strings.ToUpper(label) + ". " + plain.Shorten(item, maxItem)
}

// recommended returns an alternative without the agent's recommendation.
func recommended(alternative string) string {
	for _, mark := range []string{" (Recommended)", " (recommended)"} {
		alternative = strings.TrimSuffix(alternative, mark)
	}
	return alternative
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

// musing reports whether a sentence in lower case asks or considers something, or only
// refers to the agent's words.
func musing(low string) bool {
	return strings.Contains(low, "? ") || containsAny(low, " thinking aloud", " thinking out loud", " probably ", "_probably_", " maybe ", " perhaps ",
		" i wonder", " wondering", " not sure ", " no idea", " might ", " could we ", " could you ", " would make ", " would be ", " can we ", " can you ", " should we ", " do we ", " what if ",
		" your recommendation", " your suggestion", " your proposal", " don't know", " consider ", " -> ", " for example ", " e.g. ", " i guess ",
		" any suggestion", " any idea", " if you ")
}

// clause is a part of a sentence in lower case. It is free if it may be an instruction of
// its own, and not the continuation of another clause.
type clause struct {
	text string
	free bool
	// label is the letter or number of an option before it.
	label string
}

// clauseEnds puts a mark between the clauses of a sentence, with a plus before free ones.
//
//nolint:gochecknoglobals // read-only
var clauseEnds = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer(" but ", "\n+", "; ", "\n+", " - ", "\n+", " -- ", "\n+", " \u2014 ", "\n+", ": ", "\n+", ", ", "\n", " so ", "\n", " and ", "\n")
})

// clauses returns the clauses of a sentence, without the words that lead to them, such as
// "ok" and "I think".
func clauses(low string) []clause {
	low = clauseEnds().Replace(low)
	var list []clause
	leads := true // all words so far only lead to the sentence
	for part := range strings.SplitSeq(low, "\n") {
		free := leads || strings.HasPrefix(part, "+")
		part = strings.Trim(part, " ,.!*-+(")
		for again := true; again; {
			again = false
			for _, lead := range []string{
				"ok", "okay", "yes", "yeah", "yep", "yup", "no", "nope", "hmm", "well", "right", "great", "cool", "good", "also", "then", "and", "but", "so", "now", "actually",
				"please", "ah", "oh", "sure", "thanks", "i think", "i mean", "in general", "in that case", "instead", "for now",
			} {
				if rest, ok := strings.CutPrefix(part+" ", lead+" "); ok {
					part, again = strings.TrimSpace(rest), true
				}
			}
		}
		label := ""
		if before, rest, ok := strings.Cut(part, " "); ok && len(before) == 2 && strings.HasSuffix(before, ")") { //nolint:mnd // a letter or a digit
			label, part = before+" ", rest
		}
		if part != "" {
			list = append(list, clause{part + " ", free, label})
			leads = false
		}
	}
	return list
}

// begins reports whether a clause begins with one of the beginnings, which end at words.
func (c clause) begins(beginnings ...string) bool {
	return slices.ContainsFunc(beginnings, func(b string) bool { return strings.HasPrefix(c.text, b+" ") })
}

// orders reports whether a free clause begins with one of the verbs.
func (c clause) orders(verbs string) bool {
	return c.free && c.begins(strings.Fields(verbs)...)
}

// forbidden returns the verb of what a clause forbids, "" if it forbids nothing.
func (c clause) forbidden() string {
	for _, begin := range []string{"don't ", "do not ", "let's not "} {
		if rest, ok := strings.CutPrefix(c.text, begin); ok {
			verb, _, _ := strings.Cut(rest, " ")
			return verb
		}
	}
	return ""
}

// choosesWords reports whether a sentence of a prompt, in lower case, chooses between
// alternatives, with a consequence in the code or the plan. In the first prompt it is rather
// a part of the task.
func choosesWords(low string, first bool) bool {
	if musing(low) {
		return false
	}
	opposes := strings.HasPrefix(low, " no, ") || strings.HasPrefix(low, " nope, ")
	contrast := opposes || containsAny(low, " instead of ", " rather than ", " instead ", " instead.", " instead,", ", not ", " focus only ")
	reason := containsAny(low, " because ", " since ", " so that ", " to avoid ", " for clarity", " for consistency", " for simplicity")
	for _, c := range clauses(low) {
		has := func(words ...string) bool { return containsAny(c.text, words...) }
		switch {
		case has(" simple ", " simpler ") && len(strings.Fields(c.text)) < 7: //nolint:mnd // a wish without a subject
		case c.begins("let's try") && has(" approach ", " option ", " way "), c.begins("focus only"),
			c.begins("i prefer", "we prefer", "i'd prefer", "i actually prefer", "i'd rather", "i would rather", "we decided to", "i decided to"),
			c.begins("i would replace", "i'd replace") && has(" with ", " by "),
			c.begins("let's store", "let's put", "let's add it to") && has(" in ", " into ", " to ", " under "), c.orders("put") && c.begins("put it in", "put that in", "put this in") && !first:
			return true
		case c.begins("go with", "let's go with", "i'd go with", "i'll go with", "i would go with", "we'll go with", "going with", "stick with", "stick to", "let's stick"):
			const letter = 1
			if words := contentWords(c.text[strings.Index(c.text, " wi")+1:]); len(words) > 0 && len(words[0]) > letter {
				return true
			}
		case c.orders("keep") && !has(" going ", " in mind ", " working on ", " it up ", " trying ", " this session "), c.begins("let's keep"),
			c.orders("leave") && has(" as is ", " as it is ", " as they are ", " alone ", " out "):
			return true
		case c.begins("let's use", "let's rename", "let's set", "let's drop", "let's abandon", "let's avoid", "let's call", "let's skip", "let's ignore", "let's separate"):
			if !first || contrast {
				return true
			}
		case c.begins("let's do") && has(" only ") && !has(" first "), c.begins("let's just remove", "let's remove") && (reason || has(" entirely ", " completely ")):
			return true
		case c.begins("i want", "we want") && has(" by default "), c.orders("defer") && !first:
			return true
		case !first && c.free && slices.Contains(strings.Fields(
			"fallback fall show display store return print expose require allow render cache persist throw swallow hide use default give"), c.forbidden()):
			return true
		case c.begins("let's", "we should", "we'll", "i want", "we want") && (contrast || reason) && !has(" should be more "):
			return true
		case c.orders("use make set") && has(" default ", " by default ", " for now "), contrast && c.orders("use put make set rename change switch replace return store move call show take render display write"):
			return true
		case reason && !first && c.orders("use put make set rename drop remove switch replace return store move call"):
			return true
		case c.begins("we don't need", "we do not need", "no need for") && !has(" need to "):
			return true
		}
	}
	return !first && obliges(low)
}

// obliges reports whether a sentence, in lower case, states how the code has to be.
func obliges(low string) bool {
	return containsAny(low, " should still be ", " should stay ", " should remain ", " must be ", " must stay ", " must not ", " must only ") ||
		containsAny(low, " should not ", " shouldn't ", " should only ", " should never ") && containsAny(low, " but ", " instead ", " only ") ||
		len(low) < maxOwn && strings.Contains(low, " should ") && containsAny(low, ", not ", " but instead ", " instead of ")
}

// maxOwn is the length of a sentence up to which it is rather the person's own than pasted.
const maxOwn = 140

// isGeneral reports whether a sentence of a prompt, in lower case, is about all later work.
func isGeneral(low string) bool {
	return containsAny(low, " from now on", " going forward", " don't ever ", " do not ever ", " never ever ", " every time you ", " each time you ", " whenever you ",
		" make sure you always ", " make sure to always ", " always make sure ", " you must always ", " you should always ", " you should never ", " you must never ", " we should never ", " we must never ",
		" in this repo we ", " in this project we ", " in this codebase we ", " we always ", " we never ", " remember to ", " each commit ", " every commit ") &&
		!strings.HasSuffix(strings.TrimSpace(low), "?")
}

// isRule reports whether a sentence of a prompt, in lower case, holds beyond the request: it
// is general, or it is the reason for which a call was refused.
func isRule(low string, refusal bool) bool {
	switch {
	case isGeneral(low):
		return true
	case strings.HasSuffix(strings.TrimSpace(low), "?"), containsAny(low, " for now", " worry ", " never mind", " maybe ", " i wonder", " wondering"):
		return false
	}
	for _, c := range clauses(low) {
		second := strings.Fields(c.text + ". .")[1]
		switch {
		case c.orders("always never prefer"), c.orders("stop") && strings.HasSuffix(second, "ing"):
			return true
		case c.free && c.begins("don't", "do not") && (refusal || containsAny(c.text, " again ", " ever ", " anymore ", " unless ")):
			return true
		case c.orders("use match follow") && containsAny(c.text, " style ", " spelling ", " convention ", " conventions ", " terminology ", " naming "):
			return true
		case refusal && c.free && c.begins("use", "let's not", "we use"):
			return true
		case c.begins("we use") && containsAny(low, " not ", " instead of ", " rather than "):
			return true
		}
	}
	return false
}

// corrected returns the command that a rule corrects: the refused one, else the last one that
// begins with a word that the rule rejects.
func (r *reader) corrected(rule string, refused *Call) string {
	if refused != nil {
		if refused.Tool == "Bash" {
			return refused.Text
		}
		return ""
	}
	_, rejected := alternativesOf(rule)
	for _, c := range slices.Backward(r.Commands) {
		first, _, _ := strings.Cut(c.Text, " ")
		if slices.Contains(rejected, strings.ToLower(first)) {
			return c.Text
		}
	}
	return ""
}
