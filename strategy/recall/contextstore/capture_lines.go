package contextstore

import (
	"strings"

	"github.com/seed-3aff656d/entire/internal/linediff"
)

// CountChanged returns the number of lines added and removed between two texts, treating
// CRLF as LF.
func CountChanged(before, after string) (added, removed int) {
	return linediff.Totals(linediff.Compare(unixLines(before), unixLines(after), linediff.Quick))
}

// unixLines returns the text with every line ended by a single newline.
func unixLines(text string) string {
	return strings.ReplaceAll(linediff.WholeLines(text), "\r\n", "\n")
}
