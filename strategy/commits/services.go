// Package commits links commits to sessions. It decides about a commit before git makes it, and
// carries the decision out after the commit, or later if the hooks of the commit were interrupted.
// It is above condense, authorship and journal, and fires no event of a session.
package commits

import (
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/condense"
	"github.com/seed-3aff656d/entire/strategy/journal"
	"github.com/seed-3aff656d/entire/strategy/provenance"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Preparer   *Preparer
	Operations *Operations
	Committed  *Committed
	Repairer   *Repairer
	Relinker   *Relinker
	Finder     *Finder
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	authorshipSvc := authorship.New(w)
	condenseSvc := condense.New(w)
	journalSvc := journal.New(w)
	provenanceSvc := provenance.New(w)
	trackingSvc := tracking.New(w)
	workspaceSvc := workspace.New(w)
	s := &Services{
		Preparer: &Preparer{
			Workspace: w,
			authors:   authorshipSvc.Authors,
			commits:   journalSvc.Commits,
			journal:   journalSvc.Journal,
			links:     journalSvc.Links,
			sharer:    condenseSvc.Sharer,
		},
		Operations: &Operations{
			Workspace: w,
		},
		Committed: &Committed{
			Workspace:   w,
			authors:     authorshipSvc.Authors,
			children:    workspaceSvc.Children,
			condenser:   condenseSvc.Condenser,
			finalizer:   condenseSvc.Finalizer,
			journal:     journalSvc.Journal,
			links:       journalSvc.Links,
			states:      trackingSvc.States,
			steps:       provenanceSvc.Steps,
			transcripts: trackingSvc.Transcripts,
		},
		Repairer: &Repairer{
			Workspace:   w,
			attribution: authorshipSvc.Attribution,
			children:    workspaceSvc.Children,
			commits:     journalSvc.Commits,
			condenser:   condenseSvc.Condenser,
			journal:     journalSvc.Journal,
			links:       journalSvc.Links,
			transcripts: trackingSvc.Transcripts,
		},
	}
	s.Relinker = &Relinker{Workspace: w, attribution: authorshipSvc.Attribution, condenser: condenseSvc.Condenser}
	s.Finder = &Finder{
		Workspace: w,
		authors:   authorshipSvc.Authors,
		condenser: condenseSvc.Condenser,
		journal:   journalSvc.Journal,
		relinker:  s.Relinker,
		sharer:    condenseSvc.Sharer,
	}
	s.Committed.finder = s.Finder
	s.Preparer.operations = s.Operations
	s.Preparer.repairer = s.Repairer
	s.Committed.preparer = s.Preparer
	s.Committed.repairer = s.Repairer
	return s
}

// Preparer decides whether a commit belongs to sessions, before it is made.
type Preparer struct {
	*workspace.Workspace

	authors    *authorship.Authors
	commits    *journal.Commits
	journal    *journal.Journal
	links      *journal.Links
	operations *Operations
	repairer   *Repairer
	sharer     *condense.Sharer
}

// Operations determines the git operation that makes a commit.
type Operations struct {
	*workspace.Workspace
}

// Committed carries out decisions in the hooks of their own commits.
type Committed struct {
	*workspace.Workspace

	authors     *authorship.Authors
	children    *workspace.Children
	condenser   *condense.Condenser
	finalizer   *condense.Finalizer
	finder      *Finder
	journal     *journal.Journal
	links       *journal.Links
	preparer    *Preparer
	repairer    *Repairer
	states      *tracking.States
	steps       *provenance.Steps
	transcripts *tracking.Transcripts
}

// Repairer carries out decisions whose own hooks were interrupted.
type Repairer struct {
	*workspace.Workspace

	attribution *authorship.Attribution
	children    *workspace.Children
	commits     *journal.Commits
	condenser   *condense.Condenser
	journal     *journal.Journal
	links       *journal.Links
	transcripts *tracking.Transcripts
}
