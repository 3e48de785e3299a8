package savedcontext

import (
	"context"
	"errors"
	"fmt"
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
func (r *Saver) FinishRecall(ctx context.Context, id string) error {
	var failed []error
	if id != "" {
		failed = append(failed, r.ender.finishEnd(ctx, id), r.finishSession(ctx, id))
	}
	return errors.Join(append(failed, r.pruneContexts(ctx))...)
}

func (r *Saver) pruneContexts(ctx context.Context) error {
	const day = 24 * time.Hour
	o := r.Options.Recall
	gone, err := r.Contexts().Prune(ctx, o.MaxAuto, time.Duration(o.CleanupAfterDays)*day)
	if err != nil {
		return fmt.Errorf("prune context checkpoints: %w", err)
	}
	if len(gone) > 0 {
		r.Log.InfoContext(ctx, "context checkpoints pruned", "removed", len(gone))
	}
	return nil
}

func (r *Saver) finishSession(ctx context.Context, id string) error {
	ask := ""
	err := r.recollect(ctx, id, allEffort(), func(ctx context.Context, w *contextWriter) error {
		ask = w.improvable()
		last := w.m.Last
		if w.m.Unfinished == "" || last == nil || last.ID != w.m.Unfinished {
			return nil
		}
		w.m.Unfinished = ""
		if last.Prompts != w.m.Digest.Prompts && last.Prompts != 0 && w.m.End == nil {
			return nil // the session went on: its context is no longer that of the checkpoint
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
	if err == nil && ask != "" {
		err = r.improve(ctx, id, ask)
	}
	return err
}

// improve asks a model for an analysis of the session and stores it in the
// checkpoint. No lock is held while the model runs.
func (r *Saver) improve(ctx context.Context, session, id string) error {
	m, _, err := r.remembered(ctx, session)
	if err != nil {
		return err
	}
	better, err := digest.Improve(ctx, r.Env.Ask, &m.Digest, m.Said, r.Redact)
	if err != nil {
		r.Log.WarnContext(ctx, "context checkpoint not improved", "checkpoint", id, "error", err.Error())
	}
	return r.recollect(ctx, session, stopEffort(), func(ctx context.Context, w *contextWriter) error {
		w.m.Improved = id
		if err != nil {
			return nil //nolint:nilerr // logged; it is not asked again
		}
		c, err := r.Contexts().Get(ctx, id)
		if errors.Is(err, recall.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		c.State.Analysis = better
		_, err = r.Contexts().Put(ctx, c)
		return err
	})
}
