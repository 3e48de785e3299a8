package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/seed-3aff656d/entire/internal/plain"
)

// columnGap is the default number of spaces between columns.
const columnGap = 2

// Table is a table of rows of cells, shown in aligned columns. The first row names the
// columns, except in a table without names.
type Table struct {
	// Spare are the names of columns that are omitted one after another, in this order,
	// until the table fits the terminal. Cut is the column whose cells are cut, if it isn't
	// the last.
	Spare []string
	Cut   string
	// First and Gap are the numbers of spaces after the first column and after the others,
	// two if 0.
	First, Gap int

	rows [][]string
}

// AddRow adds a row.
func (t *Table) AddRow(cells ...string) { t.rows = append(t.rows, cells) }

// String returns the table without trailing spaces.
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

// gap returns the number of spaces after a column.
func (t *Table) gap(column int) int {
	if column == 0 && t.First > 0 {
		return t.First
	}
	return cmp.Or(t.Gap, columnGap)
}

// widths returns the widths of the columns.
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

// Table returns the table fitted to the width of the terminal of Out: it omits columns of
// Spare and cuts cells. Without a terminal it only cuts last cells of extreme length.
func (s Streams) Table(t *Table) string {
	const (
		longest = 400 // of a last cell in a pipe
		least   = 16  // of a cut column; others are omitted for it
		fewest  = 8   // of a cut column if no other can be omitted
	)
	width, _, ok := outSize(s)
	if !ok {
		width, _ = s.Size()
	}
	out := &Table{First: t.First, Gap: t.Gap}
	for _, row := range t.rows {
		out.AddRow(slices.Clone(row)...)
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

// column returns the index of the column with a name, or of the last one if there is none.
func (t *Table) column(name string) int {
	if len(t.rows) == 0 {
		return -1
	}
	if at := slices.Index(t.rows[0], name); at >= 0 {
		return at
	}
	return len(t.widths()) - 1
}

// beside returns the width of all columns except one, including gaps.
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

// cut shortens the cells of a column to width; column -1 means the last cell of each row.
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

// Ago returns the time from t to now in one unit: "just now", "5m ago", "3h ago", "2d ago".
func Ago(now, t time.Time) string {
	n, unit := plain.Elapsed(now.Sub(t))
	if n == 0 {
		return "just now"
	}
	return strconv.Itoa(n) + unit[:1] + " ago"
}

// Since returns the day of t for a sentence such as "3 failures since Tuesday": today,
// yesterday, the weekday within the last six days, else the date.
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

// Plural is [plain.Plural].
func Plural(n int, noun string) string { return plain.Plural(n, noun) }
