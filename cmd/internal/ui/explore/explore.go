// Package explore shows turns in a full-screen list, with the turn under the cursor
// described beside it. Only the rows around the cursor are read. Texts open on top of the
// list.
//
// A [Source] provides the contents. Only this package, browse and their parent import the
// terminal libraries.
package explore

import (
	"context"
	"errors"
	"io"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/cmd/internal/ui/tui"
)

// Row is a turn in the list. Its texts may contain anything: they are escaped.
type Row struct {
	// ID identifies it in the source.
	ID string
	// When and Label are always shown, About if there is room for it.
	When, Label, About string
	// Copy is the text copied to the clipboard, empty for none.
	Copy string
	// Moments are the possible targets of a rewind.
	Moments []Moment
}

// Moment is a target of a rewind.
type Moment struct{ Label, Value string }

// Query selects rows; an empty field selects all.
type Query struct{ Words, File string }

// The ends of the list, used instead of a row's ID.
const (
	First = ""
	Last  = "\x00last"
)

// Window is a list of consecutive rows.
type Window struct {
	Rows []Row
	// At is the index in Rows of the requested row, or of the nearest one.
	At int
	// Before is the number of rows before Rows, Total the number of all rows.
	Before, Total int
}

// Line is a line of a text. It may contain the program's own colours.
type Line struct {
	Text string
	// Place is the line of a file that it shows, if any. Changed is set if the turn changed
	// that line.
	Place   Place
	Changed bool
}

// Place is a line of a file: its number, 0 if it no longer exists, and its text.
type Place struct {
	File   string
	Number int
	Text   string
}

// Text is the content of a page.
type Text struct {
	Title string
	Lines []Line
	// Find is a text of the line at which the page opens. If it is empty or not found, that
	// is the first line.
	Find string
}

// Glance is the description of a row beside the list.
type Glance struct {
	Changed []Line
	Said    []Line
}

// ErrUnchanged is returned by Rewind and Undo if the user changed nothing.
var ErrUnchanged = errors.New("nothing is changed")

// Source provides the contents. Its functions are called one at a time in the background,
// so they may be slow. Their context ends when the result is not needed any more.
type Source struct {
	// Window returns some hundred rows around the row with an ID or an end of the list.
	Window func(ctx context.Context, q Query, around string) (Window, error)
	// Refresh reports whether the results of the other functions may have changed since the
	// last call.
	Refresh func(ctx context.Context) (changed bool, err error)
	// Glance returns a short description of a row, in lines for a number of columns.
	Glance func(ctx context.Context, id string, columns int) (Glance, error)
	// Whole returns the full description of a row.
	Whole func(ctx context.Context, id string, columns int) (Text, error)
	// Why returns the origin of a line, Blame the authors of the lines of its file.
	Why, Blame func(ctx context.Context, at Place, columns int) (Text, error)
	// Rewind, Undo and Show have exclusive use of the terminal as in and out, so they may
	// ask questions. After ErrUnchanged the list is shown at once.
	Rewind func(ctx context.Context, moment string, in io.Reader, out io.Writer) error
	Undo   func(ctx context.Context, in io.Reader, out io.Writer) error
	// Show opens a page about a row.
	Show func(ctx context.Context, id string, out io.Writer) error
}

// Run shows the rows of a source until the user leaves.
func Run(ctx context.Context, s ui.Streams, title string, source Source, q Query) error {
	m := newModel(ctx, title, source, q)
	m.Plain = s.Terminal.Plain
	m.width, m.height = s.Size()
	_, err := tui.Run(ctx, s, m)
	m.calls.Close()
	return err
}
