package tracking

import (
	"github.com/seed-3aff656d/entire/session"
)

func ByToolUse(id string) func(*session.Task) bool {
	return func(t *session.Task) bool { return t.ToolUse == id }
}
