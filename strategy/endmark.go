package strategy

import (
	"context"
	"errors"

	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// RecordEnd ends a session and saves its context, the latter in guard. The agent
// waits for it for a second: what can't be recorded by then is left to a detached
// child, by a note that later hooks find if that child dies, too.
func (r *Recorder) RecordEnd(ctx context.Context, in workspace.Input, guard func(func() error) error) error {
	r.SavedContexts().Ender.NoteEnd(ctx, in)
	err := r.SessionEnd(ctx, in)
	err = errors.Join(err, guard(func() error { return r.SavedContexts().Clearer.RecallEnd(ctx, in) }))
	if workspace.IsTimeout(err) || err != nil && ctx.Err() != nil {
		r.Local().Children.DetachRecall(context.WithoutCancel(ctx), in.SessionID)
		return err
	}
	return errors.Join(err, tracking.RemoveMark(r.Tracking().Marks.EndMark(in.SessionID)))
}
