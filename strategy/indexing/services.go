// Package indexing fills the index of a repository (internal/index) from its record: from
// checkpoints, live transcripts, saved contexts, commits and snapshots. Indexed parts are not
// read again.
//
// It imports the package workspace of strategy.
package indexing

import "github.com/seed-3aff656d/entire/strategy/workspace"

// Services are the services of this package, for one worktree.
type Services struct {
	Filler *Filler
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	return &Services{Filler: &Filler{Workspace: w, tombstones: workspace.New(w).Tombstones}}
}

// Filler fills the index, and opens it for queries.
type Filler struct {
	*workspace.Workspace

	tombstones *workspace.Tombstones
}
