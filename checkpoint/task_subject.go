package checkpoint

import (
	"fmt"
)

// Lengths of the parts of task commits' subjects.
const (
	subjectText = 60
	subjectID   = 12
)

// TaskEndSubject returns the subject of a task's last checkpoint.
func TaskEndSubject(kind, description, toolUse string) string {
	id, description := shortID(toolUse), shorten(OneLine(description), subjectText)
	switch {
	case kind != "" && description != "":
		return fmt.Sprintf("Completed '%s' agent: %s (%s)", OneLine(kind), description, id)
	case kind != "":
		return fmt.Sprintf("Completed '%s' agent (%s)", OneLine(kind), id)
	case description != "":
		return fmt.Sprintf("Completed agent: %s (%s)", description, id)
	default:
		return "Task: " + id
	}
}

// Todo is an item of a subagent's plan.
type Todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// TaskStepSubject returns the subject of the n-th checkpoint within a task.
func TaskStepSubject(todos []Todo, n int, toolUse string) string {
	id, last := shortID(toolUse), ""
	for _, t := range todos {
		if t.Status == "completed" && t.Content != "" {
			last = shorten(OneLine(t.Content), subjectText)
		}
	}
	switch {
	case last != "":
		return fmt.Sprintf("%s (%s)", last, id)
	case len(todos) > 0:
		return fmt.Sprintf("Planning: %d todos (%s)", len(todos), id)
	default:
		return fmt.Sprintf("Checkpoint #%d: %s", n, id)
	}
}

func shortID(toolUse string) string { return toolUse[:min(len(toolUse), subjectID)] }

// shorten cuts a text to at most the given number of code points, including the dots at its end.
func shorten(text string, most int) string {
	const dots = "..."
	points := []rune(text)
	if len(points) <= most {
		return text
	}
	return string(points[:most-len(dots)]) + dots
}
