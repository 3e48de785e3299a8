package digest

import (
	"slices"

	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/session/transcript"
)

// Task is an item of the agent's list.
type Task struct {
	ID    string `json:"id,omitempty"`
	Text  string `json:"text"`
	State string `json:"state"` // pending, in_progress or completed
}

// Tasks is the agent's list of tasks.
type Tasks []Task

// add appends a task. If there is no room, it removes completed tasks first.
func (l *Tasks) add(t Task) {
	if t.Text == "" {
		return
	}
	const fields = 40 // the names of the fields
	size := func(t Task) int { return plain.JSONSize(t.ID) + plain.JSONSize(t.Text) + fields }
	*l = append(*l, t)
	if !plain.Within(*l, tasksBound(), size) {
		*l = slices.DeleteFunc(*l, func(t Task) bool { return t.State == "completed" })
	}
	*l = plain.Last(*l, tasksBound(), size)
}

// update applies a TaskUpdate call.
func (l *Tasks) update(input transcript.Value, redact plain.Redactor) {
	id := firstOf(input, "taskId", "task_id")
	state := input.Member("status").Text()
	i := slices.IndexFunc(*l, func(t Task) bool { return t.ID != "" && t.ID == id })
	switch {
	case i < 0:
		return
	case state == "deleted":
		*l = slices.Delete(*l, i, i+1)
	default:
		if state != "" {
			(*l)[i].State = taskState(state)
		}
		if subject := input.Member("subject").Text(); subject != "" {
			(*l)[i].Text = item(subject, redact)
		}
	}
}

func taskState(s string) string {
	switch s {
	case "in_progress", "completed":
		return s
	}
	return "pending"
}
