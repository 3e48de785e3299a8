package strategy

import (
	"context"

	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/record"
	"github.com/seed-3aff656d/entire/strategy/savedcontext"
	"github.com/seed-3aff656d/entire/strategy/sharing"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// Complete finishes the work that hooks left: decisions about commits, turns without a stop, and for
// the session id the rest of its transcript and of its checkpoints; without an id, lists of forgotten
// content that the user has fetched. One child of a session runs at a time.
func Complete(ctx context.Context, w *workspace.Workspace, id string) error {
	return w.RunAsChild(ctx, id, func() error {
		if err := record.AwaitGit(ctx, w); err != nil {
			return err
		}
		if err := record.FinishCommits(ctx, w); err != nil {
			return err
		}
		if err := findCommits(ctx, w, ""); err != nil {
			return err
		}
		record.CloseTurns(ctx, w)
		record.EndDeadTurns(ctx, w)
		record.EndInterruptedTurns(ctx, w)
		record.EndLeftTurns(ctx, w)
		if id == "" {
			return sharing.TakeFetched(ctx, w)
		}
		if err := tracking.ListUntracked(ctx, w, id); err != nil {
			return err
		}
		return record.CompleteSession(ctx, w, id)
	})
}

// CompleteTurn completes the checkpoints of a session's finished turn. It doesn't wait for a
// last message that the transcript lacks.
func CompleteTurn(ctx context.Context, w *workspace.Workspace, id string) error {
	if err := record.CompleteTurn(ctx, w, id); err != nil {
		return err
	}
	return Complete(ctx, w, id)
}

// ServeSnapshots takes the snapshots that hooks requested.
func ServeSnapshots(ctx context.Context, w *workspace.Workspace) error {
	return tracking.ServeRequests(ctx, w)
}

// FinishRecall saves the contexts that the hooks of the session id left unsaved.
func FinishRecall(ctx context.Context, w *workspace.Workspace, id string) error {
	return savedcontext.FinishRecall(ctx, w, id)
}

// HasIndex reports whether there is an index of turns.
func HasIndex(w *workspace.Workspace) bool { return query.HasIndex(w) }

// indexChild identifies the children that fill the index; it is no valid session id.
const indexChild = "/index"

// FillIndex brings the index of turns up to date. One child runs at a time.
func FillIndex(ctx context.Context, w *workspace.Workspace) error {
	return w.RunAsChild(ctx, indexChild, func() error { return query.RefillIndex(ctx, w) })
}
