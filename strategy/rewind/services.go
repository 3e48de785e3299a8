// Package rewind restores files, conversations and sessions to a point, and undoes and redoes
// rewinds. It imports conversation, points and the packages below; doctor and the commands
// import it.
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
	Rewinder *Rewinder
	Finisher *Finisher
	Aligner  *Aligner
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	authorshipSvc := authorship.New(w)
	conversationSvc := conversation.New(w)
	rewindstateSvc := rewindstate.New(w)
	pointsSvc := points.New(w)
	snapshotsSvc := snapshots.New(w)
	workspaceSvc := workspace.New(w)
	s := &Services{
		Rewinder: &Rewinder{
			Workspace:     w,
			authors:       authorshipSvc.Authors,
			conversations: conversationSvc.Conversations,
			files:         workspaceSvc.Files,
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
	}
	s.Rewinder.aligner = s.Aligner
	s.Rewinder.finisher = s.Finisher
	s.Finisher.aligner = s.Aligner
	return s
}

// Rewinder restores files and sessions of a snapshot.
type Rewinder struct {
	*workspace.Workspace

	aligner       *Aligner
	authors       *authorship.Authors
	files         *workspace.Files
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

// Aligner restores sessions to their states at a snapshot.
type Aligner struct {
	*workspace.Workspace

	files     *workspace.Files
	reader    *rewindstate.Reader
	snapshots *snapshots.Snapshots
}
