package snapshots

import (
	"context"
	"errors"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/internal/git/gitref"
	"github.com/seed-3aff656d/entire/strategy/rewindstate"
)

// prune removes the snapshots that the store has no room for, and the refs that kept shadow
// commits for them.
func (sv *Server) prune(ctx context.Context, held *bands.Held, how func(context.Context, *bands.Held, retention.Policy) (retention.Pruned, error)) error {
	policy := retention.Policy{Now: sv.Env.Now(), Cap: bands.CapAt(held.Dir(), sv.Options.Bands.Cap)}
	if sv.Env.Registry != nil {
		config, err := sv.Env.Registry.Config()
		if err != nil {
			sv.Log.WarnContext(ctx, "settings of the store", "error", err.Error())
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
	sv.Log.InfoContext(ctx, "snapshots thinned", "removed", len(pruned.Versions), "freed", pruned.Freed)
	if known := sv.Env.Registry; known != nil {
		if err := known.Rows().Forget(ctx, held.Store, pruned.Versions...); err != nil {
			sv.Log.WarnContext(ctx, "catalog not up to date", "error", err.Error())
		}
	}
	refs, err := gitref.List(ctx, sv.Repo, rewindstate.HeldRefs)
	if err != nil {
		return err
	}
	var gone []gitref.Change
	for _, ref := range refs {
		_, name, _ := strings.Cut(strings.TrimPrefix(ref.Name, rewindstate.HeldRefs), "-")
		v, err := bands.ParseVersion(name)
		if err != nil || name[0] != 'v' {
			continue
		}
		if _, err := held.Snapshot(v); errors.Is(err, bands.ErrNoSnapshot) {
			gone = append(gone, gitref.Change{Name: ref.Name, Old: ref.OID})
		}
	}
	if len(gone) == 0 {
		return nil
	}
	return gitref.Update(ctx, sv.Repo, "entire: rewind", gone)
}
