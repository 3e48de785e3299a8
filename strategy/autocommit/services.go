// Package autocommit commits an agent's changes at the end of a turn, if the settings enable it. It
// imports commits, turn and the packages below.
package autocommit

import (
	"github.com/seed-3aff656d/entire/strategy/turn"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Committer *Committer
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	return &Services{Committer: &Committer{Workspace: w, turns: turn.New(w).Turns}}
}

// Committer commits what a turn changed, with the strategy auto-commit.
type Committer struct {
	*workspace.Workspace

	turns *turn.Turns
}
