package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Wrap breaks the lines of a text that are longer than columns at spaces. Continuation
// lines have the line's indentation. Longer words are not broken.
func Wrap(text string, columns int) string { return wrap(text, columns, "") }

// WrapHanging is Wrap for output, with continuation lines indented by two more columns: a text in a
// line can't continue where lines of the program begin. Marks of quoted lines ([visible.Quote]) are
// repeated instead.
func WrapHanging(text string, columns int) string { return wrap(text, columns, "  ") }

// wrap is Wrap, with hang behind the indentation of continuation lines.
func wrap(text string, columns int, hang string) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		body, newline := strings.CutSuffix(line, "\n")
		if len(body) <= columns || ansi.StringWidth(body) <= columns {
			out.WriteString(line)
			continue
		}
		indent := body[:len(body)-len(strings.TrimLeft(body, " "))]
		for {
			rest := body[len(indent):]
			if !strings.HasPrefix(rest, "> ") && !strings.HasPrefix(rest, "| ") {
				break
			}
			indent += rest[:len("> ")]
		}
		next := indent
		if strings.TrimLeft(indent, " ") == "" {
			next += hang
		}
		column, begun := len(indent), false
		out.WriteString(indent)
		for word := range strings.SplitSeq(body[len(indent):], " ") {
			width := ansi.StringWidth(word)
			switch {
			case !begun:
			case column+1+width > columns:
				out.WriteString("\n" + next)
				column = len(next)
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
