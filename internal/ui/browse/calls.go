package browse

import (
	"context"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-3aff656d/entire/internal/ui"
)

// calls are those of a page's functions, made beside the terminal, one at a time. Each method
// returns the command that makes one; its message has what the function returned.
type calls struct {
	page    Page
	work    context.Context //nolint:containedctx // ends the work when the page is left
	stop    context.CancelFunc
	waiting context.CancelFunc // ends the preview that nobody waits for
	turn    sync.Mutex
}

func newCalls(ctx context.Context, page Page) *calls {
	work, stop := context.WithCancel(ctx)
	return &calls{page: page, work: work, stop: stop, waiting: func() {}}
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

// preview makes a preview, and ends the one before.
func (c *calls) preview(id string) tea.Cmd {
	c.waiting()
	ctx, cancel := context.WithCancel(c.work)
	c.waiting = cancel
	return c.run(func() tea.Msg {
		if ctx.Err() != nil {
			return previewLoaded{id: id}
		}
		text := c.page.Preview(ctx, id)
		if ctx.Err() != nil {
			return previewLoaded{id: id}
		}
		return previewLoaded{id, text}
	})
}

// more loads all items.
func (c *calls) more() tea.Cmd {
	return c.run(func() tea.Msg {
		items, err := c.page.More(c.work)
		return itemsLoaded{items, err}
	})
}

// words finds further words of some of the items, and leaves the others for the next time.
func (c *calls) words(ids []string) tea.Cmd {
	return c.run(func() tea.Msg {
		const atOnce = 20 // then what was found is shown
		words := map[string]string{}
		n := min(len(ids), atOnce)
		for _, id := range ids[:n] {
			words[id] = strings.ToLower(strings.Join(c.page.Words(c.work, id), "\n"))
		}
		return wordsLoaded{words, ids[n:]}
	})
}

// confirm makes the question before a choice counts, one without options if there is none.
func (c *calls) confirm(id, choice string) tea.Cmd {
	if c.page.Confirm == nil {
		return func() tea.Msg { return questionLoaded{id: id, choice: choice} }
	}
	return c.run(func() tea.Msg {
		return questionLoaded{id, choice, c.page.Confirm(c.work, id, choice)}
	})
}

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
