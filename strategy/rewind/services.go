// Package rewind restores files, conversations and sessions to a point, and undoes or redoes that.
// It imports conversation, points and the packages below; doctor and the commands import it.
package rewind

import (
	"github.com/seed-3aff656d/entire/strategy/authorship"
	"github.com/seed-3aff656d/entire/strategy/conversation"
	"github.com/seed-3aff656d/entire/strategy/points"
	"github.com/seed-3aff656d/entire/strategy/rewindstate"
	"github.com/seed-3aff656d/entire/strategy/snapshots"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Rewinder     *Rewinder
	Finisher     *Finisher
	Aligner      *Aligner
	CodeJournal  *CodeJournal
	CodeRewinder *CodeRewinder
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	authorshipSvc := authorship.New(w)
	conversationSvc := conversation.New(w)
	rewindstateSvc := rewindstate.New(w)
	pointsSvc := points.New(w)
	snapshotsSvc := snapshots.New(w)
	workspaceSvc := workspace.New(w)
	code := &codeFiles{Workspace: w}
	s := &Services{
		Rewinder: &Rewinder{
			Workspace:     w,
			authors:       authorshipSvc.Authors,
			conversations: conversationSvc.Conversations,
			points:        pointsSvc.Points,
			snapshots:     snapshotsSvc.Snapshots,
		},
		Finisher: &Finisher{
			Workspace:     w,
			conversations: conversationSvc.Conversations,
			snapshots:     snapshotsSvc.Snapshots,
		},
		Aligner: &Aligner{
			Workspace: w,
			files:     workspaceSvc.Files,
			reader:    rewindstateSvc.Reader,
			snapshots: snapshotsSvc.Snapshots,
		},
		CodeJournal: &CodeJournal{
			Workspace: w,
			code:      code,
			snapshots: snapshotsSvc.Snapshots,
		},
		CodeRewinder: &CodeRewinder{
			Workspace: w,
			code:      code,
			files:     workspaceSvc.Files,
			reader:    rewindstateSvc.Reader,
			snapshots: snapshotsSvc.Snapshots,
		},
	}
	s.Rewinder.aligner = s.Aligner
	s.Rewinder.journal = s.CodeJournal
	s.Rewinder.finisher = s.Finisher
	s.Finisher.aligner = s.Aligner
	s.CodeRewinder.aligner = s.Aligner
	s.CodeRewinder.journal = s.CodeJournal
	return s
}

// Rewinder restores files and sessions of a snapshot.
type Rewinder struct {
	*workspace.Workspace

	aligner       *Aligner
	authors       *authorship.Authors
	journal       *CodeJournal
	conversations *conversation.Conversations
	points        *points.Points
	snapshots     *snapshots.Snapshots
	finisher      *Finisher
}

// Finisher completes rewinds that were interrupted between the files and the
// conversation or the sessions.
type Finisher struct {
	*workspace.Workspace

	aligner       *Aligner
	conversations *conversation.Conversations
	snapshots     *snapshots.Snapshots
}

// Aligner makes sessions what they were at a snapshot.
type Aligner struct {
	*workspace.Workspace

	files     *workspace.Files
	reader    *rewindstate.Reader
	snapshots *snapshots.Snapshots
}

// codeFiles reads and writes the files of rewinds without snapshots.
type codeFiles struct {
	*workspace.Workspace
}

// CodeJournal keeps the history of rewinds without snapshots and runs one at a time.
type CodeJournal struct {
	*workspace.Workspace

	code      *codeFiles
	snapshots *snapshots.Snapshots
}

// CodeRewinder restores files from turn checkpoints.
type CodeRewinder struct {
	*workspace.Workspace

	aligner   *Aligner
	code      *codeFiles
	journal   *CodeJournal
	files     *workspace.Files
	reader    *rewindstate.Reader
	snapshots *snapshots.Snapshots
}
