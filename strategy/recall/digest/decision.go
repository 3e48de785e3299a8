package digest

import (
	"bytes"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// said adds what a text of the agent reports: its decisions.
func (r *reader) said(e *transcript.Event) {
	// Decode a text only if it has a word that is searched for: most texts have none.
	words := []string{
		"ecided", "ll go with", "oing with", "went with", "e'll use ", "chose", "pted for", "pted to", "ather than", "nstead of", "ntentionally", "eliberately",
		"approach", "t work", "not work",
	}
	if !slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(e.Raw(), []byte(word)) }) {
		return
	}
	before := ""
	for sentence, next := range saidSentences(e.Said()) {
		r.gaveUp(sentence, before)
		before = sentence
		if decides(sentence) {
			f := recall.Fact{Kind: recall.Decision, By: recall.OfAgent, Files: r.mentioned(sentence)}
			f.Text, f.Why = r.withReason(sentence, next, ", so ", " \u2014 so ")
			low := lowered(sentence)
			planned := containsAny(low, "'ll ", " going to ", "let me ", "'m going ")
			if len(f.Files) == 0 && !planned {
				f.Files = r.changed()
			}
			r.learn(f, planned)
		}
	}
}

// withReason returns a sentence without the reason that it gives, and the reason; next is the
// sentence after it, which may give it.
// It is after because, since, so that, to avoid, or one of the others.
func (r *reader) withReason(sentence, next string, others ...string) (text, why string) {
	sentence = strings.ReplaceAll(sentence, "**", "")
	low := strings.ToLower(sentence)
	const shortest = 12
	for _, word := range append([]string{" because ", " so that ", " since ", " to avoid "}, others...) {
		if at := strings.Index(low, word); at >= shortest && len(low) == len(sentence) {
			return item(strings.TrimRight(sentence[:at], " ,;-"), r.redact), item(strings.TrimLeft(sentence[at+1:], " \u2014"), r.redact)
		}
	}
	low = strings.ToLower(next)
	for _, begin := range []string{"because ", "that way", "this way", "otherwise", "the reason "} {
		if strings.HasPrefix(low, begin) {
			why = item(next, r.redact)
		}
	}
	return item(sentence, r.redact), why
}

// saidSentences returns the sentences of a text of the agent, each with the next one of its
// line; not those of code, tables and quotations.
func saidSentences(said string) iter.Seq2[string, string] {
	return func(yield func(sentence, next string) bool) {
		fenced := false
		for text := range strings.SplitSeq(plain.Head(said, plain.MaxScanned), "\n") {
			text = strings.TrimSpace(text)
			if strings.HasPrefix(text, "```") {
				fenced = !fenced
			}
			if fenced || text == "" || strings.HasPrefix(text, "|") || strings.HasPrefix(text, ">") {
				continue
			}
			last := ""
			for sentence := range sentences(text) {
				if last != "" && !yield(last, sentence) {
					return
				}
				last = sentence
			}
			if last != "" && !yield(last, "") {
				return
			}
		}
	}
}

// sentences returns the sentences of a line, without its bullet.
func sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if item, ok := listItem(text); ok && item != "" {
			text = item
		}
		for text != "" {
			end := strings.IndexAny(text, ".!?")
			for end >= 0 && end+1 < len(text) && (text[end+1] != ' ' || strings.HasSuffix(text[:end+1], "e.g.") || strings.HasSuffix(text[:end+1], "i.e.")) {
				next := strings.IndexAny(text[end+1:], ".!?")
				if next < 0 {
					end = -1
					break
				}
				end += 1 + next
			}
			if end < 0 {
				end = len(text) - 1
			}
			if !yield(strings.TrimSpace(text[:end+1])) {
				return
			}
			text = strings.TrimSpace(text[end+1:])
		}
	}
}

// lowered returns a sentence in lower case between spaces, with plain apostrophes and without
// the marks of Markdown.
func lowered(sentence string) string {
	return " " + strings.TrimSpace(plainMarks().Replace(strings.ToLower(sentence))) + " "
}

// plainMarks removes the marks of Markdown and adds missing apostrophes.
//
//nolint:gochecknoglobals // read-only
var plainMarks = sync.OnceValue(func() *strings.Replacer {
	return strings.NewReplacer("\u2019", "'", "**", "", "`", "", " lets ", " let's ", " dont ", " don't ")
})

// decides reports whether a sentence of the agent is about a decision that it made.
func decides(sentence string) bool {
	const shortest, longest = 20, 400
	if len(sentence) < shortest || len(sentence) > longest || strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, ":") {
		return false
	}
	low := lowered(sentence)
	if containsAny(low, " if we ", " if i ", " if you ", " should ", " could ", " would ", " might ", " whether ", " can ", " consider ", " suggest",
		" i need to ", " we need to ", " i have to ", " haven't ", " fails ", " failing ", " not decided", " not yet", " you chose", " user chose", " user decided") {
		return false
	}
	if containsAny(low, " i decided ", " we decided ", " i've decided ", " we've decided ", " i chose ", " we chose ", " i've chosen ", " i'll go with ",
		" we'll go with ", " i'm going with ", " we're going with ", " i went with ", " we'll use ", " i opted ", " i've opted ", " we opted ") {
		return true
	}
	if containsAny(low, " i intentionally ", " i deliberately ", " i've intentionally ", " i've deliberately ") {
		return true
	}
	return containsAny(low, " rather than ", " instead of ") && (acts(low) || reports(low))
}

// reports reports whether a lower-case sentence describes a change with its reason: "the
// loader now reads the index instead of the file, so that ...", "Moved ... to avoid ...".
func reports(low string) bool {
	text := strings.TrimSpace(low)
	if containsAny(text, " let me ", "let me ", " i'll ", " was ", " were ", "why ") {
		return false
	}
	reason := containsAny(text, " because ", " since ", ", so ", " so that ", " to avoid ", " to keep ", " to prevent ")
	verb, _, _ := strings.Cut(text, " ")
	past := slices.Contains(strings.Fields("changed switched moved kept made used put stored extracted split replaced tightened reused rewrote simplified"), verb)
	third := slices.Contains(strings.Fields("uses keeps reads stores takes passes reuses returns"), verb)
	at := strings.Index(text, " now ")
	now := at > 0 && at < strings.IndexAny(strings.NewReplacer(" instead of ", "\n", " rather than ", "\n").Replace(text), "\n") && !strings.Contains(text[:at], ",")
	return reason && (past || now) || third && (reason || strings.Contains(text, " \u2014 "))
}

// acts reports whether a lower-case sentence describes an action of the agent: "I put",
// "we've kept", at its beginning or after a comma or a conjunction. A relative clause, as
// in "the tests I wrote are", does not count.
func acts(low string) bool {
	verbs := strings.Fields(`add added adding build built building changed changing created creating derive did doing dropped dropping extracted extracting implemented
	implementing kept keep keeping left leaving made making merged merging moved moving picked picking put putting reading renamed renaming
	replaced replacing return returned returning reused reuse reusing set setting split splitting stored store storing switched switching take took taking use used
	using went write wrote writing`)
	words := strings.Fields(low)
	for i, word := range words {
		if !slices.Contains([]string{"i", "we", "i've", "we've", "i'm", "we're", "i'll", "we'll"}, word) || i+1 == len(words) {
			continue
		}
		begins := i == 0 || strings.ContainsAny(words[i-1][len(words[i-1])-1:], ",;:-\u2014") ||
			slices.Contains([]string{"so", "and", "but", "then", "here", "now", "therefore", "instead"}, words[i-1])
		if begins && slices.Contains(verbs, words[i+1]) {
			return true
		}
	}
	return false
}

// answered adds the person's answer to a question of the agent's tool, unless the question is
// about how to go on, or the answer is a question.
func (r *reader) answered(a reply) {
	answer := strings.TrimSpace(a.text)
	if answer == "" || strings.Contains(answer, "?") || strings.Contains(answer, "(No answer provided)") {
		return
	}
	last := ""
	for sentence := range sentences(strings.Join(strings.Fields(a.question), " ")) {
		last = sentence
	}
	low := lowered(last)
	for _, begin := range []string{
		" ready ", " does this ", " does that ", " do these ", " are there ", " any ", " anything ", " can i ", " may i ", " shall i ", " should i proceed",
		" should i continue", " should i commit", " should i push", " what next", " what should i ", " what would you like ", " how would you like to proceed",
		" how should i proceed", " where should i write ", " is this ", " is there ", " would you like me to ", " do you want me to ",
	} {
		if strings.HasPrefix(low, begin) {
			return
		}
	}
	text := plain.Line(a.question, maxQuestion, r.redact) + chosen + recommended(plain.Line(answer, maxItem, r.redact))
	// An answer to the same question replaces the earlier one.
	question, _, _ := strings.Cut(text, chosen)
	r.Facts = slices.DeleteFunc(r.Facts, func(f Fact) bool { return strings.HasPrefix(f.Text, question+chosen) })
	r.learn(recall.Fact{Kind: recall.Decision, By: recall.Person, Text: plain.Shorten(text, maxFact), Files: r.mentioned(text)}, true)
}

// chosen is between a question and the answer in the text of a decision.
const chosen = " -> "
