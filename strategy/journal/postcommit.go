package journal

import (
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
)

// Relink notes that the ids which a commit took over from the one it replaced
// now belong to it.
func (r *Links) Relink(ctx context.Context, d Decision, commit git.OID) {
	links := r.Links()
	changed := false
	for i, l := range links {
		if l.Commit != commit && slices.Contains(d.Replaced, l.ID) {
			links[i].Commit, changed = commit, true
		}
	}
	if !changed {
		return
	}
	if err := r.saveLinks(links); err != nil {
		r.Log.WarnContext(ctx, "links not saved", "error", err.Error())
	}
}
