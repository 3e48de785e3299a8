// Package browse shows a list on the whole screen, what is known of the chosen item
// beside it, and what can be done with it below.
//
// It doesn't depend on what the items are. Only this package, explore and their parent import the
// terminal libraries.
package browse

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-3aff656d/entire/internal/ui"
)

// Item is one thing to choose. Its texts may hold anything: they are escaped.
type Item struct {
	ID string
	// Headings are above the item, the outermost first. One is shown where it differs
	// from that of the item before.
	Headings []string
	Label    string
	// Fold is the line behind which the items that have it are, at the end of the list;
	// empty: the item is shown.
	Fold string
	// Words are what the filter searches besides the label and the headings.
	Words []string
	// Choices are what can be done with the item, the default first.
	Choices []Choice
}

// Choice is one thing to do with an item.
type Choice struct{ Label, Value string }

// Page is what is shown, and where its contents come from. Functions are called one at a
// time, beside the terminal: they may take long. Their context ends when nobody waits
// for the result any more.
type Page struct {
	Title string
	Items []Item
	// More returns all items, when the user has come to the last of Items; nil: there
	// are no others.
	More func(context.Context) ([]Item, error)
	// Words are further words of an item, asked for when the user filters; nil: none.
	Words func(ctx context.Context, id string) []string
	// Preview is what is known of an item, in lines.
	Preview func(ctx context.Context, id string) string
	// Confirm is a question before a choice counts. Without options there is none.
	Confirm func(ctx context.Context, id, choice string) ui.Question
}

// Result is what was chosen. Answer is that to the question, empty if there was none.
type Result struct{ ID, Choice, Answer string }

// Run shows a page until something is chosen: [ui.ErrAborted] if nothing is.
func Run(ctx context.Context, s ui.Streams, page Page) (Result, error) {
	m := newModel(ctx, page, painter{plain: s.Terminal.Plain})
	m.width, m.height = s.Size()
	ended, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(s.In), tea.WithOutput(s.Err)).Run()
	m.calls.stop()
	m.calls.turn.Lock() // what runs in the background has ended
	defer m.calls.turn.Unlock()
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
		return Result{}, ui.ErrAborted
	}
	if err != nil {
		return Result{}, err
	}
	last, ok := ended.(*model)
	if !ok || last.result == nil {
		return Result{}, ui.ErrAborted
	}
	return *last.result, nil
}
