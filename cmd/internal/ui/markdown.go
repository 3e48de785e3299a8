package ui

import (
	"strings"
	"unicode"
)

// Markdown returns a multi-line text with its headings, strong text and code highlighted
// and their marks removed, if Out is a terminal with colours; else the text itself. Other
// markup is not changed.
func (s Streams) Markdown(text string) string {
	if !s.Terminal.Out || s.Terminal.Plain {
		return text
	}
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		body, newline := strings.CutSuffix(line, "\n")
		mark := fenceOf(body)
		switch {
		case fence == "" && mark != "":
			fence = mark
			body = s.Paint(Dim, body)
		case fence != "" && mark != "" && strings.HasPrefix(mark, fence) && strings.TrimSpace(body) == mark:
			fence = ""
			body = s.Paint(Dim, body)
		case fence != "":
			body = s.Paint(Cyan, body)
		default:
			body = markdownLine(s, body)
		}
		b.WriteString(body)
		if newline {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// fenceOf returns the code fence at the beginning of a line, "" if there is none.
func fenceOf(line string) string {
	const least = 3
	line = strings.TrimLeft(line, " ")
	for _, char := range []string{"`", "~"} {
		if rest := strings.TrimLeft(line, char); len(line)-len(rest) >= least {
			return line[:len(line)-len(rest)]
		}
	}
	return ""
}

// markdownLine highlights the markup in a line of Markdown outside of a code block: a
// heading, or code and strong text.
func markdownLine(s Streams, line string) string {
	const levels = 6
	title := strings.TrimLeft(line, "#")
	if level := len(line) - len(title); level > 0 && level <= levels && strings.HasPrefix(title, " ") {
		return s.Paint(Bold, strings.NewReplacer("**", "", "`", "").Replace(strings.TrimSpace(title)))
	}
	var b strings.Builder
	for line != "" {
		at := strings.IndexAny(line, "`*")
		if at < 0 {
			break
		}
		b.WriteString(line[:at])
		line = line[at:]
		mark, style := "**", Bold
		if line[0] == '`' {
			mark, style = line[:len(line)-len(strings.TrimLeft(line, "`"))], Cyan
		}
		inner, rest, closed := strings.Cut(strings.TrimPrefix(line, mark), mark)
		// Strong text has no white space at its ends.
		isSpan := inner != "" && (style == Cyan || strings.TrimFunc(inner, unicode.IsSpace) == inner)
		if !closed || !strings.HasPrefix(line, mark) || !isSpan {
			n := len(line) - len(strings.TrimLeft(line, line[:1]))
			b.WriteString(line[:n])
			line = line[n:]
			continue
		}
		b.WriteString(s.Paint(style, inner))
		line = rest
	}
	return b.String() + line
}
