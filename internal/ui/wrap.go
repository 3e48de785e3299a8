package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Wrap breaks the lines of a text that are longer than columns at spaces. Continuation
// lines have the line's indentation. Longer words are not broken.
func Wrap(text string, columns int) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		body, newline := strings.CutSuffix(line, "\n")
		if len(body) <= columns || ansi.StringWidth(body) <= columns {
			out.WriteString(line)
			continue
		}
		indent := body[:len(body)-len(strings.TrimLeft(body, " "))]
		column, begun := len(indent), false
		out.WriteString(indent)
		for word := range strings.SplitSeq(body[len(indent):], " ") {
			width := ansi.StringWidth(word)
			switch {
			case !begun:
			case column+1+width > columns:
				out.WriteString("\n" + indent)
				column = len(indent)
			default:
				out.WriteByte(' ')
				column++
			}
			out.WriteString(word)
			column, begun = column+width, true
		}
		if newline {
			out.WriteByte('\n')
		}
	}
	return out.String()
}
