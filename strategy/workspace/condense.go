package workspace

import (
	"time"

	"github.com/seed-3aff656d/entire/session"
)

// lastActive is when the session was last heard of.
func lastActive(s *session.State) time.Time {
	if s.LastInteraction != nil {
		return *s.LastInteraction
	}
	return s.StartedAt
}
