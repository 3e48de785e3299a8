// Package lifecycle fires the events of a session: it begins and ends turns, sessions and
// subagents' tasks, and recovers turns that weren't ended by a stop. Packages turn and
// condense below it implement the machine's actions.
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
	condenseSvc := condense.New(w)
	journalSvc := journal.New(w)
	snapshotsSvc := snapshots.New(w)
	trackingSvc := tracking.New(w)
	turnSvc := turn.New(w)
	workspaceSvc := workspace.New(w)
	s := &Services{
		Machine: &Machine{
			Workspace:   w,
			children:    workspaceSvc.Children,
			finalizer:   condenseSvc.Finalizer,
			journal:     journalSvc.Journal,
			marks:       trackingSvc.Marks,
			observer:    turnSvc.Observer,
			requests:    snapshotsSvc.Requests,
			server:      snapshotsSvc.Server,
			shadows:     turnSvc.Shadows,
			snapshots:   snapshotsSvc.Snapshots,
			states:      trackingSvc.States,
			steps:       provenance.New(w).Steps,
			transcripts: trackingSvc.Transcripts,
			turns:       turnSvc.Turns,
		},
		Tasks: &Tasks{
			Workspace: w,
			taskTurns: turnSvc.TaskTurns,
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
	server      *snapshots.Server
	shadows     *turn.Shadows
	snapshots   *snapshots.Snapshots
	states      *tracking.States
	steps       *provenance.Steps
	transcripts *tracking.Transcripts
	turns       *turn.Turns
}

// Tasks records the work of subagents, from the events of their hooks.
type Tasks struct {
	*workspace.Workspace

	machine   *Machine
	taskTurns *turn.TaskTurns
}
