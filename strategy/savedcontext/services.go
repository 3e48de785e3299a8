// Package savedcontext saves the context of a session before it is cleared, compacted or lost, and
// gives it to the session that follows. It imports fork, lifecycle, tracking and workspace.
package savedcontext

import (
	"github.com/seed-3aff656d/entire/strategy/fork"
	"github.com/seed-3aff656d/entire/strategy/lifecycle"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Saver    *Saver
	Briefer  *Briefer
	Clearer  *Clearer
	Injector *Injector
	Watcher  *Watcher
	Ender    *Ender
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	machine := lifecycle.New(w).Machine
	marks := tracking.New(w).Marks
	local := workspace.New(w)
	children := local.Children
	recent := &recentSessions{Workspace: w}
	saver := &Saver{Workspace: w, tombstones: local.Tombstones}
	briefer := &Briefer{Workspace: w, recent: recent, saver: saver}
	clearer := &Clearer{Workspace: w, children: children, saver: saver}
	return &Services{
		Saver:   saver,
		Briefer: briefer,
		Clearer: clearer,
		Injector: &Injector{
			Workspace: w, briefer: briefer, children: children, clearer: clearer, forks: fork.New(w).Forks,
			machine: machine, marks: marks, recent: recent, saver: saver,
		},
		Watcher: &Watcher{Workspace: w, children: children, saver: saver},
		Ender:   &Ender{Workspace: w, machine: machine, marks: marks, saver: saver},
	}
}

// Saver saves contexts of sessions.
type Saver struct {
	*workspace.Workspace

	tombstones *workspace.Tombstones
}

// Briefer finds the saved context that a session may continue from, and makes briefs of
// saved contexts.
type Briefer struct {
	*workspace.Workspace

	recent *recentSessions
	saver  *Saver
}

// Clearer saves the context of a session that is cleared or ends, and applies the
// user's choice to keep or discard it.
type Clearer struct {
	*workspace.Workspace

	children *workspace.Children
	saver    *Saver
}

// Injector decides which texts from the saved context of an earlier session a session gets, at
// its start and with its first prompt.
type Injector struct {
	*workspace.Workspace

	briefer  *Briefer
	children *workspace.Children
	clearer  *Clearer
	forks    *fork.Forks
	machine  *lifecycle.Machine
	marks    *tracking.Marks
	recent   *recentSessions
	saver    *Saver
}

// recentSessions finds the sessions whose contexts were recorded recently.
type recentSessions struct {
	*workspace.Workspace
}

// Watcher updates the memory at stops and compactions, and saves a context that is
// nearly full.
type Watcher struct {
	*workspace.Workspace

	children *workspace.Children
	saver    *Saver
}

// Ender records that a session is ending, and finishes its end and its saved context in
// the background.
type Ender struct {
	*workspace.Workspace

	machine *lifecycle.Machine
	marks   *tracking.Marks
	saver   *Saver
}
