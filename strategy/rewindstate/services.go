package rewindstate

import (
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Reader *Reader
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	return &Services{Reader: &Reader{w}}
}

// Reader reads the present states of sessions.
type Reader struct {
	*workspace.Workspace
}
