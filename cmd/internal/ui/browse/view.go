package browse

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// sideBySide is the minimum width to show the preview beside the list and not below it.
const sideBySide = 80

// option returns the line of an option with its number.
func option(p ui.Painter, i int, label string, under bool) string {
	text := fmt.Sprintf("%d  %s", i+1, ui.Escape(label))
	if under {
		return p.Paint(ui.Reverse, "> "+text)
	}
	return "  " + text
}

// frame is the layout of the page.
type frame struct {
	listRows, listWidth       int
	previewRows, previewWidth int
	beside                    bool
}

// frame computes the layout: the title, the list and the preview, the choices, the keys.
func (m *model) frame() frame {
	rows := max(m.height-2-len(m.below()), 2)
	if m.width >= sideBySide {
		half := m.width/2 - 1
		return frame{rows, half, rows, m.width - half - 3, true}
	}
	upper := max(rows*3/5, 1)
	return frame{upper, m.width, max(rows-upper-1, 0), m.width, false}
}

// View implements tea.Model.
func (m *model) View() tea.View {
	v := tea.NewView(m.render())
	v.AltScreen = true
	return v
}

// render returns the screen: at most height lines of at most width columns.
func (m *model) render() string {
	f := m.frame()
	lines := []string{m.title()}
	list, preview := m.listLines(f), m.previewLines(f)
	if f.beside {
		lines = append(lines, m.paint.Beside(list, preview, f.listWidth, f.listRows)...)
	} else {
		for i := range f.listRows {
			lines = append(lines, ui.LineAt(list, i))
		}
		if f.previewRows > 0 {
			lines = append(lines, m.paint.Paint(ui.Dim, strings.Repeat("-", m.width)))
		}
		for i := range f.previewRows {
			lines = append(lines, ui.LineAt(preview, i))
		}
	}
	lines = append(lines, m.below()...)
	lines = append(lines, m.paint.Paint(ui.Dim, m.keys()))
	lines = lines[:min(len(lines), m.height)]
	for i, line := range lines {
		lines[i] = strings.TrimRight(ansi.Truncate(line, m.width, "…"), " ")
	}
	return strings.Join(lines, "\n")
}

// title returns the first line: the title, the filter, and the number of items.
func (m *model) title() string {
	title := m.paint.Paint(ui.Bold, m.page.Title)
	switch {
	case m.mode == inFilter:
		title += "  /" + ui.Escape(m.list.filter) + "_"
	case m.list.filter != "":
		title += "  /" + ui.Escape(m.list.filter)
	}
	count := strconv.Itoa(len(m.list.items))
	if m.list.filter != "" {
		count = fmt.Sprintf("%d of %d", m.list.count(), len(m.list.items))
	}
	switch {
	case m.failure != "":
		count = ui.Escape(m.failure)
	case m.loading:
		count += ", loading more"
	case !m.whole:
		count += " and more"
	}
	gap := m.width - ansi.StringWidth(title) - len(count)
	return title + strings.Repeat(" ", max(gap, 2)) + m.paint.Paint(ui.Dim, count)
}

// listLines returns the lines of the rows around the cursor, including headings.
func (m *model) listLines(f frame) []string {
	rows := m.list.rows
	if len(rows) == 0 {
		return []string{"  nothing matches"}
	}
	top := min(max(m.list.at-f.listRows/2, 0), max(len(rows)-f.listRows, 0))
	lines := make([]string, 0, f.listRows)
	for i := top; i < len(rows) && len(lines) < f.listRows; i++ {
		r, mark := rows[i], "  "
		under := i == m.list.at
		if under {
			mark = "> "
		}
		text := ansi.Truncate(mark+strings.Repeat("  ", r.depth)+ui.Escape(r.text), f.listWidth, "…")
		switch {
		case under && m.mode == inList:
			text = m.paint.Paint(ui.Reverse, text+strings.Repeat(" ", max(f.listWidth-ansi.StringWidth(text), 0)))
		case under, r.item < 0 && r.depth == 0:
			text = m.paint.Paint(ui.Bold, text)
		case r.item >= 0:
			text = m.paint.Paint(ui.Dim, text)
		}
		lines = append(lines, text)
	}
	return lines
}

// previewLines returns the lines of the preview from the scroll position.
func (m *model) previewLines(f frame) []string {
	if f.previewRows == 0 {
		return nil
	}
	id := m.list.id()
	text, known := m.previews[id]
	switch {
	case m.list.onFold():
		return []string{m.paint.Paint(ui.Dim, "Enter opens and closes this line.")}
	case id == "":
		return nil
	case !known:
		return []string{m.paint.Paint(ui.Dim, "Comparing ...")}
	}
	all := strings.Split(ui.WrapWhole(strings.TrimRight(ui.EscapePainted(text), "\n"), f.previewWidth), "\n")
	from := min(m.scroll, max(len(all)-f.previewRows, 0))
	lines := make([]string, 0, f.previewRows)
	for _, line := range all[from:] {
		if len(lines) == f.previewRows {
			break
		}
		lines = append(lines, ansi.Truncate(line, f.previewWidth, "…"))
	}
	if left := len(all) - from - len(lines); left > 0 {
		lines[len(lines)-1] = m.paint.Paint(ui.Dim, fmt.Sprintf("... and %s more (J scrolls)", ui.Plural(left+1, "line")))
	}
	return lines
}

// below returns the lines of the choices, or of the question and its options.
func (m *model) below() []string {
	if m.mode == inQuestion {
		lines := []string{""}
		for line := range strings.SplitSeq(ui.EscapePainted(m.question.Help), "\n") {
			lines = append(lines, m.paint.Paint(ui.Yellow, line))
		}
		for i, o := range m.question.Options {
			lines = append(lines, option(m.paint, i, o.Label, i == m.chosen))
		}
		return lines
	}
	lines := []string{""}
	for i, c := range m.list.choices() {
		lines = append(lines, option(m.paint, i, c.Label, m.mode == inChoices && i == m.chosen))
	}
	// Reserve room for the item with the most choices, so that the list doesn't move.
	most := 0
	for _, item := range m.page.Items {
		most = max(most, len(item.Choices))
	}
	return append(lines, make([]string, max(most+1-len(lines), 0))...)
}

// keys returns the last line, which explains the keys.
func (m *model) keys() string {
	switch {
	case m.asking:
		return "Comparing ..."
	case m.mode == inFilter:
		return "type words of a prompt, a file or a time · enter keep · esc clear"
	case m.mode == inChoices:
		return "enter do it · up/down choose · esc back"
	case m.mode == inQuestion:
		return "enter choose · up/down · esc back"
	}
	return "up/down · enter choose · / filter · J/K scroll · q leave"
}
