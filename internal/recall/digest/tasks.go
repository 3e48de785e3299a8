package digest

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/recall/plain"
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

// add appends a task. Where there is no room, completed tasks are removed first.
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

// setTasks replaces the list with that of a TodoWrite call.
func (r *reader) setTasks(list transcript.Value) {
	r.Tasks = nil
	for item := range list.Items() {
		r.Tasks.add(Task{Text: r.item(item.Member("content").Text()), State: taskState(item.Member("status").Text())})
	}
}

// createTask adds the task of a TaskCreate call, whose id is in its result.
func (r *reader) createTask(subject string, detail, content transcript.Value) {
	id := detail.Member("task").Member("id").Text()
	if id == "" {
		_, rest, _ := strings.Cut(content.Said(), "Task #")
		id, _, _ = strings.Cut(rest, " ")
	}
	r.Tasks.add(Task{ID: plain.Line(id, maxName, r.redact), Text: subject, State: "pending"})
}

// updateTask changes the task of a TaskUpdate call.
func (r *reader) updateTask(input transcript.Value) {
	id := firstOf(input, "taskId", "task_id")
	state := input.Member("status").Text()
	i := slices.IndexFunc(r.Tasks, func(t Task) bool { return t.ID != "" && t.ID == id })
	switch {
	case i < 0:
		return
	case state == "deleted":
		r.Tasks = slices.Delete(r.Tasks, i, i+1)
	default:
		if state != "" {
			r.Tasks[i].State = taskState(state)
		}
		if subject := input.Member("subject").Text(); subject != "" {
			r.Tasks[i].Text = r.item(subject)
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
