package provenance

import (
	"github.com/seed-3aff656d/entire/strategy/snapshots"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Steps *Steps
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	snapshotsSvc := snapshots.New(w)
	workspaceSvc := workspace.New(w)
	s := &Services{
		Steps: &Steps{
			Workspace:  w,
			files:      workspaceSvc.Files,
			snapshots:  snapshotsSvc.Snapshots,
			tombstones: workspaceSvc.Tombstones,
		},
	}
	return s
}

// Steps records the contents of files at a stop or before a turn, and who changed them.
type Steps struct {
	*workspace.Workspace

	files      *workspace.Files
	tombstones *workspace.Tombstones
	snapshots  *snapshots.Snapshots
}
