package savedcontext

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/catalog"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Saving is a request for a saved context.
type Saving struct {
	// SessionID is the session to save; empty: the last active one of this worktree.
	SessionID string
	Cause     recall.Cause
	// The caller's texts; empty: derived from the transcript.
	Summary, Description string
	Tags                 []string
	// Mode is empty for that of the settings.
	Mode recall.Mode
	// Progress is called as the reading advances, unless it is nil.
	Progress func(bands.Progress)
}

// SaveContext saves the context of a session and returns it without contents. It wraps
// session.ErrNotFound if there is no session.
func SaveContext(ctx context.Context, w *workspace.Workspace, want Saving) (recall.Checkpoint, error) {
	var c recall.Checkpoint
	id := cmp.Or(want.SessionID, lastAtWork(ctx, w))
	if id == "" {
		return c, fmt.Errorf("no session in this worktree: %w", session.ErrNotFound)
	}
	want.Cause = cmp.Or(want.Cause, recall.Requested)
	how := allEffort()
	how.progress = want.Progress
	err := recollect(ctx, w, id, how, func(ctx context.Context, cw *contextWriter) (err error) {
		c, err = cw.save(ctx, want, recall.Kept, "")
		return err
	})
	return c, err
}

// lastAtWork returns the session that was last active in this worktree: preferably
// one whose turn is running, then one that had a prompt; empty if there is none.
func lastAtWork(ctx context.Context, w *workspace.Workspace) string {
	rank := func(s *session.State) int {
		switch {
		case s.Phase == session.Active:
			return 2
		case s.TurnID != "" || s.FirstPrompt != "":
			return 1
		default:
			return 0
		}
	}
	here := w.OwnSessions(ctx, w.Sessions.All)
	if len(here) == 0 {
		return ""
	}
	return slices.MaxFunc(here, func(a, b *session.State) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), a.LastActive().Compare(b.LastActive()))
	}).ID
}

// Contexts returns the store of saved contexts.
func Contexts(w *workspace.Workspace) contextstore.Store {
	return contextstore.Store{
		Repo: w.Repo, By: w.Identity, Now: w.Env.Now, Random: w.Env.Random,
		Catalog: func(ctx context.Context) (*catalog.Catalog, error) {
			if w.Env.Registry == nil || w.Env.Registry.Home == "" {
				return nil, catalog.ErrNotFound
			}
			return catalog.Open(ctx, w.Env.Registry.CatalogPath())
		},
	}
}
