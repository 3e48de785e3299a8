// Package resume finds the checkpoint of a branch and restores its sessions' transcripts, so that
// an agent can continue them. It imports sharing and workspace.
package resume

import (
	"github.com/seed-3aff656d/entire/strategy/sharing"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Resumer *Resumer
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	return &Services{Resumer: &Resumer{Workspace: w, pusher: sharing.New(w).Pusher}}
}

// Resumer finds the session of a branch and switches to it.
type Resumer struct {
	*workspace.Workspace

	pusher *sharing.Pusher
}
