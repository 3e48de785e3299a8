package provenance

import (
	"time"

	"github.com/seed-3aff656d/entire/bands"
)

// Stretch is the time between two snapshots, or from the newest one until now.
type Stretch struct {
	From, To time.Time // to is zero for now
	Until    bands.Version
	// Turn is the session at whose stop the later snapshot was taken, others what
	// changed and isn't of its turn.
	Turn   string
	Others map[string]bool
	// Untold reports whether others isn't known, so that the times of files decide.
	Untold bool
	// Between reports whether no turn was under way: what still runs in the background
	// proves nothing. late reports whether the snapshot was taken after the turn began
	// which it stands before.
	Between, Late bool
	// Begun is the turn before which the later snapshot was taken or meant to be,
	// snapped the turns of whose changes there is a snapshot.
	Begun   string
	Snapped map[string]bool
	// Restored is the tree that a rewind made at the beginning of it, nil if none did.
	Restored *RestoredTree
	// Interrupted reports whether it was interrupted: a file that it was creating may be
	// there in part.
	Interrupted bool
}
