package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/strategy"
	"github.com/seed-3aff656d/entire/strategy/summaries"
)

// generate writes a checkpoint's summaries because the user asked for them, and
// says what can be done about it where that fails.
func generate(ctx context.Context, rec *strategy.Recorder, of summaries.SummaryOf) error {
	err := rec.Summaries().Summarizer.Summarize(ctx, of)
	switch {
	case errors.Is(err, summaries.ErrSummarized):
		return hinted(err, "use --force to write it anew")
	case errors.Is(err, proc.ErrNoProgram):
		return hinted(err, "summaries are written by Claude Code's own program: install it, or put it on the PATH")
	case errors.Is(err, claude.ErrAnswer), errors.Is(err, summaries.ErrNoSummary):
		return hinted(err, "try again, or see whether `claude --print hello` works")
	}
	return err
}

// summarize is the child that writes the summary of a new checkpoint.
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
	err = generate(ctx, h.recorder(childLock), summaries.SummaryOf{ID: id})
	if errors.Is(err, summaries.ErrSummarized) || errors.Is(err, summaries.ErrNothingSaid) {
		return nil
	}
	return err
}
