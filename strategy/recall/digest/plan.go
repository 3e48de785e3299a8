package digest

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/plain"
)

// Plan is a plan that the agent offered.
type Plan struct {
	Title string   `json:"title"`
	Steps []string `json:"steps,omitempty"`
	// Accepted is set when the user accepts the plan, Begun when the agent acts after that.
	// At is the number of prompts at the time of the offer or acceptance.
	Accepted bool `json:"accepted,omitempty"`
	Begun    bool `json:"begun,omitempty"`
	At       int  `json:"at,omitempty"`
}

// acceptPlan records that the user accepted the plan.
func (d *Digest) acceptPlan(redact plain.Redactor) {
	if d.Plan.Title == "" {
		return
	}
	d.Plan.Accepted, d.Plan.Begun, d.Plan.At = true, false, d.Prompts
	d.decided("plan accepted: " + item(d.Plan.Title, redact))
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
			if rest, ok := strings.CutPrefix(title, "Plan:"); ok {
				title = strings.TrimSpace(rest)
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
	return p
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
