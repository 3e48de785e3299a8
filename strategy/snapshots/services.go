package snapshots

import (
	"github.com/seed-3aff656d/entire/strategy/moments"
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
	momentsServices := moments.New(w)
	s := &Services{
		Snapshots: &Snapshots{
			Workspace: w,
		},
		Requests: &Requests{
			Workspace: w,
		},
		Server: &Server{
			Workspace: w,
			reader:    momentsServices.Reader,
		},
	}
	s.Requests.server = s.Server
	s.Requests.snapshots = s.Snapshots
	s.Server.requests = s.Requests
	s.Server.snapshots = s.Snapshots
	return s
}

// Snapshots takes snapshots of the worktree into its store.
type Snapshots struct {
	*workspace.Workspace
}

// Requests asks for snapshots, and pairs them with checkpoints.
type Requests struct {
	*workspace.Workspace

	server    *Server
	snapshots *Snapshots
}

// Server takes the snapshots that were asked for.
type Server struct {
	*workspace.Workspace

	reader    *moments.Reader
	requests  *Requests
	snapshots *Snapshots
}
