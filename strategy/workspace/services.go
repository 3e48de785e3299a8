package workspace

// Services are the services of this package, for one worktree.
type Services struct {
	Files    *Files
	Children *Children
}

// New returns the services of a worktree.
func New(w *Workspace) *Services {
	s := &Services{
		Files: &Files{
			Workspace: w,
		},
		Children: &Children{
			Workspace: w,
		},
	}
	return s
}

// Files reads and stores files of the worktree and of shadow trees.
type Files struct {
	*Workspace
}

// Children starts detached children of this program and keeps their number small.
type Children struct {
	*Workspace
}
