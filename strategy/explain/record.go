package explain

import (
	"context"
	"errors"
	"slices"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/internal/git"
)

// record holds all checkpoints that are stored in this repository: those of the local branch, and
// fetched ones of others.
type record struct {
	repo  *git.Repo
	trees []git.OID
	// slots are the slots of all checkpoints by session; the map is nil until needed.
	slots *map[string][]slot
}

func openRecord(ctx context.Context, repo *git.Repo) (record, error) {
	trees, err := checkpoint.Trees(ctx, repo)
	return record{repo: repo, trees: trees, slots: new(map[string][]slot)}, err
}

// read reads the parts of a checkpoint that are in this clone. The error is checkpoint.ErrNotFound
// if there are none.
func (r record) read(ctx context.Context, id checkpoint.ID) (checkpoint.Checkpoint, error) {
	for _, tree := range r.trees {
		c, err := checkpoint.ReadAvailable(ctx, r.repo, tree, id)
		if !errors.Is(err, checkpoint.ErrNotFound) {
			return c, err
		}
	}
	return checkpoint.Checkpoint{}, checkpoint.ErrNotFound
}

// find returns the checkpoints whose ids begin with prefix, none for an empty prefix.
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
