package cli

import (
	"context"
	"errors"

	"github.com/seed-3aff656d/entire/hooks/claude"
	"github.com/seed-3aff656d/entire/strategy"
)

// commitTurn makes the commit of a turn that has just ended, where the strategy
// asks for one. It takes as long as the user's hooks and signing do: it has a
// deadline of its own. Where nothing could be committed the person is told.
func (h *hook) commitTurn(ctx context.Context) error {
	if h.name != "stop" && h.name != "stop-failure" {
		return nil
	}
	own := h.repo.Processes()
	err := h.rec.CommitTurn(ctx, h.session)
	h.commit = h.repo.Processes() - own
	text := ""
	if refused, ok := errors.AsType[*strategy.NotCommitted](err); ok {
		text = "Entire: " + refused.Error()
	}
	if unlinked, ok := errors.AsType[*strategy.NotLinked](err); ok {
		text = "Entire: " + unlinked.Error() + " (run `entire enable`)"
	}
	if text == "" {
		return err
	}
	reply, failed := claude.Notice(text)
	h.app.Streams.Printf("%s", reply)
	return errors.Join(err, failed)
}
