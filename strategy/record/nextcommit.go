package record

import (
	"context"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// NextCommit describes the links that the user's next commit would have now.
type NextCommit struct {
	// Staged is the number of staged files. If it is 0 the shares are those of a commit of all
	// pending files.
	Staged int
	Shares []tracking.Share
}

// PreviewCommit returns the links of the user's next commit, by the rules that the hook will use.
// While a rebase, a pick or a revert is in progress it returns nothing. It writes nothing.
func PreviewCommit(ctx context.Context, w *workspace.Workspace) (NextCommit, error) {
	var next NextCommit
	op, err := git.OperationInProgress(ctx, w.Repo)
	if err != nil || op.Rebase || op.Apply || op.CherryPick || op.Revert {
		return next, err
	}
	here := slices.DeleteFunc(w.AllSessions(ctx), func(s *session.State) bool { return !s.Pending() })
	if len(here) == 0 {
		return next, nil
	}
	head, _, err := w.Head(ctx)
	if err != nil {
		return next, fmt.Errorf("read HEAD: %w", err)
	}
	list, err := git.Staged(ctx, w.Repo, head.OID)
	if err != nil {
		return next, fmt.Errorf("read staged changes: %w", err)
	}
	if next.Staged = len(list); next.Staged == 0 {
		for _, s := range workspace.NewestFirst(here) {
			if len(s.FilesTouched) > 0 {
				next.Shares = append(next.Shares, tracking.Share{Session: s.ID, Files: s.FilesTouched})
			}
		}
		return next, nil
	}
	person := w.AsPerson()
	next.Shares, err = SharesOf(ctx, person, here, tracking.ByPath(list), "")
	return next, err
}
