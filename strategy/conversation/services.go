// Package conversation restores transcripts: to the length at a rewind point, to their state before
// a rewind, or from a checkpoint. A replaced transcript is kept as a copy. It imports points,
// snapshots and the packages below.
package conversation

import (
	"github.com/seed-3aff656d/entire/strategy/indexing"
	"github.com/seed-3aff656d/entire/strategy/points"
	"github.com/seed-3aff656d/entire/strategy/snapshots"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Logs          *Logs
	Conversations *Conversations
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	convs := &Conversations{Workspace: w, points: points.New(w).Points, snapshots: snapshots.New(w).Snapshots}
	return &Services{Logs: &Logs{Workspace: w, conversations: convs, filler: indexing.New(w).Filler}, Conversations: convs}
}

// Logs restores stored transcripts to where the agent reads them.
type Logs struct {
	*workspace.Workspace

	conversations *Conversations
	filler        *indexing.Filler
}

// Conversations truncates conversations, and restores them.
type Conversations struct {
	*workspace.Workspace

	points    *points.Points
	snapshots *snapshots.Snapshots
}
