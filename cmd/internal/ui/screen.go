package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Painter styles the lines of a screen, unless Plain is set.
type Painter struct{ Plain bool }

// Paint returns text in a style.
func (p Painter) Paint(style Style, text string) string {
	if p.Plain || text == "" || style == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// Beside returns n lines that show the lines of right beside those of left, which get width columns.
func (p Painter) Beside(left, right []string, width, n int) []string {
	lines := make([]string, n)
	for i := range lines {
		l := LineAt(left, i)
		l += strings.Repeat(" ", max(width-ansi.StringWidth(l), 0))
		lines[i] = l + " " + p.Paint(Dim, "|") + " " + LineAt(right, i)
	}
	return lines
}

// LineAt returns a line, "" beyond the last one.
func LineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}
