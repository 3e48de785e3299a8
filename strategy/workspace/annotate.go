package workspace

import (
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/session"
)

func (r *Workspace) AnyOtherActive(ctx context.Context, id string) bool {
	return slices.ContainsFunc(r.PendingSessions(ctx), func(o *session.State) bool { return o.ID != id && o.Phase == session.Active })
}
