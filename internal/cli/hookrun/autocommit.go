package hookrun

import (
	"context"

	"github.com/seed-3aff656d/entire/hooks/agenthook"
)

// commitTurn makes the commit of a turn that has just ended, where the strategy
// asks for one. It may take as long as the user's hooks and signing do, and has
// a deadline of its own. What the person has to know of it is printed.
func (h *hook) commitTurn(ctx context.Context, answer *agenthook.Answer) error {
	if h.name != "stop" && h.name != "stop-failure" {
		return nil
	}
	own := h.repo.Processes()
	notice, err := h.rec.AgentEvents().CommitTurn(ctx, h.session)
	h.commit = h.repo.Processes() - own
	if notice != "" {
		answer.Say("Entire: " + notice)
	}
	return err
}
