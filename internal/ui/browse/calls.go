package browse

import (
	"context"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-3aff656d/entire/internal/ui"
)

// calls are those of a page's functions, made beside the terminal, one at a time: run returns
// the command that makes one, and its message has what the function returned.
type calls struct {
	work    context.Context //nolint:containedctx // ends the work when the page is left
	stop    context.CancelFunc
	waiting context.CancelFunc // ends the preview that nobody waits for
	turn    sync.Mutex
}

// Messages of what was done beside the terminal.
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

// run calls a function that may take long, and none once the page was left.
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
