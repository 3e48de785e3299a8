package indexing

import (
	"strings"

	"github.com/seed-3aff656d/entire/internal/recall/plain"
)

// head returns the whole characters of the first limit bytes of a text.
func head(text string, limit int) string { return plain.Head(text, limit) }

// oneLine returns the beginning of a text in one line.
func oneLine(text string, limit int) string {
	return plain.Shorten(strings.Join(strings.Fields(plain.Clean(head(text, 4*limit))), " "), limit)
}

// ends returns the beginning and the end of an output.
func ends(output string) string {
	if len(output) <= 2*maxEnd {
		return output
	}
	end := output[len(output)-maxEnd:]
	return head(output, maxEnd) + "\n…\n" + strings.ToValidUTF8(end, "")
}
