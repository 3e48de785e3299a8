// Package summaries asks a model for the summary of a checkpoint's session and stores it. It
// imports explain and workspace.
package summaries

import (
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Summarizer *Summarizer
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	return &Services{Summarizer: &Summarizer{w}}
}

// Summarizer asks a model for summaries of checkpoints.
type Summarizer struct {
	*workspace.Workspace
}
