package provenance

import (
	"time"

	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// holds reports whether a time lies in the stretch.
func (st *Stretch) holds(at time.Time) bool {
	return !at.Before(st.From.Add(-workspace.ClockSlack)) && (st.To.IsZero() || !at.After(st.To.Add(workspace.ClockSlack)))
}
