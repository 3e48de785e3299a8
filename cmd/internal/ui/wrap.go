package ui

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Wrap breaks the lines of a text that are longer than columns at spaces. Continuation
// lines have the line's indentation. Longer words are not broken.
func Wrap(text string, columns int) string { return wrap(text, columns, "", false) }

// WrapWhole is Wrap for a screen, whose longer lines are cut: longer words, such as sentences in
// Chinese, are broken. A tab becomes spaces.
func WrapWhole(text string, columns int) string {
	return wrap(strings.ReplaceAll(text, "\t", "    "), columns, "", true)
}

// WrapHanging is Wrap for output, with continuation lines indented by two more columns, and longer
// words broken: a text in a line can't continue where lines of the program begin. Marks of quoted
// lines ([visible.Quote]) are repeated instead.
func WrapHanging(text string, columns int) string { return wrap(text, columns, "  ", true) }

// wrap is Wrap, with hang behind the indentation of continuation lines. Longer words are broken if
// broken is set.
func wrap(text string, columns int, hang string, broken bool) string {
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
		room := columns - len(next)
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
			if broken && width > room && room > 0 {
				pieces := strings.Split(ansi.Hardwrap(word, room, true), "\n")
				word, column, width = strings.Join(pieces, "\n"+next), len(next), ansi.StringWidth(pieces[len(pieces)-1])
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
