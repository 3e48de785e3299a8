// Package browse shows a full-screen list, with a preview of the selected item beside it
// and the choices for it below.
//
// It doesn't depend on the kind of the items. Only this package, explore and their parent
// import the terminal libraries.
package browse

import (
	"context"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/cmd/internal/ui/tui"
)

// Item is an item of the list. Its texts may contain anything: they are escaped.
type Item struct {
	ID string
	// Headings are shown above the item, the outermost first. A heading is shown if it
	// differs from that of the previous item.
	Headings []string
	Label    string
	// Fold is the line at the end of the list under which all items with it are folded. If
	// it is empty, the item is shown.
	Fold string
	// Words are searched by the filter in addition to the label and the headings.
	Words []string
	// Choices are the actions on the item, the default first.
	Choices []Choice
}

// Choice is an action on an item.
type Choice struct{ Label, Value string }

// Page describes a page and the source of its contents. Its functions are called one at a
// time in the background, so they may be slow. Their context ends when the result is not
// needed any more.
type Page struct {
	Title string
	Items []Item
	// More returns all items. It is called when the user reaches the last of Items or
	// filters; nil: there are no others.
	More func(context.Context) ([]Item, error)
	// Words returns further words of an item. It is called when the user filters; nil:
	// none.
	Words func(ctx context.Context, id string) []string
	// Preview returns a description of an item, in lines.
	Preview func(ctx context.Context, id string) string
	// Confirm returns a question to ask before a choice takes effect. If it has no options,
	// nothing is asked.
	Confirm func(ctx context.Context, id, choice string) ui.Question
}

// Result is the user's choice. Answer is the answer to the question, empty if there was
// none.
type Result struct{ ID, Choice, Answer string }

// Run shows a page until the user chooses something. It returns [ui.ErrAborted] if the user
// leaves.
func Run(ctx context.Context, s ui.Streams, page Page) (Result, error) {
	m := newModel(ctx, page, ui.Painter{Plain: s.Terminal.Plain})
	m.width, m.height = s.Size()
	ended, err := tui.Run(ctx, s, m)
	m.calls.Close()
	if err != nil {
		return Result{}, err
	}
	last, ok := ended.(*model)
	if !ok || last.result == nil {
		return Result{}, ui.ErrAborted
	}
	return *last.result, nil
}
