package capture

import (
	"strings"

	"github.com/seed-3aff656d/entire/internal/linediff"
)

// CountChanged returns the number of lines added and removed between two texts,
// whatever ends the lines.
func CountChanged(before, after string) (added, removed int) {
	return linediff.Totals(linediff.Compare(unixLines(before), unixLines(after), linediff.Quick))
}

// unixLines returns a text whose lines all end with a newline alone.
func unixLines(text string) string {
	return strings.ReplaceAll(linediff.WholeLines(text), "\r\n", "\n")
}
