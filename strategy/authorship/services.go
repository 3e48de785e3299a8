// Package authorship determines who changed the files of a worktree since a snapshot, and who wrote
// the lines of a commit: sessions of agents, by their steps and transcripts, or a person. It writes
// only the attribution in session states.
package authorship

import (
	"github.com/seed-3aff656d/entire/strategy/journal"
	"github.com/seed-3aff656d/entire/strategy/provenance"
	"github.com/seed-3aff656d/entire/strategy/snapshots"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Authors     *Authors
	Attribution *Attribution
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	journalSvc := journal.New(w)
	provenanceSvc := provenance.New(w)
	snapshotsSvc := snapshots.New(w)
	trackingSvc := tracking.New(w)
	workspaceSvc := workspace.New(w)
	s := &Services{
		Authors: &Authors{
			Workspace:   w,
			files:       workspaceSvc.Files,
			snapshots:   snapshotsSvc.Snapshots,
			steps:       provenanceSvc.Steps,
			transcripts: trackingSvc.Transcripts,
		},
		Attribution: &Attribution{
			Workspace: w,
			files:     workspaceSvc.Files,
			links:     journalSvc.Links,
			steps:     provenanceSvc.Steps,

			transcripts: trackingSvc.Transcripts,
		},
	}
	return s
}

// Authors finds who changed the files of a worktree.
type Authors struct {
	*workspace.Workspace

	files       *workspace.Files
	snapshots   *snapshots.Snapshots
	steps       *provenance.Steps
	transcripts *tracking.Transcripts
}

// Attribution computes who wrote the lines of a commit.
type Attribution struct {
	*workspace.Workspace

	files *workspace.Files
	links *journal.Links
	steps *provenance.Steps

	transcripts *tracking.Transcripts
}
