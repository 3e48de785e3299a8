package savedcontext

import (
	"context"
	"errors"
	"time"

	"github.com/seed-3aff656d/entire/session"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/digest"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// needsChild reports whether work is left for a background process.
func (cc *contextComparer) needsChild() bool {
	return cc.obs.rest || cc.m.Unfinished != "" || cc.improvable() != ""
}

// improvable returns the id of the checkpoint that a model may improve, empty for
// none.
func (cc *contextComparer) improvable() string {
	last := cc.m.Last
	if !cc.w.Options.Recall.ModelPass && !cc.w.Options.Summarize || last == nil || last.ID == cc.m.Improved || last.Cause == recall.Requested {
		return ""
	}
	return last.ID
}

// FinishRecall does the work of the background process: it ends a session whose
// hook ran out of time, reads the rest of its context, completes the checkpoint that
// was saved without it, and prunes automatic checkpoints.
func FinishRecall(ctx context.Context, w *workspace.Workspace, id string) error {
	var failed []error
	if id != "" {
		failed = append(failed, finishEnd(ctx, w, id), finishSession(ctx, w, id))
	}
	const day = 24 * time.Hour
	o := w.Options.Recall
	gone, err := Contexts(w).Prune(ctx, o.MaxAuto, time.Duration(o.CleanupAfterDays)*day)
	if err != nil {
		failed = append(failed, err)
	} else if len(gone) > 0 {
		w.Log.InfoContext(ctx, "context checkpoints pruned", "removed", len(gone))
	}
	failed = append(failed, pruneMemory(w, time.Duration(o.CleanupAfterDays)*day))
	return errors.Join(failed...)
}

// finishSession reads the rest of a session's context, completes the checkpoint that was saved
// without it, and stores a model's analysis in it if the settings require one.
func finishSession(ctx context.Context, w *workspace.Workspace, id string) error {
	ask := ""
	err := recollect(ctx, w, id, allEffort(), func(ctx context.Context, cw *contextWriter) error {
		ask = cw.improvable()
		last := cw.m.Last
		if cw.m.Unfinished == "" || last == nil || last.ID != cw.m.Unfinished {
			return nil
		}
		cw.m.Unfinished = ""
		if last.Prompts != cw.m.Digest.Prompts && last.Prompts != 0 && cw.m.End == nil {
			return nil // the session continued: its context is no longer that of the checkpoint
		}
		_, err := cw.save(ctx, Saving{Cause: last.Cause}, last.Status, last.ID)
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
	m, _, err := remembered(ctx, w, id)
	if err != nil {
		return err
	}
	better, failed := digest.Improve(ctx, w.Env.Ask, &m.Digest, m.Said, w.Redact) // no lock is held while the model runs
	if failed != nil {
		w.Log.WarnContext(ctx, "context checkpoint not improved", "checkpoint", ask, "error", failed.Error())
	}
	return recollect(ctx, w, id, stopEffort(), func(ctx context.Context, cw *contextWriter) error {
		cw.m.Improved = ask
		if failed != nil {
			return nil //nolint:nilerr // it is logged, and the model is not asked again
		}
		c, err := Contexts(w).Get(ctx, ask)
		if errors.Is(err, recall.ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		c.State.Analysis = better
		_, err = Contexts(w).Put(ctx, c)
		return err
	})
}
