package browse

import (
	"context"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// calls runs the functions of a page in the background, one at a time: run returns the
// command for a call, and the command's message has the result.
type calls struct {
	work    context.Context //nolint:containedctx // ends the work when the page is left
	stop    context.CancelFunc
	waiting context.CancelFunc // ends an outdated preview
	turn    sync.Mutex
}

// The messages with results of calls.
type (
	cursorRested  struct{ id string }
	previewLoaded struct{ id, text string }
	itemsLoaded   struct {
		items []Item
		err   error
	}
	questionLoaded struct {
		id, choice string
		question   ui.Question
	}
	wordsLoaded struct {
		words map[string]string
		left  []string
	}
)

// run returns a command that calls a slow function, unless the page was left.
func (c *calls) run(do func() tea.Msg) tea.Cmd {
	return func() tea.Msg {
		c.turn.Lock()
		defer c.turn.Unlock()
		if c.work.Err() != nil {
			return nil // the page was left
		}
		return do()
	}
}
