package explore

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-3aff656d/entire/cmd/internal/ui/tui"
)

const (
	// glanceDelay is the time for which the cursor must rest on a row before its glance is
	// loaded.
	glanceDelay = 60 * time.Millisecond
	// refreshDelay is the time between two checks for new rows.
	refreshDelay = time.Second
)

// calls runs the functions of a source.
type calls struct {
	*tui.Calls

	source Source
}

// The messages with results of calls.
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
	// resumed follows a function run by alone.
	resumed struct{ err error }
)

// alone runs do with exclusive use of the terminal, and then waits until the user presses
// Enter.
func (c *calls) alone(do func(ctx context.Context, in io.Reader, out io.Writer) error) tea.Cmd {
	return tea.Exec(&withTerminal{calls: c, do: do}, func(err error) tea.Msg { return resumed{err} })
}

// withTerminal is a command with exclusive use of the terminal.
type withTerminal struct {
	calls *calls
	do    func(ctx context.Context, in io.Reader, out io.Writer) error
	in    io.Reader
	out   io.Writer
}

// SetStdin implements tea.ExecCommand.
func (w *withTerminal) SetStdin(in io.Reader) { w.in = in }

// SetStdout implements tea.ExecCommand.
func (w *withTerminal) SetStdout(out io.Writer) { w.out = out }

// SetStderr implements tea.ExecCommand.
func (w *withTerminal) SetStderr(io.Writer) {}

// Run implements tea.ExecCommand.
func (w *withTerminal) Run() error {
	return w.calls.RunAlone(func(ctx context.Context) error {
		if err := w.do(ctx, w.in, w.out); err != nil {
			return err
		}
		_, _ = fmt.Fprint(w.out, "\nEnter goes back to the list. ")
		_, _ = bufio.NewReader(w.in).ReadString('\n')
		return nil
	})
}
