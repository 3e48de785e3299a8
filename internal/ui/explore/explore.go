// Package explore shows turns as a list on the whole screen, of which only the rows around
// the cursor are read, what is known of the turn under the cursor beside it, and texts that
// open on top of it.
//
// The contents are those of a [Source]. Only this package, browse and their parent import the
// terminal libraries.
package explore

import (
	"context"
	"errors"
	"io"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-3aff656d/entire/internal/ui"
)

// Row is a turn in the list. Its texts may hold anything: they are escaped.
type Row struct {
	// ID is its name for the source.
	ID string
	// When and Label are shown, and About where there is room for it.
	When, Label, About string
	// Copy is what is copied of it, empty for nothing.
	Copy string
	// Moments are where a rewind can go to from it.
	Moments []Moment
}

// Moment is a place to go back to.
type Moment struct{ Label, Value string }

// Query selects rows; an empty field selects all.
type Query struct{ Words, File string }

// Ends of the list, in the place of a row's ID.
const (
	First = ""
	Last  = "\x00last"
)

// Window is rows that follow one another in the list.
type Window struct {
	Rows []Row
	// At is the index of the row that was asked for, or of the nearest.
	At int
	// Before is how many rows precede Rows, Total how many there are.
	Before, Total int
}

// Line is a line of a text, which may have the program's own colours.
type Line struct {
	Text string
	// Place is what of a file it shows, Changed that the turn changed it.
	Place   Place
	Changed bool
}

// Place is a line of a file: its number, 0 for one that is not there any more, and its text.
type Place struct {
	File   string
	Number int
	Text   string
}

// Text is what a page shows.
type Text struct {
	Title string
	Lines []Line
	// Find is a text of the line at which it opens; the first line where it is empty or nowhere.
	Find string
}

// Glance is what is shown of a row beside the list.
type Glance struct {
	Changed []Line
	Said    []Line
}

// ErrUnchanged is returned by what has the terminal for itself where the user wanted nothing.
var ErrUnchanged = errors.New("nothing is changed")

// Source has the contents. Its functions are called one at a time, beside the terminal: they
// may take long. Their context ends when nobody waits for the result any more.
type Source struct {
	// Window returns some hundred rows around one, which is the ID of a row or an end.
	Window func(ctx context.Context, q Query, around string) (Window, error)
	// Refresh reports whether what the others return may have changed since the last call.
	Refresh func(ctx context.Context) (changed bool, err error)
	// Glance returns what is known of a row, in lines for a number of columns.
	Glance func(ctx context.Context, id string, columns int) (Glance, error)
	// Whole returns all that is known of a row.
	Whole func(ctx context.Context, id string, columns int) (Text, error)
	// Why returns why a line is there, Blame who wrote the lines of its file.
	Why, Blame func(ctx context.Context, at Place, columns int) (Text, error)
	// Rewind, Undo and Show have the terminal for themselves, as in and out: they may ask.
	// ErrUnchanged goes back at once.
	Rewind func(ctx context.Context, moment string, in io.Reader, out io.Writer) error
	Undo   func(ctx context.Context, in io.Reader, out io.Writer) error
	// Show opens a page about a row.
	Show func(ctx context.Context, id string, out io.Writer) error
}

// Run shows the rows of a source until the user leaves.
func Run(ctx context.Context, s ui.Streams, title string, source Source, q Query) error {
	m := newModel(ctx, title, source, q)
	m.plain = s.Terminal.Plain
	m.width, m.height = s.Size()
	_, err := tea.NewProgram(m, tea.WithContext(ctx), tea.WithInput(s.In), tea.WithOutput(s.Err)).Run()
	m.calls.stop()
	m.calls.turn.Lock() // what runs in the background has ended
	defer m.calls.turn.Unlock()
	if errors.Is(err, tea.ErrInterrupted) || ctx.Err() != nil {
		return ui.ErrAborted
	}
	return err
}
