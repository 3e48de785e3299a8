package history

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/report"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/cmd/internal/ui/explore"
	"github.com/seed-3aff656d/entire/cmd/internal/ui/tui"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/index"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

// turnSource provides the turns of the index to the browser.
type turnSource struct {
	app      *app.App
	commands Commands
	repo     *git.Repo
	files    index.Files
	filter   index.Filter
	w        *workspace.Workspace
	version  string // of the index, at the last refresh
}

// around is the number of turns read on each side of the one under the cursor.
const around = 150

// window implements Window of explore.Source.
func (s *turnSource) window(ctx context.Context, q explore.Query, at string) (explore.Window, error) {
	filter := s.filter
	filter.File = q.File
	filter.Words = q.Words
	if last, _ := utf8.DecodeLastRuneInString(q.Words); unicode.IsLetter(last) || unicode.IsDigit(last) {
		filter.Words += "*" // it may still be typed
	}
	var place index.Place
	switch at {
	case explore.First:
		place = index.Newest()
	case explore.Last:
		place = index.Oldest()
	default:
		place = placeOf(at)
	}
	var w index.Window
	err := s.read(ctx, func(r *index.Reader) (err error) {
		w, err = r.Window(ctx, filter, place, around)
		return err
	})
	shown := explore.Window{At: w.At, Before: w.Before, Total: w.Total}
	for i := range w.Rows {
		shown.Rows = append(shown.Rows, s.row(&w.Rows[i]))
	}
	return shown, err
}

// row returns a turn as a row of the list.
func (s *turnSource) row(t *index.Row) explore.Row {
	when, at := "-", int64(0)
	if !t.At.IsZero() {
		when, at = ui.Ago(s.app.Now(), t.At), t.At.UnixMilli()
	}
	about := ""
	if t.Files > 0 {
		about = fmt.Sprintf("+%d -%d", t.Added, t.Removed)
	}
	row := explore.Row{
		ID: fmt.Sprintf("%d %d", at, t.ID), When: when, Label: labelOf(t), // placeOf parses the id
		About: strings.TrimSpace(fmt.Sprintf("%s %7s", about, commitOf(t))),
	}
	if t.Base > 0 {
		v := bands.Version(t.Base).String()
		row.Moments = append(row.Moments, explore.Moment{Label: "before this turn (" + v + ")", Value: v})
	}
	if t.Snapshot > 0 {
		v := bands.Version(t.Snapshot).String()
		row.Moments = append(row.Moments, explore.Moment{Label: "after it (" + v + ")", Value: v})
	}
	row.Copy = t.Session
	if n := len(t.Checkpoints); n > 0 {
		row.Copy = t.Checkpoints[n-1]
	}
	return row
}

// placeOf returns the place in the list of the row with an id.
func placeOf(name string) (p index.Place) {
	at, id := int64(0), int64(0)
	_, _ = fmt.Sscanf(name, "%d %d", &at, &id) // ids are made by row
	if p.ID = id; at != 0 {
		p.At = time.UnixMilli(at)
	}
	return p
}

// read opens the index without updating it. It rebuilds the index only if it is lost.
func (s *turnSource) read(ctx context.Context, do func(*index.Reader) error) (err error) {
	r, err := query.ReadIndex(ctx, s.w)
	if errors.Is(err, index.ErrLost) {
		r, err = query.OpenIndex(ctx, s.w, func(string, int64, int64) {})
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return do(r)
}

// refresh implements Refresh of explore.Source.
func (s *turnSource) refresh(ctx context.Context) (changed bool, err error) {
	r, err := query.OpenIndex(ctx, s.w, func(string, int64, int64) {})
	if errors.Is(err, index.ErrBusy) {
		return false, nil // retried by the next refresh
	}
	if err != nil {
		return false, err
	}
	version := s.files.Version()
	changed, s.version = version != s.version, version
	return changed, r.Close()
}

// turn returns the report of a turn, and its row.
func (s *turnSource) turn(ctx context.Context, id string) (*report.Report, index.Row, error) {
	var made *report.Report
	var row index.Row
	err := s.read(ctx, func(r *index.Reader) (err error) {
		if row, err = turnAt(ctx, r, id); err != nil {
			return err
		}
		free := func(string, index.Tokens) (float64, bool) { return 0, true }
		made, err = report.Fill(ctx, s.w, r, report.Selection{Turn: &row, Limit: 1}, free, func(string, int64, int64) {})
		return err
	})
	if err == nil && len(made.Turns) == 0 {
		err = errGone
	}
	return made, row, err
}

// turnAt returns the turn with an id.
func turnAt(ctx context.Context, r *index.Reader, id string) (index.Row, error) {
	row, found, err := r.Turn(ctx, placeOf(id))
	if err == nil && !found {
		err = errGone
	}
	return row, err
}

var errGone = errors.New("the turn is no longer recorded")

// glance implements Glance of explore.Source.
func (s *turnSource) glance(ctx context.Context, id string, columns int) (explore.Glance, error) {
	made, row, err := s.turn(ctx, id)
	if err != nil {
		return explore.Glance{}, err
	}
	t := turnText{streams: s.screen(io.Discard), columns: columns}
	t.head(&made.Turns[0], &row, made.Commits)
	t.files(&made.Turns[0])
	g := explore.Glance{Changed: t.lines}
	t.lines = nil
	t.text(made.Turns[0].Answer)
	g.Said = t.lines
	return g, nil
}

// whole implements Whole of explore.Source.
func (s *turnSource) whole(ctx context.Context, id string, columns int) (explore.Text, error) {
	made, row, err := s.turn(ctx, id)
	if err != nil {
		return explore.Text{}, err
	}
	turn := &made.Turns[0]
	t := turnText{streams: s.screen(io.Discard), columns: columns - 2} //nolint:mnd // the cursor's
	t.whole(turn, &row, made.Commits)
	t.line(ui.Dim, "All of it: "+commandOf(&row))
	return explore.Text{Title: turn.Title, Lines: t.lines}, nil
}

// screen returns the streams of the terminal with another Out.
func (s *turnSource) screen(out io.Writer) ui.Streams {
	own := s.app.Streams.Into(out)
	own.Terminal.Out = true
	return own
}

// why implements Why of explore.Source.
func (s *turnSource) why(ctx context.Context, at explore.Place, columns int) (explore.Text, error) {
	what := at.Text
	if number := s.present(at); number > 0 {
		what = at.File + ":" + strconv.Itoa(number)
	}
	lines := s.output(ctx, s.commands.Why, what)
	return explore.Text{Title: "why " + ui.Line(what, columns), Lines: lines}, nil
}

// blame implements Blame of explore.Source.
func (s *turnSource) blame(ctx context.Context, at explore.Place, columns int) (explore.Text, error) {
	return explore.Text{
		Title: "blame " + ui.Line(at.File, columns), Lines: s.output(ctx, s.commands.Blame, at.File),
		Find: fmt.Sprintf(" %d  ", s.present(at)), // as in the column of numbers
	}, nil
}

// output returns the output of a command of this program about a file of the worktree.
func (s *turnSource) output(ctx context.Context, build func(*app.App) *cobra.Command, what string) []explore.Line {
	var out bytes.Buffer
	own := *s.app
	own.Dir = s.repo.Root // paths are relative to it
	own.Streams = s.screen(&out)
	own.Streams.Err = &out
	own.Streams.In = strings.NewReader("")
	own.Streams.Terminal.In = false
	own.Prompter = tui.NewPrompter(own.Streams)
	runApart(ctx, &own, build, "--no-pager", "--", what)
	var lines []explore.Line
	for line := range strings.SplitSeq(strings.TrimRight(out.String(), "\n"), "\n") {
		lines = append(lines, explore.Line{Text: line})
	}
	return lines
}

// present returns the current number of a line in its file, 0 if the file lacks it.
func (s *turnSource) present(at explore.Place) int {
	data, err := disk.ReadFile(filepath.Join(s.repo.Root, filepath.FromSlash(at.File)))
	if err != nil {
		return 0
	}
	nearest, number := 0, 0
	for line := range strings.SplitSeq(string(data), "\n") {
		number++
		if line == at.Text && (nearest == 0 || max(number-at.Number, at.Number-number) < max(nearest-at.Number, at.Number-nearest)) {
			nearest = number
		}
	}
	return nearest
}

// rewind implements Rewind of explore.Source.
func (s *turnSource) rewind(ctx context.Context, moment string, in io.Reader, out io.Writer) error {
	own := withTerminal(s.app, in, out)
	runApart(ctx, own, s.commands.Rewind, moment, "--preview")
	answers, err := own.Prompter.Ask(ctx, ui.Question{Title: "Rewind to " + moment + "?", Help: "The current state is saved first: u undoes the rewind."})
	if errors.Is(err, ui.ErrAborted) || err == nil && answers[0] != ui.Yes {
		return explore.ErrUnchanged
	}
	if err != nil {
		return err
	}
	runApart(ctx, own, s.commands.Rewind, moment)
	return nil
}

// undo implements Undo of explore.Source.
func (s *turnSource) undo(ctx context.Context, in io.Reader, out io.Writer) error {
	runApart(ctx, withTerminal(s.app, in, out), s.commands.Rewind, "--undo")
	return nil
}

// show implements Show of explore.Source. Only the user can read the folder of the page.
func (s *turnSource) show(ctx context.Context, id string, out io.Writer) error {
	var row index.Row
	err := s.read(ctx, func(r *index.Reader) (err error) {
		row, err = turnAt(ctx, r, id)
		return err
	})
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "entire-page-")
	if err != nil {
		return fmt.Errorf("folder of the page: %w", err)
	}
	runApart(ctx, withTerminal(s.app, strings.NewReader(""), out), NewReport, "--html", filepath.Join(dir, "session.html"), "--session", row.Session, "--open")
	return nil
}
