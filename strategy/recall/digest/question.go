package digest

import (
	"strings"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// Question is an unanswered question that the agent asked with its tool for questions.
type Question struct {
	Text    string   `json:"text"`
	Options []string `json:"options,omitempty"`
}

// maxOptions is the limit of the alternatives of a question.
const maxOptions = 8

// lastAsked returns the last question of a call of the tool for questions.
func lastAsked(input transcript.Value, redact plain.Redactor) Question {
	var last Question
	for question := range input.Member("questions").Items() {
		last = Question{Text: item(question.Member("question").Text(), redact)}
		for option := range question.Member("options").Items() {
			label, about := option.Member("label").Text(), option.Member("description").Text()
			if label != "" && about != "" {
				label += ": " + about
			}
			if label = item(label, redact); label != "" && len(last.Options) < maxOptions {
				last.Options = append(last.Options, label)
			}
		}
	}
	return last
}

// openQuestion returns the unanswered question and its alternatives.
func (r report) openQuestion() (question string, options []string) {
	if r.Question.Text != "" {
		return r.Question.Text, r.Question.Options
	}
	said := r.lastSaid()
	if question = lastQuestion(said); question == "" {
		return "", nil
	}
	options = alternatives(said, question)
	const few = 8 // words: a longer one names its subject
	if options == nil && len(strings.Fields(question)) <= few &&
		containsAny(" "+strings.ToLower(question), " which ", " either ", " of them", " approach", " prefer") {
		question = withContext(said, question)
	}
	return question, options
}

// withContext returns a question with the lines before it, as many as fit, back to a block
// of code.
func withContext(said, question string) string {
	at := strings.LastIndex(said, question)
	if at < 0 {
		return question
	}
	text := said[at:]
	for rest, more := said[:at], true; more; {
		line := rest
		var begin int
		if begin = strings.LastIndexByte(rest, '\n'); begin >= 0 {
			line = rest[begin+1:]
		}
		more = begin >= 0
		rest = rest[:max(begin, 0)]
		if len(line)+len(text) > maxItem || strings.HasPrefix(strings.TrimSpace(line), "```") {
			break
		}
		text = line + " " + text
	}
	return oneLine(strings.TrimSpace(text), maxItem)
}

// alternatives returns the items of the last list of a text, if the question at its end
// asks to choose among them: the question has a word of choice, and the items are numbered
// or are below a line with such a word.
func alternatives(said, question string) []string {
	low := " " + strings.ToLower(question)
	if !containsAny(low, " which ", " option", " approach", " alternative", " prefer", " either ", " or ", " these ", " of them") {
		return nil
	}
	const least = 2
	// Alternatives on lines of their own that begin with "Option" and a number or a letter.
	var options []string
	for line := range strings.SplitSeq(said, "\n") {
		bare := strings.Trim(strings.TrimSpace(line), "#* ")
		label, isOption := strings.CutPrefix(bare, "Option ")
		if isOption && strings.IndexByte(label, ':') > 0 && strings.IndexByte(label, ':') <= 2 {
			options = append(options, oneLine(bare, maxItem))
		}
	}
	if len(options) >= least && len(options) <= maxOptions {
		return options
	}
	var items []string
	above, chooses := "", false
	for line := range strings.SplitSeq(said, "\n") {
		indented := strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
		line = strings.TrimSpace(line)
		item, isItem := listItem(line)
		bare := strings.Trim(line, "#* ")
		isOption := strings.HasPrefix(bare, "Option ")
		switch {
		case isOption:
			item, isItem = bare, true
		case !isItem:
			item, isItem = listItem(bare)
		}
		switch {
		case line == "", indented && len(items) > 0:
		case isItem && item != "":
			if above != "" && (!isOption || len(items) == 0) {
				items, chooses = nil, containsAny(strings.ToLower(above), "option", "approach", "alternative", "choice", "choose", "possib", "could", "ways")
				above = ""
			}
			chooses = chooses || isOption || line[0] != '-' && line[0] != '*' && line[0] != '+'
			items = append(items, oneLine(item, maxItem))
		case !isItem:
			above = line
		}
	}
	if !chooses || len(items) < least || len(items) > maxOptions {
		return nil
	}
	return items
}
