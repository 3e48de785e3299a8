// Package condense writes what a commit took up of its sessions into the commit's
// checkpoint on the metadata branch, carries forward what the commit left, and
// completes checkpoints with the rest of a turn's transcript.
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
	authorshipServices := authorship.New(w)
	journalServices := journal.New(w)
	provenanceServices := provenance.New(w)
	snapshotsServices := snapshots.New(w)
	trackingServices := tracking.New(w)
	turnServices := turn.New(w)
	workspaceServices := workspace.New(w)
	s := &Services{
		Condenser: &Condenser{
			Workspace:   w,
			attribution: authorshipServices.Attribution,
			authors:     authorshipServices.Authors,
			children:    workspaceServices.Children,
			files:       workspaceServices.Files,
			journal:     journalServices.Journal,
			links:       journalServices.Links,
			requests:    snapshotsServices.Requests,
			shadows:     turnServices.Shadows,
			transcripts: trackingServices.Transcripts,
			turns:       turnServices.Turns,
		},
		Finalizer: &Finalizer{
			Workspace:   w,
			attribution: authorshipServices.Attribution,
			steps:       provenanceServices.Steps,
			transcripts: trackingServices.Transcripts,
		},
		Sharer: &Sharer{
			Workspace:   w,
			agents:      trackingServices.Agents,
			attribution: authorshipServices.Attribution,
			authors:     authorshipServices.Authors,
			files:       workspaceServices.Files,
			links:       journalServices.Links,
			marks:       trackingServices.Marks,
		},
	}
	s.Condenser.finalizer = s.Finalizer
	s.Condenser.sharer = s.Sharer
	s.Finalizer.condenser = s.Condenser
	return s
}

// Condenser writes what a commit took up of its sessions into the commit's checkpoint.
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
	sharer      *Sharer
	transcripts *tracking.Transcripts
	turns       *turn.Turns
}

// Finalizer completes the checkpoints of a turn's commits with the rest of its transcript.
type Finalizer struct {
	*workspace.Workspace

	attribution *authorship.Attribution
	condenser   *Condenser
	steps       *provenance.Steps
	transcripts *tracking.Transcripts
}

// Sharer finds which files of a commit are a session's.
type Sharer struct {
	*workspace.Workspace

	agents      *tracking.Agents
	attribution *authorship.Attribution
	authors     *authorship.Authors
	files       *workspace.Files
	links       *journal.Links
	marks       *tracking.Marks
}
