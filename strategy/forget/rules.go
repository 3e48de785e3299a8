package forget

import (
	"context"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// RaiseRules records in the local checkpoints, and in imported ones, that the current redaction rules have masked those of the
// given ones that haven't changed since. It returns the number of changed checkpoints, and makes no
// commit if that is 0.
func RaiseRules(ctx context.Context, w *workspace.Workspace, searched []checkpoint.Located) (n int, err error) {
	if len(searched) == 0 {
		return 0, nil
	}
	err = w.WithLock(ctx, func() error {
		return w.Repo.WriteTogether(git.LargeBatch, func() error {
			var inRefs []checkpoint.Change
			changed := map[checkpoint.ID]bool{}
			for _, c := range searched {
				if !c.InRef {
					continue
				}
				raise := func(ctx context.Context, at checkpoint.Present) (git.OID, string, error) {
					if at.Dir != c.Dir {
						return at.Dir, "", nil
					}
					next, err := checkpoint.RaiseRulesOf(ctx, w.Repo, at, redact.RulesVersion)
					changed[c.ID] = next != at.Dir
					return next, checkpoint.RulesMessage, err
				}
				inRefs = append(inRefs, checkpoint.Change{ID: c.ID, Next: raise})
			}
			if err := w.UpdateRecords(ctx, inRefs); err != nil {
				return err
			}
			for _, isChanged := range changed {
				if isChanged {
					n++
				}
			}
			by, err := w.Identity(ctx)
			if err != nil {
				return err
			}
			raised := 0
			raise := func(ctx context.Context, tree git.OID) (next git.OID, message string, err error) {
				next, raised, err = checkpoint.RaiseRules(ctx, w.Repo, tree, searched, redact.RulesVersion)
				return next, checkpoint.RulesMessage, err
			}
			if err := checkpoint.UpdateImported(ctx, w.Repo, by, raise); err != nil {
				return err
			}
			n, raised = n+raised, 0
			if _, err := w.Repo.Commit(ctx, checkpoint.MetadataBranch); err != nil {
				return git.UnlessMissing(err) // there is no branch
			}
			err = checkpoint.UpdateBranch(ctx, w.Repo, by, raise)
			n += raised
			return err
		})
	})
	return n, err
}
