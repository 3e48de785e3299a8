// Package lifecycle fires the events of a session: it begins and ends turns,
// sessions and subagents' tasks, and recovers turns that no stop ended. It is above
// turn and condense, which do the work of the machine's actions.
package lifecycle

import (
	"github.com/seed-3aff656d/entire/strategy/condense"
	"github.com/seed-3aff656d/entire/strategy/journal"
	"github.com/seed-3aff656d/entire/strategy/provenance"
	"github.com/seed-3aff656d/entire/strategy/snapshots"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/turn"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Machine *Machine
	Tasks   *Tasks
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	condenseServices := condense.New(w)
	journalServices := journal.New(w)
	snapshotsServices := snapshots.New(w)
	trackingServices := tracking.New(w)
	turnServices := turn.New(w)
	workspaceServices := workspace.New(w)
	s := &Services{
		Machine: &Machine{
			Workspace:   w,
			children:    workspaceServices.Children,
			finalizer:   condenseServices.Finalizer,
			journal:     journalServices.Journal,
			marks:       trackingServices.Marks,
			observer:    turnServices.Observer,
			requests:    snapshotsServices.Requests,
			shadows:     turnServices.Shadows,
			snapshots:   snapshotsServices.Snapshots,
			states:      trackingServices.States,
			steps:       provenance.New(w).Steps,
			transcripts: trackingServices.Transcripts,
			turns:       turnServices.Turns,
		},
		Tasks: &Tasks{
			Workspace: w,
			taskTurns: turnServices.TaskTurns,
		},
	}
	s.Tasks.machine = s.Machine
	return s
}

// Machine fires the events of a session's state machine.
type Machine struct {
	*workspace.Workspace

	children    *workspace.Children
	finalizer   *condense.Finalizer
	journal     *journal.Journal
	marks       *tracking.Marks
	observer    *turn.Observer
	requests    *snapshots.Requests
	shadows     *turn.Shadows
	snapshots   *snapshots.Snapshots
	states      *tracking.States
	steps       *provenance.Steps
	transcripts *tracking.Transcripts
	turns       *turn.Turns
}

// Tasks records what subagents do, from the events of their hooks.
type Tasks struct {
	*workspace.Workspace

	machine   *Machine
	taskTurns *turn.TaskTurns
}
