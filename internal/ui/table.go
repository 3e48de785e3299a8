package ui

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Table is rows of cells, shown in aligned columns.
type Table struct{ rows [][]string }

// Row adds a row.
func (t *Table) Row(cells ...string) { t.rows = append(t.rows, cells) }

// String is the table, two spaces between columns and none at a line's end.
func (t *Table) String() string {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	return b.String()
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
