package explore

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// sideBySide is the minimum width to show the glance beside the list and not below it.
const sideBySide = 90

// wideList is the minimum width of a list whose rows include About.
const wideList = 72

// frame is the layout of the screen.
type frame struct {
	listRows, listWidth     int
	glanceRows, glanceWidth int
	beside                  bool
}

func (m *model) frame() frame {
	rows := max(m.height-2, 2)
	if m.width >= sideBySide {
		left := m.width * 2 / 5
		return frame{rows, left, rows, m.width - left - 3, true}
	}
	upper := max(rows/2, 1)
	return frame{upper, m.width, max(rows-upper-1, 0), m.width, false}
}

// pageRows returns the number of lines of an open text on the screen.
func (m *model) pageRows() int { return max(m.height-2, 1) }

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(screen{m}.render())
	v.AltScreen = true
	return v
}

// screen draws a model.
type screen struct{ *model }

// render returns the screen: at most height lines of at most width columns.
func (m screen) render() string {
	var lines []string
	if len(m.pages) > 0 {
		lines = m.pageLines()
	} else {
		lines = m.listScreen()
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	lines = append(lines[:min(len(lines), max(m.height-1, 0))], m.lastLine())
	for i, line := range lines {
		lines[i] = strings.TrimRight(ansi.Truncate(line, m.width, "…"), " ")
	}
	return strings.Join(lines, "\n")
}

// listScreen returns the title, the list and the glance of the row under the cursor.
func (m screen) listScreen() []string {
	f := m.frame()
	lines := []string{m.titleLine()}
	list, glance := m.listLines(f), m.glanceLines(f)
	if !f.beside {
		lines = append(lines, list...)
		for len(lines) < f.listRows+1 {
			lines = append(lines, "")
		}
		return append(append(lines, m.Paint(ui.Dim, strings.Repeat("-", m.width))), glance...)
	}
	return append(lines, m.Beside(list, glance, f.listWidth, f.listRows)...)
}

// titleLine returns the title, the query, and the number of rows.
func (m screen) titleLine() string {
	parts := []string{m.Paint(ui.Bold, m.title)}
	q := m.list.query
	for _, part := range []struct {
		is         field
		mark, text string
	}{{wordsField, "/", q.Words}, {fileField, "file: ", q.File}} {
		if m.field == part.is {
			parts = append(parts, part.mark+ui.Escape(part.text)+"_")
		} else if part.text != "" {
			parts = append(parts, part.mark+ui.Escape(part.text))
		}
	}
	count := "reading ..."
	switch {
	case m.list.known && m.list.Total == 0:
		count = "none"
	case m.list.known:
		count = fmt.Sprintf("%d of %d", m.list.Before+m.list.At+1, m.list.Total)
	}
	title := strings.Join(parts, "  ")
	gap := m.width - ansi.StringWidth(title) - len(count)
	return title + strings.Repeat(" ", max(gap, 2)) + m.Paint(ui.Dim, count)
}

// listLines returns the lines of the rows around the cursor.
func (m screen) listLines(f frame) []string {
	const whenWidth = 9
	rows := m.list.Rows
	if len(rows) == 0 && m.list.known {
		return []string{"  nothing matches"}
	}
	top := min(max(m.list.At-f.listRows/2, 0), max(len(rows)-f.listRows, 0))
	lines := make([]string, 0, f.listRows)
	for i := top; i < len(rows) && len(lines) < f.listRows; i++ {
		row, mark := &rows[i], "  "
		if i == m.list.At {
			mark = "> "
		}
		when := ui.Escape(row.When)
		when += strings.Repeat(" ", max(whenWidth-ansi.StringWidth(when), 1))
		about := ""
		if f.listWidth >= wideList {
			about = "  " + ui.Escape(row.About)
		}
		room := max(f.listWidth-ansi.StringWidth(mark+when+about), 0)
		label := ansi.Truncate(ui.Escape(row.Label), room, "…")
		label += strings.Repeat(" ", max(room-ansi.StringWidth(label), 0))
		line := mark + m.Paint(ui.Dim, when) + label + m.Paint(ui.Dim, about)
		if i == m.list.At {
			line = m.Paint(ui.Reverse, ansi.Truncate(mark+when+label+about, f.listWidth, ""))
		}
		lines = append(lines, line)
	}
	return lines
}

// glanceLines returns the lines of the glance of the row under the cursor: Changed from the
// scroll position, and Said below it.
func (m screen) glanceLines(f frame) []string {
	id := m.list.id()
	glance, known := m.glances[id]
	switch {
	case id == "" || f.glanceRows == 0:
		return nil
	case !known:
		return []string{m.Paint(ui.Dim, "reading ...")}
	}
	said := min(len(glance.Said), max(f.glanceRows/3, f.glanceRows-len(glance.Changed)-1))
	room := f.glanceRows - said
	if said > 0 {
		room-- // the line between them
	}
	from := min(m.scroll, max(len(glance.Changed)-room, 0))
	lines := m.cutLines(glance.Changed[from:], room, f.glanceWidth, "J scrolls, Enter opens")
	if said == 0 {
		return lines
	}
	for len(lines) < room {
		lines = append(lines, "")
	}
	lines = append(lines, m.Paint(ui.Dim, strings.Repeat("-", f.glanceWidth)))
	return append(lines, m.cutLines(glance.Said, said, f.glanceWidth, "Enter opens")...)
}

// cutLines returns the first lines of a text. If lines are omitted, the last one shows
// their number.
func (m screen) cutLines(text []Line, rows, width int, hint string) []string {
	if rows <= 0 {
		return nil
	}
	lines := make([]string, 0, rows)
	for i := range text {
		if len(lines) == rows-1 && i < len(text)-1 {
			return append(lines, m.Paint(ui.Dim, fmt.Sprintf("... and %s more (%s)", ui.Plural(len(text)-i, "line"), hint)))
		}
		lines = append(lines, ansi.Truncate(shown(text[i]), width, "…"))
	}
	return lines
}

// shown returns a line as written to the terminal.
func shown(l Line) string { return ui.EscapePainted(strings.ReplaceAll(l.Text, "\t", "    ")) }

// pageLines returns the title and the lines of the page on top.
func (m screen) pageLines() []string {
	p, rows := m.pages[len(m.pages)-1], m.pageRows()
	p.move(0, rows)
	where := fmt.Sprintf("%d of %d", p.at+1, len(p.Lines))
	title := ansi.Truncate(ui.Escape(p.Title), max(m.width-len(where)-2, 1), "…")
	title += strings.Repeat(" ", max(m.width-ansi.StringWidth(title)-len(where), 2))
	lines := []string{m.Paint(ui.Bold, title) + m.Paint(ui.Dim, where)}
	for i := p.top; i < len(p.Lines) && len(lines) <= rows; i++ {
		text := shown(p.Lines[i])
		if i == p.at {
			text = m.Paint(ui.Reverse, "> "+ansi.Strip(text))
		} else {
			text = "  " + text
		}
		lines = append(lines, text)
	}
	return lines
}

// lastLine returns the choices for a rewind, the searched text, the note, or the keys.
func (m screen) lastLine() string {
	switch {
	case m.moments != nil:
		choices := make([]string, 0, len(m.moments))
		for i, moment := range m.moments {
			choices = append(choices, fmt.Sprintf("%d %s", i+1, ui.Escape(moment.Label)))
		}
		return m.Paint(ui.Yellow, "Rewind to: "+strings.Join(choices, " · ")+" · Esc not")
	case m.field == findField:
		return "/" + ui.Escape(m.typed) + "_"
	case m.note != "":
		return m.Paint(ui.Yellow, ui.Escape(ui.Line(m.note, m.width)))
	case m.opening:
		return m.Paint(ui.Dim, "reading ...")
	case m.field == wordsField:
		return m.Paint(ui.Dim, "words of prompts, answers, commands, files · enter keep · esc back")
	case m.field == fileField:
		return m.Paint(ui.Dim, "a file or a directory · enter keep · esc back")
	case len(m.pages) > 0:
		return m.keys("q back", "w why", "b blame", "/ find", "n next", "r rewind")
	}
	return m.keys("? keys · q leave", "enter open", "/ search", "f file", "w why", "b blame", "r rewind")
}

// keys returns a line with as many of the keys as fit, followed by last.
func (m screen) keys(last string, keys ...string) string {
	const between = " · "
	line := ""
	for _, key := range keys {
		if ansi.StringWidth(line+key+between+last) > m.width {
			break
		}
		line += key + between
	}
	return m.Paint(ui.Dim, line+last)
}

// help returns the text that explains the keys.
func help() Text {
	t := Text{Title: "Keys"}
	for _, line := range []string{
		"up, down, k, j           the row above, below; PgUp, PgDn, Home, End",
		"J, K                     scroll what the turn changed",
		"Enter                    open the whole turn",
		"/                        only turns with these words",
		"f                        only turns that changed this file, or a file in this directory",
		"w                        why the line is there: the first changed one, or the one under the cursor",
		"b                        who wrote the lines of its file",
		"r                        rewind to before the turn or after it; it shows what would change, and asks",
		"u                        undo the last rewind",
		"o                        open the page of the session in the browser",
		"y                        copy the id",
		"q, Esc                   back, and out",
		"",
		"In an open text / finds words in it, and n the next place.",
	} {
		t.Lines = append(t.Lines, Line{Text: line})
	}
	return t
}
