package hookrun

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/strategy/record"
)

// summarize runs the child that writes the summary of a new checkpoint.
func (h *hook) summarize(ctx context.Context) error {
	if len(h.args) == 0 {
		return errors.New("no checkpoint named")
	}
	id, err := checkpoint.ParseID(h.args[0])
	if err != nil {
		return err
	}
	if !h.settings.Summarize {
		return fmt.Errorf("checkpoint %s: summaries are off", id)
	}
	err = app.Summarize(ctx, h.workspace(app.ChildLock), record.SummaryOf{ID: id})
	if errors.Is(err, record.ErrSummarized) || errors.Is(err, record.ErrNothingSaid) {
		return nil
	}
	return err
}
