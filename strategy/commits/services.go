package commits

import (
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/condense"
	"github.com/seed-3aff656d/entire/strategy/journal"
	"github.com/seed-3aff656d/entire/strategy/lifecycle"
	"github.com/seed-3aff656d/entire/strategy/provenance"
	"github.com/seed-3aff656d/entire/strategy/snapshots"
	"github.com/seed-3aff656d/entire/strategy/summaries"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/turn"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Preparer   *Preparer
	Operations *Operations
	Committed  *Committed
	Repairer   *Repairer
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	authorshipServices := authorship.New(w)
	condenseServices := condense.New(w)
	journalServices := journal.New(w)
	lifecycleServices := lifecycle.New(w)
	provenanceServices := provenance.New(w)
	snapshotsServices := snapshots.New(w)
	summariesServices := summaries.New(w)
	trackingServices := tracking.New(w)
	turnServices := turn.New(w)
	workspaceServices := workspace.New(w)
	s := &Services{
		Preparer: &Preparer{
			Workspace: w,
			authors:   authorshipServices.Authors,
			commits:   journalServices.Commits,
			journal:   journalServices.Journal,
			links:     journalServices.Links,
			machine:   lifecycleServices.Machine,
			sharer:    condenseServices.Sharer,
		},
		Operations: &Operations{
			Workspace: w,
		},
		Committed: &Committed{
			Workspace:   w,
			children:    workspaceServices.Children,
			commits:     journalServices.Commits,
			condenser:   condenseServices.Condenser,
			finalizer:   condenseServices.Finalizer,
			journal:     journalServices.Journal,
			links:       journalServices.Links,
			machine:     lifecycleServices.Machine,
			requests:    snapshotsServices.Requests,
			states:      trackingServices.States,
			steps:       provenanceServices.Steps,
			summarizer:  summariesServices.Summarizer,
			transcripts: trackingServices.Transcripts,
			turns:       turnServices.Turns,
		},
		Repairer: &Repairer{
			Workspace:   w,
			attribution: authorshipServices.Attribution,
			children:    workspaceServices.Children,
			commits:     journalServices.Commits,
			condenser:   condenseServices.Condenser,
			journal:     journalServices.Journal,
			links:       journalServices.Links,
			machine:     lifecycleServices.Machine,
			transcripts: trackingServices.Transcripts,
		},
	}
	s.Preparer.operations = s.Operations
	s.Preparer.repairer = s.Repairer
	s.Committed.preparer = s.Preparer
	s.Committed.repairer = s.Repairer
	s.Repairer.committed = s.Committed
	return s
}

// Preparer decides whether a commit belongs to sessions, before it is made.
type Preparer struct {
	*workspace.Workspace

	authors    *authorship.Authors
	commits    *journal.Commits
	journal    *journal.Journal
	links      *journal.Links
	machine    *lifecycle.Machine
	operations *Operations
	repairer   *Repairer
	sharer     *condense.Sharer
}

// Operations finds out what git is doing when it makes a commit.
type Operations struct {
	*workspace.Workspace
}

// Committed carries out decisions once their commits are made.
type Committed struct {
	*workspace.Workspace

	children    *workspace.Children
	commits     *journal.Commits
	condenser   *condense.Condenser
	finalizer   *condense.Finalizer
	journal     *journal.Journal
	links       *journal.Links
	machine     *lifecycle.Machine
	preparer    *Preparer
	repairer    *Repairer
	requests    *snapshots.Requests
	states      *tracking.States
	steps       *provenance.Steps
	summarizer  *summaries.Summarizer
	transcripts *tracking.Transcripts
	turns       *turn.Turns
}

// Repairer carries out decisions whose own hooks were stopped.
type Repairer struct {
	*workspace.Workspace

	attribution *authorship.Attribution
	children    *workspace.Children
	commits     *journal.Commits
	committed   *Committed
	condenser   *condense.Condenser
	journal     *journal.Journal
	links       *journal.Links
	machine     *lifecycle.Machine
	transcripts *tracking.Transcripts
}
