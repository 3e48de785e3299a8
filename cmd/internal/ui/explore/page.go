package explore

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// page is an open text with a line under the cursor.
type page struct {
	Text

	at, top int    // the line under the cursor, and the first one on the screen
	find    string // the searched text
}

func newPage(t Text) *page {
	p := &page{Text: t}
	if t.Find != "" {
		p.at = max(slices.IndexFunc(t.Lines, func(l Line) bool { return strings.Contains(ansi.Strip(l.Text), t.Find) }), 0)
	}
	return p
}

// move moves the cursor by n lines, and scrolls a screen of the given rows with it.
func (p *page) move(n, rows int) {
	p.at = max(min(p.at+n, len(p.Lines)-1), 0)
	p.top = max(min(p.top, p.at), p.at-rows+1, 0)
	if at := len(p.Lines) - rows; p.top > max(at, 0) {
		p.top = max(at, 0)
	}
}

// next moves the cursor to the next line with the searched text, wrapping around at the
// end, and reports whether there is one.
func (p *page) next(rows int) bool {
	want := strings.ToLower(p.find)
	for i := 1; i <= len(p.Lines) && want != ""; i++ {
		at := (p.at + i) % len(p.Lines)
		if strings.Contains(strings.ToLower(ansi.Strip(p.Lines[at].Text)), want) {
			p.move(at-p.at, rows)
			return true
		}
	}
	return false
}
