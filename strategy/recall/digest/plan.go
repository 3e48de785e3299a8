package digest

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// Plan is a plan that the agent offered.
type Plan struct {
	Title string   `json:"title"`
	Steps []string `json:"steps,omitempty"`
	// Choices are the decisions that it states.
	Choices []string `json:"choices,omitempty"`
	// Accepted is set when the user accepts the plan, Begun when the agent acts after that.
	// At is the number of prompts at the time of the offer or acceptance.
	Accepted bool `json:"accepted,omitempty"`
	Begun    bool `json:"begun,omitempty"`
	At       int  `json:"at,omitempty"`
}

// acceptPlan records that the user accepted the plan.
func (r *reader) acceptPlan() {
	if r.Plan.Title == "" {
		return
	}
	r.Plan.Accepted, r.Plan.Begun, r.Plan.At = true, false, r.Prompts
	r.learn(recall.Fact{Kind: recall.Decision, By: recall.OfPlan, Text: item(r.Plan.Title, r.redact)}, false)
	for _, choice := range r.Plan.Choices {
		r.learn(recall.Fact{Kind: recall.Decision, By: recall.OfPlan, Text: choice, Plan: plain.Shorten(r.Plan.Title, maxPlanName), Files: r.mentioned(choice)}, false)
	}
}

// planOf returns the title of a plan and the items of its list of steps.
func planOf(plan string, redact plain.Redactor) Plan {
	plan = plain.Clean(redact.Text(plain.Clean(plain.Head(plan, plain.MaxScanned))))
	var p Plan
	inSteps, fenced := false, false
	for text := range strings.SplitSeq(plan, "\n") {
		indented := strings.HasPrefix(text, "  ") || strings.HasPrefix(text, "\t")
		text = strings.TrimSpace(text)
		if strings.HasPrefix(text, "```") {
			fenced = !fenced
		}
		heading := strings.TrimSpace(strings.TrimLeft(text, "#"))
		switch {
		case fenced, text == "":
		case p.Title == "":
			title := strings.Trim(heading, "*_ ")
			for _, prefix := range []string{"Plan:", "Plan :"} {
				title = strings.TrimSpace(strings.TrimPrefix(title, prefix))
			}
			p.Title = plain.Shorten(title, maxItem)
		case strings.HasPrefix(text, "#"):
			heading = strings.ToLower(heading)
			inSteps = containsAny(heading, "step", "implementation", "changes", "tasks", "todo", "approach") && !containsAny(heading, "out of scope")
		case inSteps && !indented:
			if item, ok := listItem(text); ok && item != "" {
				p.Steps = append(p.Steps, plain.Shorten(item, maxItem))
			}
		}
	}
	slices.Reverse(p.Steps) // keep the first ones
	p.Steps = plain.Bound{Items: 12, Bytes: 4 << 10}.Last(p.Steps)
	slices.Reverse(p.Steps)
	p.Choices = choicesOf(plan)
	return p
}

// choicesOf returns the decisions that a plan states: the items below a heading about
// decisions, those that are out of scope, and the instructions to do one thing instead of
// another.
func choicesOf(plan string) []string {
	const maxChoice, mostContrasts = 240, 4
	var decided, excluded, contrasts []string
	section, level, fenced := "", 0, false
	for text := range strings.SplitSeq(plan, "\n") {
		indented := strings.HasPrefix(text, "  ") || strings.HasPrefix(text, "\t")
		text = strings.TrimSpace(text)
		if strings.HasPrefix(text, "```") {
			fenced = !fenced
		}
		marks := len(text) - len(strings.TrimLeft(text, "#"))
		isTitle := marks == 0 && strings.HasPrefix(text, "**") && strings.HasSuffix(strings.TrimRight(text, "*"), ":")
		item, isItem := listItem(text)
		switch {
		case fenced, text == "", strings.HasPrefix(text, "|"), strings.HasPrefix(text, ">"):
		case marks > 0 && (level == 0 || marks <= level || sectionOf(text) != ""), isTitle && marks == 0 && sectionOf(text) != "":
			section = sectionOf(text)
			if level = marks; isTitle {
				level = maxHeading
			}
		case isTitle && level == maxHeading:
			section = ""
		case section == decisionSection && isItem && !indented && item != "":
			decided = append(decided, plain.Shorten(item, maxChoice))
		case section == excludedSection && isItem && !indented && len(strings.Fields(item)) > 1:
			excluded = append(excluded, plain.Shorten("out of scope: "+item, maxChoice))
		case section == "":
			for sentence := range sentences(text) {
				if len(contrasts) < mostContrasts && instructs(sentence) {
					contrasts = append(contrasts, plain.Shorten(strings.ReplaceAll(sentence, "**", ""), maxChoice))
				}
			}
		}
	}
	choices := slices.Concat(decided, excluded, contrasts)
	slices.Reverse(choices) // keep the first ones
	choices = plain.Bound{Items: 8, Bytes: 2 << 10}.Last(choices)
	slices.Reverse(choices)
	return choices
}

// The sections of a plan, as far as its decisions are concerned.
const (
	decisionSection   = "decisions"
	excludedSection   = "out of scope"
	describingSection = "description" // of what there is, or of how to verify
)

// maxHeading is the level of the deepest heading.
const maxHeading = 6

// sectionOf returns the section that a heading begins, "" if it is another one.
func sectionOf(heading string) string {
	low := strings.ToLower(strings.Trim(heading, "#*: "))
	switch {
	case containsAny(low, "decision", "choices") && !containsAny(low, "criteria", "tree", "table", "matrix", "framework", "open", "needed", "pending", "logic"):
		return decisionSection
	case containsAny(low, "out of scope", "non-goal", "not in scope", "not doing"):
		return excludedSection
	case containsAny(low, "context", "problem", "background", "current", "verif", "root cause", "bug", "test", "why", "analysis", "summary", "overview", "before"):
		return describingSection
	}
	return ""
}

// instructs reports whether a sentence of a plan asks to do one thing instead of another.
func instructs(sentence string) bool {
	const longest = 240
	low := lowered(sentence)
	if len(sentence) > longest || !containsAny(low, " instead of ", " rather than ") || strings.HasSuffix(sentence, "?") || strings.HasSuffix(sentence, ":") {
		return false
	}
	verb, _, _ := strings.Cut(strings.TrimSpace(low), " ")
	return slices.Contains(strings.Fields(`use keep put store return pass reuse extract read write derive compute call move make build render show add replace instead
	rather show display load resolve treat render run implement model represent expose inject generate fetch mark skip`), strings.Trim(verb, ",:"))
}

// listItem returns the text of a list item without its bullet and check box, empty if
// the box is checked; ok is false if the line is not a list item.
func listItem(text string) (item string, ok bool) {
	switch {
	case strings.HasPrefix(text, "- "), strings.HasPrefix(text, "* "), strings.HasPrefix(text, "+ "), strings.HasPrefix(text, "\u2022 "):
		_, item, _ = strings.Cut(text, " ")
	default:
		number, rest, found := strings.Cut(text, " ")
		digits := strings.TrimRight(number, ".)")
		const most = 3
		if !found || digits == number || strings.Trim(digits, "0123456789") != "" || len(digits) > most {
			return "", false
		}
		item = rest
	}
	item = strings.TrimSpace(item)
	if strings.HasPrefix(item, "[x]") || strings.HasPrefix(item, "[X]") || strings.HasPrefix(item, "~~") || strings.HasPrefix(item, "\u2705") {
		return "", true
	}
	item = strings.TrimSpace(strings.TrimPrefix(item, "[ ]"))
	item = strings.ReplaceAll(item, "**", "")
	return item, true
}
