package strategy

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
)

// FetchCheckpoints gets the checkpoints of a remote, by its name or URL, and
// adds them to the local branch. What was here stays.
func (r *Recorder) FetchCheckpoints(ctx context.Context, remote string) error {
	if err := r.Repo.Fetch(ctx, remote, "+"+checkpoint.MetadataBranch+":"+fetched); err != nil {
		return fmt.Errorf("fetch checkpoints from %s: %w", remote, err)
	}
	return r.locked(ctx, func() error {
		if _, err := r.Repo.Commit(ctx, checkpoint.MetadataBranch); !errors.Is(err, git.ErrMissing) {
			return r.mergeFetched(ctx)
		}
		theirs, err := r.Repo.Commit(ctx, fetched)
		if err != nil {
			return err
		}
		return r.Repo.UpdateRefs(ctx, "entire: fetch checkpoints", []git.RefUpdate{
			{Name: checkpoint.MetadataBranch, New: theirs.OID},
			{Name: fetched, Old: theirs.OID},
		})
	})
}
