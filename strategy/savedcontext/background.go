package savedcontext

import (
	"context"
	"errors"
	"time"

	"github.com/seed-3aff656d/entire/internal/recall"
	"github.com/seed-3aff656d/entire/internal/recall/digest"
	"github.com/seed-3aff656d/entire/session"
)

// needsChild reports whether work is left for a background process.
func (cc *contextComparer) needsChild() bool {
	return cc.obs.rest || cc.m.Unfinished != "" || cc.improvable() != ""
}

// improvable returns the id of the checkpoint that a model may improve, empty for
// none.
func (cc *contextComparer) improvable() string {
	last := cc.m.Last
	if !cc.saver.Options.Recall.ModelPass || last == nil || last.ID == cc.m.Improved || last.Cause == recall.Requested {
		return ""
	}
	return last.ID
}

// FinishRecall does the work of the background process: it ends a session whose
// hook ran out of time, reads the rest of its context, completes the checkpoint that
// was saved without it, and prunes automatic checkpoints.
func (e *Ender) FinishRecall(ctx context.Context, id string) error {
	var failed []error
	if id != "" {
		failed = append(failed, e.finishEnd(ctx, id), e.saver.finishSession(ctx, id))
	}
	const day = 24 * time.Hour
	o := e.Options.Recall
	gone, err := e.saver.Contexts().Prune(ctx, o.MaxAuto, time.Duration(o.CleanupAfterDays)*day)
	if err != nil {
		failed = append(failed, err)
	} else if len(gone) > 0 {
		e.Log.InfoContext(ctx, "context checkpoints pruned", "removed", len(gone))
	}
	return errors.Join(failed...)
}

// finishSession reads the rest of a session's context, completes the checkpoint that was saved
// without it, and stores a model's analysis in it if the settings require one.
func (sa *Saver) finishSession(ctx context.Context, id string) error {
	ask := ""
	err := sa.recollect(ctx, id, allEffort(), func(ctx context.Context, w *contextWriter) error {
		ask = w.improvable()
		last := w.m.Last
		if w.m.Unfinished == "" || last == nil || last.ID != w.m.Unfinished {
			return nil
		}
		w.m.Unfinished = ""
		if last.Prompts != w.m.Digest.Prompts && last.Prompts != 0 && w.m.End == nil {
			return nil // the session continued: its context is no longer that of the checkpoint
		}
		_, err := w.save(ctx, Saving{Cause: last.Cause}, last.Status, last.ID)
		if errors.Is(err, recall.ErrNotFound) {
			return nil
		}
		return err
	})
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	if err != nil || ask == "" {
		return err
	}
	m, _, err := sa.remembered(ctx, id)
	if err != nil {
		return err
	}
	better, failed := digest.Improve(ctx, sa.Env.Ask, &m.Digest, m.Said, sa.Redact) // no lock is held while the model runs
	if failed != nil {
		sa.Log.WarnContext(ctx, "context checkpoint not improved", "checkpoint", ask, "error", failed.Error())
	}
	return sa.recollect(ctx, id, stopEffort(), func(ctx context.Context, w *contextWriter) error {
		w.m.Improved = ask
		if failed != nil {
			return nil //nolint:nilerr // it is logged, and the model is not asked again
		}
		c, err := sa.Contexts().Get(ctx, ask)
		if errors.Is(err, recall.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		c.State.Analysis = better
		_, err = sa.Contexts().Put(ctx, c)
		return err
	})
}
