package workspace

import (
	"cmp"

	"github.com/seed-3aff656d/entire/session"
)

// TurnVariable tells the hooks of a turn's commit which turn that is.
const TurnVariable = "ENTIRE_AUTO_COMMIT"

// StrategyName is the name that goes into metadata.
func (r *Workspace) StrategyName() string { return cmp.Or(r.Options.Strategy, Name) }

// IsTurnCommitOf says whether the commit that is being made is the one that the
// strategy makes of the session's last turn.
func (r *Workspace) IsTurnCommitOf(s *session.State) bool {
	turn := r.Env.Getenv(TurnVariable)
	return turn != "" && turn == s.TurnID && s.Phase != session.Active
}
