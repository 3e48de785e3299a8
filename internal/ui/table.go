package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// columnGap is how many spaces are between columns.
const columnGap = 2

// Table is rows of cells, shown in aligned columns. The first row names them, unless it is
// a table of unnamed ones.
type Table struct {
	// Spare are the names of columns that are left out one after another, in this order,
	// where a terminal has no room for them. Cut is the one whose cells are cut, if that
	// isn't the last.
	Spare []string
	Cut   string
	// First and Gap are the spaces behind the first column and the others, two if not given.
	First, Gap int

	rows [][]string
}

// Row adds a row.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// String is the table, with no spaces at a line's end.
func (t *Table) String() string {
	widths := t.widths()
	var b strings.Builder
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			line.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+t.gap(i)))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
}

// gap is how many spaces are behind a column.
func (t *Table) gap(column int) int {
	if column == 0 && t.First > 0 {
		return t.First
	}
	return cmp.Or(t.Gap, columnGap)
}

// widths are those of the columns.
func (t *Table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	return widths
}

// Table is the table as wide as the terminal behind Out: columns that can be spared are left
// out, and the cells of one are cut. Where there is no terminal nothing is left out or cut,
// but a last cell of extreme length.
func (s Streams) Table(t *Table) string {
	const (
		longest = 400 // of a last cell in a pipe
		least   = 16  // of a column that is cut; others are left out for it
		fewest  = 8   // of it where no other can be left out
	)
	width, _, ok := outSize(s)
	if !ok {
		width, _ = s.Size()
	}
	out := &Table{First: t.First, Gap: t.Gap}
	for _, row := range t.rows {
		out.Row(slices.Clone(row)...)
	}
	if !s.Terminal.Out {
		out.cut(-1, longest)
		return out.String()
	}
	for _, name := range t.Spare {
		if out.beside(t.Cut)+least <= width {
			break
		}
		at := -1
		for i, row := range out.rows {
			if i == 0 {
				at = slices.Index(row, name)
			}
			if at >= 0 && at < len(row) {
				out.rows[i] = slices.Delete(row, at, at+1)
			}
		}
	}
	if t.Cut != "" {
		out.cut(out.column(t.Cut), max(width-out.beside(t.Cut), fewest))
	}
	out.cut(-1, max(width-out.beside(""), fewest))
	return out.String()
}

// column returns the column of a name, the last if there is none of that.
func (t *Table) column(name string) int {
	if len(t.rows) == 0 {
		return -1
	}
	if at := slices.Index(t.rows[0], name); at >= 0 {
		return at
	}
	return len(t.widths()) - 1
}

// beside is the width of all columns but one.
func (t *Table) beside(name string) int {
	sum, at := 0, t.column(name)
	widths := t.widths()
	for i, width := range widths {
		if i != at {
			sum += width
		}
		if i < len(widths)-1 {
			sum += t.gap(i)
		}
	}
	return sum
}

// cut shortens the cells of a column; -1 is the last cell of each row.
func (t *Table) cut(column, width int) {
	for _, row := range t.rows {
		at := column
		if at < 0 {
			at = len(row) - 1
		}
		if at >= 0 && at < len(row) {
			row[at] = Line(row[at], width)
		}
	}
}

// Ago is how long before now t was, in one unit: "just now", "5m ago", "3h
// ago", "2d ago".
func Ago(now, t time.Time) string {
	const day = 24 * time.Hour
	switch d := now.Sub(t); {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return count(d, time.Minute, "m")
	case d < day:
		return count(d, time.Hour, "h")
	default:
		return count(d, day, "d")
	}
}

func count(d, unit time.Duration, name string) string {
	return strconv.Itoa(int(d/unit)) + name + " ago"
}

// Since is a day for a sentence such as "3 failures since Tuesday": the weekday
// within the last six days, else the date.
func Since(now, t time.Time) string {
	t = t.In(now.Location())
	begin := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch {
	case !t.Before(begin):
		return "today"
	case !t.Before(begin.AddDate(0, 0, -1)):
		return "yesterday"
	case !t.Before(begin.AddDate(0, 0, -6)):
		return t.Weekday().String()
	default:
		return t.Format("2 January 2006")
	}
}

// Plural is n with its noun: "1 hook", "2 hooks".
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
