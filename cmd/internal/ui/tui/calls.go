package tui

import (
	"context"
	"sync"

	tea "charm.land/bubbletea/v2"
)

// Calls runs the slow functions of a screen in the background, one at a time.
type Calls struct {
	// Context ends when the screen is left.
	Context context.Context //nolint:containedctx // see above
	stop    context.CancelFunc
	latest  context.CancelFunc
	turn    sync.Mutex
}

// NewCalls returns the calls of a screen that is to be closed with Close.
func NewCalls(ctx context.Context) *Calls {
	c := &Calls{latest: func() {}}
	c.Context, c.stop = context.WithCancel(ctx)
	return c
}

// Run returns a command that calls a function, unless the screen was left, for its message.
func (c *Calls) Run(do func() tea.Msg) tea.Cmd {
	return func() tea.Msg {
		c.turn.Lock()
		defer c.turn.Unlock()
		if c.Context.Err() != nil {
			return nil
		}
		return do()
	}
}

// RunAlone calls do while no other function runs.
func (c *Calls) RunAlone(do func(context.Context) error) error {
	c.turn.Lock()
	defer c.turn.Unlock()
	return do(c.Context)
}

// Latest returns a context that ends at the next call of Latest: that of a function whose result
// isn't needed any more by then.
func (c *Calls) Latest() context.Context {
	c.latest()
	ctx, cancel := context.WithCancel(c.Context)
	c.latest = cancel
	return ctx
}

// Close ends Context and waits for the running function to return.
func (c *Calls) Close() {
	c.stop()
	c.turn.Lock()
	defer c.turn.Unlock()
}
