package workspace

import (
	"slices"

	"github.com/seed-3aff656d/entire/session"
)

// IncompleteCheckpoints are the checkpoints that don't have the whole transcript yet, in
// the order in which they were made.
func IncompleteCheckpoints(s *session.State) []string {
	ids := slices.Clone(s.Recorder.Incomplete)
	for _, id := range s.TurnCheckpointIDs {
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}
