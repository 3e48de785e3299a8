package explain

import (
	"context"
	"errors"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
)

// record is all checkpoints that are stored here: the local branch's, and
// those of others that were fetched.
type record struct {
	repo  *git.Repo
	trees []git.OID
	// slots are those of all checkpoints by session; the map is nil until needed.
	slots *map[string][]slot
}

func openRecord(ctx context.Context, repo *git.Repo) (record, error) {
	trees, err := checkpoint.Trees(ctx, repo)
	return record{repo: repo, trees: trees, slots: new(map[string][]slot)}, err
}

// read reads a checkpoint, as far as it is in this clone: checkpoint.ErrNotFound if it
// is not stored here.
func (r record) read(ctx context.Context, id checkpoint.ID) (checkpoint.Checkpoint, error) {
	for _, tree := range r.trees {
		c, err := checkpoint.ReadAvailable(ctx, r.repo, tree, id)
		if !errors.Is(err, checkpoint.ErrNotFound) {
			return c, err
		}
	}
	return checkpoint.Checkpoint{}, checkpoint.ErrNotFound
}

// find returns the checkpoints whose ids begin with prefix, which is not
// empty.
func (r record) find(ctx context.Context, prefix string) ([]checkpoint.ID, error) {
	if prefix == "" {
		return nil, nil
	}
	var ids []checkpoint.ID
	for _, tree := range r.trees {
		found, err := checkpoint.Find(ctx, r.repo, tree, prefix)
		if err != nil {
			return nil, err
		}
		ids = append(ids, found...)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}
