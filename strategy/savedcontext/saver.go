package savedcontext

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/internal/catalog"
	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/brief"
	"github.com/seed-3aff656d/entire/internal/recall/contextstore"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session"
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
}

// SaveContext saves the context of a session and returns it without contents. It wraps
// session.ErrNotFound if there is no session.
func (sa *Saver) SaveContext(ctx context.Context, want Saving) (recall.Checkpoint, error) {
	var c recall.Checkpoint
	id := cmp.Or(want.SessionID, sa.lastAtWork(ctx))
	if id == "" {
		return c, fmt.Errorf("no session was at work in this worktree: %w", session.ErrNotFound)
	}
	want.Cause = cmp.Or(want.Cause, recall.Requested)
	err := sa.recollect(ctx, id, allEffort(), func(ctx context.Context, w *contextWriter) (err error) {
		c, err = w.save(ctx, want, recall.Kept, "")
		return err
	})
	return c, err
}

// lastAtWork returns the session that was last active in this worktree: preferably
// one whose turn is running, then one that had a prompt; empty if there is none.
func (sa *Saver) lastAtWork(ctx context.Context) string {
	at := func(s *session.State) time.Time {
		if s.LastInteraction != nil {
			return *s.LastInteraction
		}
		return s.StartedAt
	}
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
	here := sa.OwnSessions(ctx, sa.Sessions.All)
	if len(here) == 0 {
		return ""
	}
	return slices.MaxFunc(here, func(a, b *session.State) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), at(a).Compare(at(b)))
	}).ID
}

// Contexts returns the store of saved contexts.
func (sa *Saver) Contexts() contextstore.Store {
	return contextstore.Store{
		Repo: sa.Repo, By: sa.Identity, Now: sa.Env.Now, Random: sa.Env.Random,
		Catalog: func(ctx context.Context) (*catalog.Catalog, error) {
			if sa.Env.Registry == nil || sa.Env.Registry.Home == "" {
				return nil, catalog.ErrNotFound
			}
			return catalog.Open(ctx, sa.Env.Registry.CatalogPath())
		},
	}
}

// Recalled is a checkpoint with the brief that it makes now.
type Recalled struct {
	Checkpoint recall.Checkpoint
	Brief      brief.Brief
}

// Recall returns the brief of the checkpoint id, which may be abbreviated. If id is empty
// it is the whole brief that a session which starts here now would get, at once or with
// its first prompt, or the notice where it would get only that; without parts where the
// settings exclude briefs. It wraps recall.ErrNotFound.
func (sa *Saver) Recall(ctx context.Context, id string, kind brief.Kind) (Recalled, error) {
	if id != "" {
		whole, err := sa.Contexts().Find(ctx, id)
		if err != nil {
			return Recalled{}, err
		}
		return sa.brief(ctx, whole, kind)
	}
	id, usual, err := sa.newest(ctx, workspace.Input{})
	if err != nil {
		return Recalled{}, err
	}
	if id == "" {
		return Recalled{}, fmt.Errorf("no context checkpoint of this worktree: %w", recall.ErrNotFound)
	}
	if kind == brief.Full {
		kind = usual
	}
	o := sa.Options.Recall
	switch {
	case o.OnStart == settings.Never, o.Inject == settings.InjectOff:
		recalled, err := sa.brief(ctx, id, brief.Notice)
		recalled.Brief = brief.Brief{Message: recalled.Brief.Message}
		return recalled, err
	case o.OnStart == settings.Prompt:
		kind = brief.Notice
	}
	return sa.brief(ctx, id, kind)
}
