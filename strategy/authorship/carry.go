package authorship

import (
	"github.com/seed-3aff656d/entire/internal/git"
)

// Remaining is what a commit left of a session's pending files.
type Remaining struct {
	Paths   []string            // still pending
	Entries map[string]git.Edit // what they are
	// Renamed are those of paths whose steps have another name, with what the
	// session wrote.
	Renamed map[string]git.OID
}
