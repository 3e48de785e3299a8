package explore

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/cmd/internal/ui/tui"
)

// field is the input field that the user types into.
type field int

const (
	noField field = iota
	wordsField
	fileField
	findField // in an open text
)

// model is the state of the screen.
type model struct {
	ui.Painter

	title         string
	calls         *calls
	width, height int

	list    list
	glances map[string]Glance
	scroll  int // of the glance, in lines

	field  field
	before Query  // the query before the user began to type
	typed  string // the text of findField

	pages   []*page  // the open pages, the last one on top
	moments []Moment // choices for a rewind; nil: none is offered
	opening bool
	note    string // about the last action or failure
}

func newModel(ctx context.Context, title string, source Source, q Query) *model {
	return &model{
		title: title, glances: map[string]Glance{}, list: list{query: q},
		calls: &calls{tui.NewCalls(ctx), source},
	}
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return tea.Batch(m.load(First), m.waitToRefresh()) }

func (m *model) waitToRefresh() tea.Cmd {
	return tea.Tick(refreshDelay, func(time.Time) tea.Msg { return refreshDue{} })
}

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) { //nolint:ireturn // as tea has it
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		if m.width != msg.Width {
			clear(m.glances) // they are for another width
		}
		m.width, m.height = msg.Width, msg.Height
		return m, m.rest()
	case windowLoaded:
		// Use the loaded rows, unless the query has changed meanwhile.
		m.list.loading = false
		next := m.list.pending
		m.list.pending = nil
		if msg.query == m.list.query && msg.err == nil {
			// After a load around an end the cursor moves there. Otherwise it stays on its
			// present row: the user may have moved it since the load began.
			id := m.list.id()
			moved := m.list.known && msg.around != First && msg.around != Last
			m.list.Window, m.list.known = msg.window, true
			if i := slices.IndexFunc(m.list.Rows, func(r Row) bool { return r.ID == id }); moved && i >= 0 {
				m.list.At = i
			}
		}
		m.fail(msg.err)
		if next != nil {
			return m, m.load(*next)
		}
		return m, m.rest()
	case cursorRested:
		if msg.id != m.list.id() {
			return m, nil
		}
		ctx := m.calls.Latest()
		columns := m.frame().glanceWidth
		return m, m.calls.Run(func() tea.Msg {
			if ctx.Err() != nil {
				return nil
			}
			glance, err := m.calls.source.Glance(ctx, msg.id, columns)
			if ctx.Err() != nil {
				return nil
			}
			return glanceLoaded{msg.id, glance, err}
		})
	case glanceLoaded:
		m.glances[msg.id] = msg.glance
		m.fail(msg.err)
	case textLoaded:
		if m.opening = false; msg.err == nil {
			m.pages = append(m.pages, newPage(msg.text))
		}
		m.fail(msg.err)
	case refreshDue:
		return m, m.calls.Run(func() tea.Msg {
			changed, err := m.calls.source.Refresh(m.calls.Context)
			return refreshed{changed, err}
		})
	case refreshed:
		return m, tea.Batch(m.renew(msg), m.waitToRefresh())
	case resumed:
		m.fail(msg.err)
		return m, m.renew(refreshed{changed: true})
	case tea.KeyPressMsg:
		return m, m.press(msg)
	}
	return m, nil
}

// fail shows an error as the note.
func (m *model) fail(err error) {
	if err != nil {
		m.note = err.Error()
	}
}

// load loads the rows around a row or an end.
func (m *model) load(around string) tea.Cmd {
	if m.list.loading {
		m.list.pending = &around
		return nil
	}
	m.list.loading = true
	q := m.list.query
	return m.calls.Run(func() tea.Msg {
		w, err := m.calls.source.Window(m.calls.Context, q, around)
		return windowLoaded{q, around, w, err}
	})
}

// renew reloads the list if it may have changed. A cursor on the newest row stays on the
// newest row.
func (m *model) renew(msg refreshed) tea.Cmd {
	m.fail(msg.err)
	if !msg.changed {
		return nil
	}
	clear(m.glances)
	around := m.list.id()
	if m.list.Before+m.list.At == 0 {
		around = First
	}
	return m.load(around)
}

// rest loads the glance of the row under the cursor once the cursor rests on it.
func (m *model) rest() tea.Cmd {
	id := m.list.id()
	if _, known := m.glances[id]; known || id == "" {
		return nil
	}
	return tea.Tick(glanceDelay, func(time.Time) tea.Msg { return cursorRested{id} })
}

// press handles a key.
func (m *model) press(key tea.KeyPressMsg) tea.Cmd {
	if key.String() == "ctrl+c" {
		return tea.Interrupt
	}
	if m.field != noField {
		return m.pressInField(key)
	}
	m.note = ""
	switch {
	case m.moments != nil: // choose one for a rewind
		moments, text := m.moments, key.String()
		m.moments = nil
		if i := strings.Index("123456789", text); len(text) == 1 && i >= 0 && i < len(moments) {
			return m.calls.alone(func(ctx context.Context, in io.Reader, out io.Writer) error {
				return m.calls.source.Rewind(ctx, moments[i].Value, in, out)
			})
		}
		return nil
	case len(m.pages) > 0:
		return m.pressInPage(key.String())
	}
	return m.pressInList(key.String())
}

func (m *model) pressInList(key string) tea.Cmd {
	rows := max(m.frame().listRows-1, 1)
	switch key {
	case "q":
		return tea.Quit
	case "esc":
		if m.list.query == (Query{}) {
			return tea.Quit
		}
		return m.narrow(Query{})
	case "home", "g":
		return m.load(First)
	case "end", "G":
		return m.load(Last)
	case "K", "shift+up", "[":
		m.scroll = max(m.scroll-1, 0)
	case "J", "shift+down", "]":
		m.scroll++
	case "/":
		m.field, m.before = wordsField, m.list.query
	case "f":
		m.field, m.before = fileField, m.list.query
	case "?":
		m.pages = append(m.pages, newPage(help()))
	case "u":
		return m.calls.alone(m.calls.source.Undo)
	default:
		if n, ok := tui.Step(key, rows, 0); ok {
			return m.move(n)
		}
		return m.pressOnRow(key)
	}
	return nil
}

// pressOnRow handles a key for the row under the cursor.
func (m *model) pressOnRow(key string) tea.Cmd {
	row := m.list.row()
	if row == nil {
		return nil
	}
	source, id := m.calls.source, row.ID
	switch key {
	case "enter", "right", "l":
		return m.open(func(ctx context.Context) (Text, error) { return source.Whole(ctx, id, m.width) })
	case "w":
		return m.openAt(source.Why)
	case "b":
		return m.openAt(source.Blame)
	case "r":
		if m.moments = row.Moments; m.moments == nil {
			m.note = "There is no snapshot of it."
		}
	case "o":
		return m.calls.alone(func(ctx context.Context, _ io.Reader, out io.Writer) error { return source.Show(ctx, id, out) })
	case "y":
		if row.Copy == "" {
			m.note = "It has no id."
			return nil
		}
		m.note = "Copied " + row.Copy
		return tea.SetClipboard(row.Copy)
	}
	return nil
}

func (m *model) pressInPage(key string) tea.Cmd {
	p, rows := m.pages[len(m.pages)-1], m.pageRows()
	switch key {
	case "q", "esc", "left", "h":
		m.pages = m.pages[:len(m.pages)-1]
	case "/":
		m.field, m.typed = findField, ""
	case "n":
		if !p.next(rows) {
			m.note = "Nothing more is found."
		}
	case "w":
		return m.openAt(m.calls.source.Why)
	case "b":
		return m.openAt(m.calls.source.Blame)
	case "r", "o", "y":
		return m.pressOnRow(key)
	default:
		if n, ok := tui.Step(key, rows, len(p.Lines)); ok {
			p.move(n, rows)
		}
	}
	return nil
}

// open opens a text once it is loaded.
func (m *model) open(read func(ctx context.Context) (Text, error)) tea.Cmd {
	if m.opening {
		return nil
	}
	m.opening = true
	return m.calls.Run(func() tea.Msg {
		text, err := read(m.calls.Context)
		return textLoaded{text, err}
	})
}

// openAt opens a text about a line: the line under the cursor of the open page, or the
// first line changed by the row under the cursor.
func (m *model) openAt(read func(ctx context.Context, at Place, columns int) (Text, error)) tea.Cmd {
	var p *page
	if len(m.pages) > 0 {
		p = m.pages[len(m.pages)-1]
	} else {
		// Prefer the first changed line that still exists, else take the first changed one.
		p = newPage(Text{Lines: m.glances[m.list.id()].Changed})
		p.at = slices.IndexFunc(p.Lines, func(l Line) bool { return l.Changed && l.Place.Number > 0 })
		if p.at < 0 {
			p.at = max(slices.IndexFunc(p.Lines, func(l Line) bool { return l.Changed }), 0)
		}
	}
	// Use that line, or the next one that shows a line of a file.
	rest := p.Lines[min(p.at, len(p.Lines)):]
	i := slices.IndexFunc(rest, func(l Line) bool { return l.Place.File != "" })
	if i < 0 {
		m.note = "No line of a file is here."
		return nil
	}
	at := rest[i].Place
	return m.open(func(ctx context.Context) (Text, error) { return read(ctx, at, m.width) })
}

// pressInField handles a key in an input field.
func (m *model) pressInField(key tea.KeyPressMsg) tea.Cmd {
	q := m.list.query
	text := &m.typed
	switch m.field {
	case wordsField:
		text = &q.Words
	case fileField:
		text = &q.File
	case findField, noField:
	}
	switch key.String() {
	case "enter": // keep the text
		if m.field == findField {
			p := m.pages[len(m.pages)-1]
			if p.find = m.typed; !p.next(m.pageRows()) {
				m.note = "Nothing is found."
			}
		}
		m.field = noField
		return nil
	case "esc":
		isFind := m.field == findField
		m.field = noField
		if isFind {
			return nil
		}
		return m.narrow(m.before)
	case "backspace":
		runes := []rune(*text)
		*text = string(runes[:max(len(runes)-1, 0)])
	case "ctrl+u":
		*text = ""
	default:
		*text += key.Text
	}
	return m.narrow(q) // unchanged for findField
}

// narrow shows the rows that a query selects, starting with the first one.
func (m *model) narrow(q Query) tea.Cmd {
	if q == m.list.query {
		return nil
	}
	m.list.query = q
	return m.load(First)
}

func (m *model) move(n int) tea.Cmd {
	m.scroll = 0
	if m.list.move(n) {
		return tea.Batch(m.load(m.list.id()), m.rest())
	}
	return m.rest()
}
