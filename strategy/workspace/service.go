package workspace

import (
	"github.com/seed-3aff656d/entire/session"
)

// IsActive says whether the session's turn runs: it is active, and its agent, as
// far as that is known, is alive.
func (r *Workspace) IsActive(s *session.State) bool {
	agent := s.Recorder.Agent
	return s.Phase == session.Active && (agent.PID == 0 || r.Env.Alive(agent.PID, agent.Start))
}
