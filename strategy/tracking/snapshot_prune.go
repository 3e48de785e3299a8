package tracking

import (
	"context"
	"errors"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// prune removes the snapshots that the store has no room for, and the refs that kept shadow
// commits for them.
func prune(ctx context.Context, w *workspace.Workspace, held *bands.Held, how func(context.Context, *bands.Held, retention.Policy) (retention.Pruned, error)) error {
	policy := retention.Policy{Now: w.Env.Now(), Cap: bands.CapAt(held.Dir(), w.Options.Bands.Cap)}
	if w.Env.Registry != nil {
		config, err := w.Env.Registry.Config()
		if err != nil {
			w.Log.WarnContext(ctx, "settings of the store", "error", err.Error())
		}
		if config.NoPrune {
			return nil
		}
		policy.Keep = config.Keep
	}
	pruned, err := how(ctx, held, policy)
	if err != nil || len(pruned.Versions) == 0 {
		return err
	}
	w.Log.InfoContext(ctx, "snapshots thinned", "removed", len(pruned.Versions), "freed", pruned.Freed)
	if known := w.Env.Registry; known != nil {
		if err := known.Rows().Forget(ctx, held.Store, pruned.Versions...); err != nil {
			w.Log.WarnContext(ctx, "catalog not up to date", "error", err.Error())
		}
	}
	refs, err := git.ListRefs(ctx, w.Repo, HeldRefs)
	if err != nil {
		return err
	}
	var gone []git.RefChange
	for _, ref := range refs {
		_, name, _ := strings.Cut(strings.TrimPrefix(ref.Name, HeldRefs), "-")
		v, err := bands.ParseVersion(name)
		if err != nil || name[0] != 'v' {
			continue
		}
		if _, err := held.Snapshot(v); errors.Is(err, bands.ErrNoSnapshot) {
			gone = append(gone, git.RefChange{Name: ref.Name, Old: ref.OID})
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return git.UpdateRefs(ctx, w.Repo, "entire: rewind", gone)
}
