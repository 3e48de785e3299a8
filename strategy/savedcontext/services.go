// Package savedcontext saves the context of a session before it is cleared, compacted or lost, and
// gives it to the session that follows. It imports lifecycle, tracking and workspace.
package savedcontext

import (
	"github.com/seed-3aff656d/entire/strategy/lifecycle"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Services are the services of this package, for one worktree.
type Services struct {
	Saver   *Saver
	Clearer *Clearer
	Opener  *Opener
	Watcher *Watcher
	Ender   *Ender
}

// New returns the services of a worktree.
func New(w *workspace.Workspace) *Services {
	lifecycleSvc := lifecycle.New(w)
	trackingSvc := tracking.New(w)
	workspaceSvc := workspace.New(w)
	recent := &recentSessions{Workspace: w}
	s := &Services{
		Saver: &Saver{
			Workspace: w,
			recent:    recent,
		},
		Clearer: &Clearer{
			Workspace: w,
			children:  workspaceSvc.Children,
		},
		Opener: &Opener{
			Workspace: w,
			recent:    recent,
			children:  workspaceSvc.Children,
			machine:   lifecycleSvc.Machine,
			marks:     trackingSvc.Marks,
		},
		Watcher: &Watcher{
			Workspace: w,
			children:  workspaceSvc.Children,
		},
		Ender: &Ender{
			Workspace: w,
			machine:   lifecycleSvc.Machine,
			marks:     trackingSvc.Marks,
		},
	}
	s.Clearer.saver = s.Saver
	s.Opener.clearer = s.Clearer
	s.Opener.saver = s.Saver
	s.Watcher.saver = s.Saver
	s.Ender.saver = s.Saver
	return s
}

// Saver saves contexts of sessions on request and reads saved ones.
type Saver struct {
	*workspace.Workspace

	recent *recentSessions
}

// Clearer saves the context of a session that is cleared or ends, and applies the
// user's choice to keep or discard it.
type Clearer struct {
	*workspace.Workspace

	children *workspace.Children
	saver    *Saver
}

// Opener gives a new session the saved context of an earlier one.
type Opener struct {
	*workspace.Workspace

	children *workspace.Children
	clearer  *Clearer
	machine  *lifecycle.Machine
	marks    *tracking.Marks
	recent   *recentSessions
	saver    *Saver
}

// recentSessions finds the sessions whose contexts were recorded lately.
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
