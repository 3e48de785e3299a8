// Package points lists the points that a worktree can be rewound to and resolves a user's name for
// one. It imports indexing, snapshots and workspace, and changes nothing but the index.
package points

import (
	"github.com/seed-3aff656d/entire/strategy/indexing"
	"github.com/seed-3aff656d/entire/strategy/snapshots"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Points *Points
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	return &Services{Points: &Points{Workspace: w, filler: indexing.New(w).Filler, snapshots: snapshots.New(w).Snapshots}}
}

// Points lists the points that a rewind can go to, and resolves names of them.
type Points struct {
	*workspace.Workspace

	filler    *indexing.Filler
	snapshots *snapshots.Snapshots
}
