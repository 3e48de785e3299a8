package recall

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/seed-3aff656d/entire/internal/plain"
)

// receiptFiles is the maximum number of files that a receipt names.
const receiptFiles = 5

// Receipt returns the lines that report to the user what was saved. The last one has the
// summary and the id.
func (c Checkpoint) Receipt() []string {
	files := "no files"
	if names := slices.Sorted(maps.Keys(c.State.Files)); len(names) > 0 {
		files = plain.Plural(len(names), "file")
		more := len(names) - receiptFiles
		names = names[:min(len(names), receiptFiles)]
		for i, name := range names {
			if !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
				names[i] = strconv.Quote(name)
			}
		}
		files += " (" + strings.Join(names, ", ")
		if more > 0 {
			files += fmt.Sprintf(", %d more", more)
		}
		files += ")"
	}
	var parts []string
	a := c.State.Analysis
	if a.CurrentTask != "" {
		parts = append(parts, "current task")
	}
	for _, list := range []struct {
		noun  string
		items []string
	}{{"next step", a.NextSteps}, {"decision", a.Decisions}, {"blocker", a.Blockers}} {
		if len(list.items) > 0 {
			parts = append(parts, plain.Plural(len(list.items), list.noun))
		}
	}
	lines := []string{
		"Captured:",
		"- " + files,
		"- Analysis: " + cmp.Or(strings.Join(parts, ", "), "nothing found"),
		"- Size: " + FormatSize(c.State.TotalSize),
	}
	for _, w := range c.Warnings {
		lines = append(lines, "- Warning: "+receiptLine(w))
	}
	return append(lines, fmt.Sprintf("Checkpoint saved: \"%s\" (id %s)", receiptLine(c.Summary), c.ID))
}

// FormatSize formats a size in bytes in the largest unit in which it is at least 1: 24KB.
func FormatSize(n int64) string {
	const unit = 1 << 10
	switch {
	case n < unit:
		return strconv.FormatInt(n, 10) + "B"
	case n < unit*unit:
		return strconv.FormatInt((n+unit/2)/unit, 10) + "KB"
	default:
		return strconv.FormatFloat(float64(n)/unit/unit, 'f', 1, 64) + "MB"
	}
}

// receiptLine returns a text as one line without hidden characters.
func receiptLine(text string) string {
	return strings.Join(strings.Fields(plain.Clean(text)), " ")
}
