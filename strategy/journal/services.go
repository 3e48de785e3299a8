package journal

import (
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Journal *Journal
	Links   *Links
	Commits *Commits
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	return &Services{Journal: &Journal{w}, Links: &Links{w}, Commits: &Commits{w}}
}

// Journal reads and writes the decisions about commits in progress.
type Journal struct {
	*workspace.Workspace
}

// Links records which of the latest commits have a checkpoint.
type Links struct {
	*workspace.Workspace
}

// Commits finds the commits that decisions were made for.
type Commits struct {
	*workspace.Workspace
}
