package authorship

import (
	"context"
	"errors"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// ReadCheckpoint reads a checkpoint. It returns the zero checkpoint if it doesn't exist.
func ReadCheckpoint(ctx context.Context, w *workspace.Workspace, id checkpoint.ID) (checkpoint.Checkpoint, error) {
	records, err := w.LocalRecords(ctx)
	if err != nil {
		return checkpoint.Checkpoint{}, err
	}
	c, err := records.ReadWhole(ctx, id)
	if errors.Is(err, checkpoint.ErrNotFound) {
		return checkpoint.Checkpoint{}, nil
	}
	return c, err
}
