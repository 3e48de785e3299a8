// Package fork creates second working trees of earlier moments: git worktrees with all files of a
// snapshot, including ignored ones. It lists and removes them, and compares them with their
// beginning. docs/formats/fork.md describes the record of a fork.
//
// It imports the packages sessions, workspace, snapshots and points.
package fork

import (
	"github.com/seed-3aff656d/entire/strategy/points"
	"github.com/seed-3aff656d/entire/strategy/snapshots"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Forks    *Forks
	Maker    *Maker
	Comparer *Comparer
	Remover  *Remover
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	pointsSvc := points.New(w)
	snapshotsSvc := snapshots.New(w)
	forks := &Forks{Workspace: w}
	return &Services{
		Forks:    forks,
		Maker:    &Maker{Workspace: w, forks: forks, points: pointsSvc.Points, snapshots: snapshotsSvc.Snapshots},
		Comparer: &Comparer{forks: forks, snapshots: snapshotsSvc.Snapshots},
		Remover:  &Remover{Workspace: w, forks: forks, snapshots: snapshotsSvc.Snapshots},
	}
}

// Forks reads and writes the records of forks.
type Forks struct {
	*workspace.Workspace
}

// Maker makes forks of this worktree.
type Maker struct {
	*workspace.Workspace

	forks     *Forks
	points    *points.Points
	snapshots *snapshots.Snapshots
}

// Comparer compares forks with their beginning.
type Comparer struct {
	forks     *Forks
	snapshots *snapshots.Snapshots
}

// Remover finds the work that was done in forks, and removes them.
type Remover struct {
	*workspace.Workspace

	forks     *Forks
	snapshots *snapshots.Snapshots
}
