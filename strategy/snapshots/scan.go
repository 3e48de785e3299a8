package snapshots

import (
	"context"
)

// RequestLater lets a child take a snapshot that a hook has no time for.
func (r *Requests) RequestLater(ctx context.Context, id string, q Request) {
	if _, err := r.snapshots.Store(); err != nil {
		return
	}
	if err := r.Request(q, id); err != nil {
		r.Log.WarnContext(ctx, "no snapshot", "error", err.Error())
		return
	}
	r.server.StartServer(ctx)
}
