package explore

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
)

const (
	// glanceDelay is how long the cursor rests on a row before it is looked up.
	glanceDelay = 60 * time.Millisecond
	// refreshDelay is the time between two checks for new rows.
	refreshDelay = time.Second
)

// calls are those of a source's methods, made beside the terminal, one at a time: run returns
// the command that makes one, and its message has what was returned.
type calls struct {
	source  Source
	work    context.Context //nolint:containedctx // ends the work when the program ends
	stop    context.CancelFunc
	waiting context.CancelFunc // ends the glance that nobody waits for
	turn    sync.Mutex
}

// Messages of what was done beside the terminal.
type (
	windowLoaded struct {
		query  Query
		around string
		window Window
		err    error
	}
	cursorRested struct{ id string }
	glanceLoaded struct {
		id     string
		glance Glance
		err    error
	}
	textLoaded struct {
		text Text
		err  error
	}
	refreshDue struct{}
	refreshed  struct {
		changed bool
		err     error
	}
	// resumed follows what had the terminal for itself.
	resumed struct{ err error }
)

// run calls a method that may take long, and none once the program has ended.
func (c *calls) run(do func() tea.Msg) tea.Cmd {
	return func() tea.Msg {
		c.turn.Lock()
		defer c.turn.Unlock()
		if c.work.Err() != nil {
			return nil
		}
		return do()
	}
}

// alone gives the terminal to what asks or prints, until it has ended and the user has
// pressed Enter.
func (c *calls) alone(do func(ctx context.Context, in io.Reader, out io.Writer) error) tea.Cmd {
	return tea.Exec(&withTerminal{calls: c, do: do}, func(err error) tea.Msg { return resumed{err} })
}

// withTerminal is a command that has the terminal for itself.
type withTerminal struct {
	calls *calls
	do    func(ctx context.Context, in io.Reader, out io.Writer) error
	in    io.Reader
	out   io.Writer
}

// SetStdin is part of tea's command.
func (w *withTerminal) SetStdin(in io.Reader) { w.in = in }

// SetStdout is part of tea's command.
func (w *withTerminal) SetStdout(out io.Writer) { w.out = out }

// SetStderr is part of tea's command.
func (w *withTerminal) SetStderr(io.Writer) {}

// Run is part of tea's command.
func (w *withTerminal) Run() error {
	w.calls.turn.Lock()
	defer w.calls.turn.Unlock()
	if err := w.do(w.calls.work, w.in, w.out); err != nil {
		return err
	}
	_, _ = fmt.Fprint(w.out, "\nEnter goes back to the list. ")
	_, _ = bufio.NewReader(w.in).ReadString('\n')
	return nil
}
