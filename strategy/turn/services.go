// Package turn saves the changes of a turn or a subagent's task: it observes the worktree,
// separates the turn's changes from those of others, and prepares the turn checkpoint on the
// shadow branch.
package turn

import (
	"github.com/seed-3aff656d/entire/strategy/provenance"
	"github.com/seed-3aff656d/entire/strategy/rewindstate"
	"github.com/seed-3aff656d/entire/strategy/snapshots"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Turns     *Turns
	Observer  *Observer
	Shadows   *Shadows
	TaskTurns *TaskTurns
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	rewindstateSvc := rewindstate.New(w)
	provenanceSvc := provenance.New(w)
	snapshotsSvc := snapshots.New(w)
	trackingSvc := tracking.New(w)
	workspaceSvc := workspace.New(w)
	s := &Services{
		Turns: &Turns{
			Workspace:   w,
			files:       workspaceSvc.Files,
			marks:       trackingSvc.Marks,
			snapshots:   snapshotsSvc.Snapshots,
			steps:       provenanceSvc.Steps,
			transcripts: trackingSvc.Transcripts,
		},
		Observer: &Observer{
			Workspace:   w,
			requests:    snapshotsSvc.Requests,
			server:      snapshotsSvc.Server,
			snapshots:   snapshotsSvc.Snapshots,
			steps:       provenanceSvc.Steps,
			transcripts: trackingSvc.Transcripts,
		},
		Shadows: &Shadows{
			Workspace:   w,
			files:       workspaceSvc.Files,
			reader:      rewindstateSvc.Reader,
			transcripts: trackingSvc.Transcripts,
		},
		TaskTurns: &TaskTurns{
			Workspace:   w,
			files:       workspaceSvc.Files,
			transcripts: trackingSvc.Transcripts,
		},
	}
	s.Turns.observer = s.Observer
	s.Turns.shadows = s.Shadows
	s.Turns.taskTurns = s.TaskTurns
	s.Shadows.observer = s.Observer
	s.TaskTurns.observer = s.Observer
	s.TaskTurns.shadows = s.Shadows
	return s
}

// Turns saves the changes of a turn.
type Turns struct {
	*workspace.Workspace

	files       *workspace.Files
	marks       *tracking.Marks
	observer    *Observer
	shadows     *Shadows
	snapshots   *snapshots.Snapshots
	steps       *provenance.Steps
	taskTurns   *TaskTurns
	transcripts *tracking.Transcripts
}

// Observer finds what changed in the worktree since the session's last observation.
type Observer struct {
	*workspace.Workspace

	requests    *snapshots.Requests
	server      *snapshots.Server
	snapshots   *snapshots.Snapshots
	steps       *provenance.Steps
	transcripts *tracking.Transcripts
}

// Shadows writes turn checkpoints to shadow branches.
type Shadows struct {
	*workspace.Workspace

	files       *workspace.Files
	observer    *Observer
	reader      *rewindstate.Reader
	transcripts *tracking.Transcripts
}

// TaskTurns saves the changes of a subagent.
type TaskTurns struct {
	*workspace.Workspace

	files       *workspace.Files
	observer    *Observer
	shadows     *Shadows
	transcripts *tracking.Transcripts
}
