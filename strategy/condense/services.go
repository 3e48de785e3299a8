// Package condense writes the sessions' part of a commit into the commit's checkpoint on the
// metadata branch, carries the remaining files forward, and completes checkpoints with the rest of
// a turn's transcript.
package condense

import (
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/journal"
	"github.com/seed-3aff656d/entire/strategy/provenance"
	"github.com/seed-3aff656d/entire/strategy/snapshots"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/turn"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Condenser *Condenser
	Finalizer *Finalizer
	Sharer    *Sharer
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	authorshipSvc := authorship.New(w)
	journalSvc := journal.New(w)
	provenanceSvc := provenance.New(w)
	snapshotsSvc := snapshots.New(w)
	trackingSvc := tracking.New(w)
	turnSvc := turn.New(w)
	workspaceSvc := workspace.New(w)
	s := &Services{
		Condenser: &Condenser{
			Workspace:   w,
			attribution: authorshipSvc.Attribution,
			authors:     authorshipSvc.Authors,
			children:    workspaceSvc.Children,
			files:       workspaceSvc.Files,
			journal:     journalSvc.Journal,
			links:       journalSvc.Links,
			requests:    snapshotsSvc.Requests,
			shadows:     turnSvc.Shadows,
			tombstones:  workspaceSvc.Tombstones,
			transcripts: trackingSvc.Transcripts,
			turns:       turnSvc.Turns,
		},
		Finalizer: &Finalizer{
			Workspace:   w,
			attribution: authorshipSvc.Attribution,
			files:       workspaceSvc.Files,
			steps:       provenanceSvc.Steps,
			transcripts: trackingSvc.Transcripts,
		},
		Sharer: &Sharer{
			Workspace:   w,
			attribution: authorshipSvc.Attribution,
			authors:     authorshipSvc.Authors,
			files:       workspaceSvc.Files,
			links:       journalSvc.Links,
			marks:       trackingSvc.Marks,
			steps:       provenanceSvc.Steps,
			transcripts: trackingSvc.Transcripts,
		},
	}
	s.Condenser.finalizer = s.Finalizer
	s.Condenser.sharer = s.Sharer
	return s
}

// Condenser writes the sessions' part of a commit into the commit's checkpoint.
type Condenser struct {
	*workspace.Workspace

	attribution *authorship.Attribution
	authors     *authorship.Authors
	children    *workspace.Children
	files       *workspace.Files
	finalizer   *Finalizer
	journal     *journal.Journal
	links       *journal.Links
	requests    *snapshots.Requests
	shadows     *turn.Shadows
	tombstones  *workspace.Tombstones
	sharer      *Sharer
	transcripts *tracking.Transcripts
	turns       *turn.Turns
}

// Finalizer completes the checkpoints of a turn's commits with the rest of its transcript.
type Finalizer struct {
	*workspace.Workspace

	attribution *authorship.Attribution
	files       *workspace.Files
	steps       *provenance.Steps
	transcripts *tracking.Transcripts
}

// Sharer determines which files of a commit are a session's.
type Sharer struct {
	*workspace.Workspace

	attribution *authorship.Attribution
	authors     *authorship.Authors
	files       *workspace.Files
	links       *journal.Links
	marks       *tracking.Marks
	steps       *provenance.Steps
	transcripts *tracking.Transcripts
}
