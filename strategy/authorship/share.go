package authorship

import (
	"context"
	"errors"

	"github.com/seed-3aff656d/entire/checkpoint"
)

// ReadCheckpoint reads a checkpoint. It returns the zero checkpoint if it doesn't exist.
func (at *Attribution) ReadCheckpoint(ctx context.Context, id checkpoint.ID) (checkpoint.Checkpoint, error) {
	tree, err := checkpoint.Tree(ctx, at.Repo)
	var c checkpoint.Checkpoint
	if err == nil {
		c, err = checkpoint.Read(ctx, at.Repo, tree, id)
	}
	if errors.Is(err, checkpoint.ErrNotFound) {
		return checkpoint.Checkpoint{}, nil
	}
	return c, err
}
