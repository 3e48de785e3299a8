package snapshots

import (
	"github.com/seed-3aff656d/entire/strategy/rewindstate"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Snapshots *Snapshots
	Requests  *Requests
	Server    *Server
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	snaps := &Snapshots{w}
	requests := &Requests{Workspace: w, snapshots: snaps}
	return &Services{
		Snapshots: snaps,
		Requests:  requests,
		Server:    &Server{Workspace: w, reader: rewindstate.New(w).Reader, requests: requests, snapshots: snaps},
	}
}

// Snapshots opens the repository's store and takes snapshots of the worktree into it.
type Snapshots struct {
	*workspace.Workspace
}

// Requests reads and writes requests for snapshots, and pairs snapshots with
// checkpoints.
type Requests struct {
	*workspace.Workspace

	snapshots *Snapshots
}

// Server serves requests for snapshots, in hooks and in a child, and prunes the store.
type Server struct {
	*workspace.Workspace

	reader    *rewindstate.Reader
	requests  *Requests
	snapshots *Snapshots
}
