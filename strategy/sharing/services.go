// Package sharing pushes checkpoints to the remote that stores them, fetches those of other
// clones, and removes forgotten data there. It imports commits and the packages below.
package sharing

import (
	"github.com/seed-3aff656d/entire/strategy/commits"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Pusher *Pusher
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	return &Services{Pusher: &Pusher{Workspace: w, operations: commits.New(w).Operations, tombstones: workspace.New(w).Tombstones}}
}

// Pusher pushes and fetches checkpoints.
type Pusher struct {
	*workspace.Workspace

	operations *commits.Operations
	tombstones *workspace.Tombstones
}
