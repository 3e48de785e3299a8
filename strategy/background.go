package strategy

import (
	"context"

	"github.com/seed-3aff656d/entire/strategy/turn"
)

// Background is the work that hooks leave to detached children.
type Background struct{ rec *Recorder }

// Background returns the work of children.
func (r *Recorder) Background() *Background { return &Background{r} }

// Complete finishes the work that hooks left: decisions about commits, turns without a stop, and for
// the session id the rest of its transcript and of its checkpoints; without an id, lists of forgotten
// content that the user has fetched. One child of a session runs at a time.
func (b *Background) Complete(ctx context.Context, id string) error {
	return b.rec.local().Children.RunAsChild(ctx, id, func() error {
		commits, machine := b.rec.Commits(), b.rec.Lifecycle().Machine
		if err := commits.Repairer.AwaitGit(ctx); err != nil {
			return err
		}
		if err := commits.Repairer.FinishCommits(ctx); err != nil {
			return err
		}
		if err := b.rec.findCommits(ctx, ""); err != nil {
			return err
		}
		machine.CloseTurns(ctx)
		machine.EndDeadTurns(ctx)
		machine.EndInterruptedTurns(ctx)
		machine.EndLeftTurns(ctx)
		if id == "" {
			return b.rec.Sharing().Pusher.TakeFetched(ctx)
		}
		if err := turn.New(b.rec.Workspace).Turns.ListUntracked(ctx, id); err != nil {
			return err
		}
		return commits.Committed.CompleteSession(ctx, id)
	})
}

// CompleteTurn completes the checkpoints of a session's finished turn. It doesn't wait for a
// last message that the transcript lacks.
func (b *Background) CompleteTurn(ctx context.Context, id string) error {
	if err := b.rec.Lifecycle().Machine.CompleteTurn(ctx, id); err != nil {
		return err
	}
	return b.Complete(ctx, id)
}

// ServeSnapshots takes the snapshots that hooks requested.
func (b *Background) ServeSnapshots(ctx context.Context) error {
	return b.rec.Snapshots().Server.Serve(ctx)
}

// FinishRecall saves the contexts that the hooks of the session id left unsaved.
func (b *Background) FinishRecall(ctx context.Context, id string) error {
	return b.rec.SavedContexts().Ender.FinishRecall(ctx, id)
}

// HasIndex reports whether there is an index of turns.
func (b *Background) HasIndex() bool { return b.rec.Indexing().Filler.Exists() }

// indexChild identifies the children that fill the index; it is no valid session id.
const indexChild = "/index"

// FillIndex brings the index of turns up to date. One child runs at a time.
func (b *Background) FillIndex(ctx context.Context) error {
	return b.rec.local().Children.RunAsChild(ctx, indexChild, func() error { return b.rec.Indexing().Filler.Refill(ctx) })
}
