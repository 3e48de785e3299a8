package digest

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/recall/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// offer takes in a plan that the agent offers.
func (d *Digest) offer(plan string, redact plain.Redactor) {
	d.PlanOffered = true
	if plan != "" {
		d.Plan = planOf(plan, redact)
		d.Plan.At = d.Prompts
	}
}

// revised takes in a plan as a person left it.
func (d *Digest) revised(detail transcript.Value, redact plain.Redactor) {
	if plan := detail.Member("plan").Text(); plan != "" {
		d.Plan = planOf(plan, redact)
	}
}

// accept takes in that a person agreed to the plan.
func (d *Digest) accept(redact plain.Redactor) {
	if d.Plan.Title == "" {
		return
	}
	d.Plan.Accepted, d.Plan.Begun, d.Plan.At = true, false, d.Prompts
	d.answer("plan accepted: " + plain.Line(d.Plan.Title, maxItem, redact))
}

// planOf is the outline of a plan: its title, and the items of its list of
// steps, else nothing more.
func planOf(plan string, redact plain.Redactor) Outlined {
	plan = plain.Clean(redact.Text(plain.Clean(plain.Head(plan, plain.MaxScanned))))
	var p Outlined
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
			p.Title = plain.Shorten(planTitle(heading), maxItem)
		case strings.HasPrefix(text, "#"):
			inSteps = isStepsHeading(heading)
		case inSteps && !indented:
			if item, ok := listItem(text); ok && item != "" {
				p.Steps = append(p.Steps, plain.Shorten(item, maxItem))
			}
		}
	}
	slices.Reverse(p.Steps) // the first ones stay
	p.Steps = stepsBound().Last(p.Steps)
	slices.Reverse(p.Steps)
	return p
}

// planTitle is a plan's first line without the word that says that it is one.
func planTitle(s string) string {
	s = strings.Trim(s, "*_ ")
	if rest, ok := strings.CutPrefix(s, "Plan:"); ok {
		return strings.TrimSpace(rest)
	}
	return s
}

func isStepsHeading(heading string) bool {
	heading = strings.ToLower(heading)
	return containsAny(heading, "step", "implementation", "changes", "tasks", "todo", "approach") && !containsAny(heading, "out of scope")
}

// listItem is the text of an item of a list, without mark and box, empty for one
// that is ticked; ok is false for what is no item.
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

// todos takes in a whole list of tasks.
func (d *Digest) todos(list transcript.Value, redact plain.Redactor) {
	d.Tasks = nil
	for item := range list.Items() {
		d.addTask(Task{Text: plain.Line(item.Member("content").Text(), maxItem, redact), State: stateOf(item.Member("status").Text())})
	}
}

// created takes in a task that was put on the list.
func (d *Digest) created(subject string, detail, content transcript.Value, redact plain.Redactor) {
	id := detail.Member("task").Member("id").Text()
	if id == "" {
		_, rest, _ := strings.Cut(content.Said(), "Task #")
		id, _, _ = strings.Cut(rest, " ")
	}
	d.addTask(Task{ID: plain.Line(id, maxName, redact), Text: subject, State: "pending"})
}

// taskUpdate takes in a change of a task.
func (d *Digest) taskUpdate(input transcript.Value, redact plain.Redactor) {
	id := firstOf(input, "taskId", "task_id")
	state := input.Member("status").Text()
	i := slices.IndexFunc(d.Tasks, func(t Task) bool { return t.ID != "" && t.ID == id })
	switch {
	case i < 0:
		return
	case state == "deleted":
		d.Tasks = slices.Delete(d.Tasks, i, i+1)
	default:
		if state != "" {
			d.Tasks[i].State = stateOf(state)
		}
		if subject := input.Member("subject").Text(); subject != "" {
			d.Tasks[i].Text = plain.Line(subject, maxItem, redact)
		}
	}
}

func stateOf(s string) string {
	switch s {
	case "in_progress", "completed":
		return s
	}
	return "pending"
}

// addTask puts a task on the list. Where there is no room, what is completed
// goes first.
func (d *Digest) addTask(t Task) {
	if t.Text == "" {
		return
	}
	const fields = 40 // the names of the fields
	weigh := func(t Task) int { return plain.JSONSize(t.ID) + plain.JSONSize(t.Text) + fields }
	d.Tasks = append(d.Tasks, t)
	if !plain.Within(d.Tasks, tasksBound(), weigh) {
		d.Tasks = slices.DeleteFunc(d.Tasks, func(t Task) bool { return t.State == "completed" })
	}
	d.Tasks = plain.Last(d.Tasks, tasksBound(), weigh)
}
