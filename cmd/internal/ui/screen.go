package ui

import (
	"context"
	"strings"
	"sync"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// Painter styles the lines of a screen, unless Plain is set.
type Painter struct{ Plain bool }

// Paint returns text in a style.
func (p Painter) Paint(style Style, text string) string {
	if p.Plain || text == "" || style == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// Beside returns n lines that show the lines of right beside those of left, which get width columns.
func (p Painter) Beside(left, right []string, width, n int) []string {
	lines := make([]string, n)
	for i := range lines {
		l := LineAt(left, i)
		l += strings.Repeat(" ", max(width-ansi.StringWidth(l), 0))
		lines[i] = l + " " + p.Paint(Dim, "|") + " " + LineAt(right, i)
	}
	return lines
}

// LineAt returns a line, "" beyond the last one.
func LineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

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
