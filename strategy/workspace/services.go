package workspace

// Services are the services of this package, for one worktree.
type Services struct {
	Files      *Files
	Children   *Children
	Tombstones *Tombstones
}

// New returns the services of a worktree.
func New(w *Workspace) *Services {
	tombstones := &Tombstones{w}
	return &Services{Files: &Files{Workspace: w, tombstones: tombstones}, Tombstones: tombstones, Children: &Children{w}}
}

// Files reads and stores files of the worktree and of shadow trees.
type Files struct {
	*Workspace

	tombstones *Tombstones
}

// Tombstones reads the list of sessions and files forgotten in the repository, and adds those
// forgotten in other clones.
type Tombstones struct {
	*Workspace
}

// Children starts detached children of this program and limits their number.
type Children struct {
	*Workspace
}
