package cleanup

import (
	"fmt"
	"time"

	"github.com/seed-3aff656d/entire/session"
)

// over reports whether a session can be forgotten, and why.
func (v *view) over(s *session.State) (string, bool) {
	quiet := v.now.Sub(heardOf(s))
	agent := s.Recorder.Agent
	switch {
	case s.Phase == session.Active || s.CheckpointCount > 0 || unfinished(s):
		return "", false
	case s.Phase == session.Ended && quiet > endedAge:
		return "ended " + days(quiet) + " ago, nothing pending", true
	case quiet > quietAge && (agent.PID == 0 || !v.w.Env.Alive(agent.PID, agent.Start)):
		return "no activity for " + days(quiet) + ", nothing pending", true
	default:
		return "", false
	}
}

// heardOf returns the time of a session's last sign of activity.
func heardOf(s *session.State) time.Time {
	at := s.StartedAt
	for _, t := range []*time.Time{s.EndedAt, s.LastInteraction} {
		if t != nil && t.After(at) {
			at = *t
		}
	}
	return at
}

func days(d time.Duration) string {
	return fmt.Sprintf("%d days", int(d/(24*time.Hour)))
}
