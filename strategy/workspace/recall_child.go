package workspace

import (
	"context"
)

// DetachRecall lets a child do what a hook had no time for; of no session, if
// the id is empty.
func (r *Children) DetachRecall(ctx context.Context, id string) {
	args := []string{"hooks", "recall"}
	if id != "" {
		args = append(args, id)
	}
	if err := r.Env.Detach(args...); err != nil {
		r.Log.WarnContext(ctx, "detached child not started", "error", err.Error())
	}
}
