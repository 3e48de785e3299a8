package tracking

import (
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Transcripts *Transcripts
	Agents      *Agents
	States      *States
	Marks       *Marks
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	local := workspace.New(w)
	agents := &Agents{w}
	return &Services{
		Transcripts: &Transcripts{Workspace: w, agents: agents, tombstones: local.Tombstones},
		Agents:      agents,
		States:      &States{Workspace: w, tombstones: local.Tombstones},
		Marks:       &Marks{Workspace: w, children: local.Children},
	}
}

// Transcripts updates sessions from their transcripts.
type Transcripts struct {
	*workspace.Workspace

	agents     *Agents
	tombstones *workspace.Tombstones
}

// Agents finds the transcripts of subagents.
type Agents struct {
	*workspace.Workspace
}

// States loads and saves the states of sessions.
type States struct {
	*workspace.Workspace

	tombstones *workspace.Tombstones
}

// Marks records the progress of turns in files of the worktree.
type Marks struct {
	*workspace.Workspace

	children *workspace.Children
}
