package tui

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// Run shows a model until it ends, and returns its last state. It returns [ui.ErrAborted] if the
// user interrupts it.
func Run(ctx context.Context, s ui.Streams, m tea.Model) (tea.Model, error) { //nolint:ireturn // as tea has it
	ended, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(s.In), tea.WithOutput(s.Err)).Run()
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
		return nil, ui.ErrAborted
	}
	return ended, err
}

// Step returns the number of rows by which a key moves the cursor of a list that has all rows and
// shows page of them.
func Step(key string, page, all int) (rows int, ok bool) {
	rows, ok = map[string]int{
		"up": -1, "k": -1, "down": 1, "j": 1,
		"pgup": -page, "ctrl+u": -page, "pgdown": page, "ctrl+d": page, "space": page,
		"home": -all, "g": -all, "end": all, "G": all,
	}[key]
	return rows, ok
}
