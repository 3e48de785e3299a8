package ui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// columnGap is how many spaces are between columns.
const columnGap = 2

// Table is rows of cells, shown in aligned columns.
type Table struct{ rows [][]string }

// Row adds a row.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// String is the table, two spaces between columns and none at a line's end.
func (t *Table) String() string {
	widths := t.widths()
	var b strings.Builder
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			line.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+columnGap))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
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

// Table is the table with its last column cut: to what the terminal has room for, or where
// there is none to so many characters.
func (s Streams) Table(t *Table, last int) string {
	const least = 16
	if s.Terminal.Out {
		width, _ := s.Size()
		last = max(width-t.leading(), least)
	}
	cut := Table{}
	for _, row := range t.rows {
		row = slices.Clone(row)
		row[len(row)-1] = Line(row[len(row)-1], last)
		cut.Row(row...)
	}
	return cut.String()
}

// leading is the width of the columns before the last.
func (t *Table) leading() int {
	widths := t.widths()
	sum := 0
	for _, width := range widths[:max(len(widths)-1, 0)] {
		sum += width + columnGap
	}
	return sum
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
