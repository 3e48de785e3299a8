package forget

import (
	"context"
	"errors"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/redact"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// RaiseRules records on the branch of checkpoints that the current redaction rules have masked those
// of the given checkpoints that haven't changed since. It returns the number of changed checkpoints,
// and makes no commit if that is 0. Without a local branch it does nothing.
func RaiseRules(ctx context.Context, w *workspace.Workspace, searched []checkpoint.Located) (n int, err error) {
	err = w.WithLock(ctx, func() error {
		if _, err := w.Repo.Commit(ctx, checkpoint.MetadataBranch); err != nil {
			if errors.Is(err, git.ErrMissing) {
				return nil
			}
			return err
		}
		by, err := git.Identity(ctx, w.Repo)
		if err != nil {
			return err
		}
		by.When = w.Env.Now()
		raise := func(ctx context.Context, tree git.OID) (next git.OID, message string, err error) {
			next, n, err = checkpoint.RaiseRules(ctx, w.Repo, tree, searched, redact.RulesVersion)
			return next, checkpoint.RulesMessage, err
		}
		return w.Repo.WriteTogether(git.LargeBatch, func() error {
			_, err := checkpoint.Update(ctx, w.Repo, by, []checkpoint.Change{raise}, nil)
			return err
		})
	})
	return n, err
}
