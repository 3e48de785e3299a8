package browse

import (
	"context"
	"maps"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/cmd/internal/ui/tui"
)

// previewDelay is the time for which the cursor must rest on an item before its preview is
// loaded.
const previewDelay = 60 * time.Millisecond

// mode is the part of the page that receives keys.
type mode int

const (
	inList mode = iota
	inFilter
	inChoices
	inQuestion
)

// model is the state of the page on the screen.
type model struct {
	page          Page
	paint         ui.Painter
	width, height int

	mode     mode
	list     list
	whole    bool // all items are loaded
	loading  bool
	previews map[string]string
	scroll   int // of the preview, in lines
	choices  []Choice
	question ui.Question
	asking   bool // the question is being loaded
	chosen   int  // index in choices or in the question's options
	result   *Result
	failure  string

	calls *tui.Calls
}

func newModel(ctx context.Context, page Page, paint ui.Painter) *model {
	m := &model{
		page: page, paint: paint, previews: map[string]string{}, whole: page.More == nil,
		list:  list{words: map[string]string{}, open: map[string]bool{}, at: -1},
		calls: tui.NewCalls(ctx),
	}
	m.list.set(page.Items)
	return m
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return m.schedulePreview() }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) { //nolint:ireturn // as tea has it
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case cursorRested:
		if msg.id != m.list.id() {
			return m, nil
		}
		ctx := m.calls.Latest()
		return m, m.calls.Run(func() tea.Msg {
			if ctx.Err() != nil {
				return previewLoaded{id: msg.id}
			}
			text := m.page.Preview(ctx, msg.id)
			if ctx.Err() != nil {
				return previewLoaded{id: msg.id}
			}
			return previewLoaded{msg.id, text}
		})
	case previewLoaded:
		if msg.text != "" {
			m.previews[msg.id] = msg.text
		}
	case itemsLoaded:
		m.loading, m.whole = false, msg.err == nil
		if msg.err != nil {
			m.failure = msg.err.Error()
			return m, nil
		}
		m.list.set(msg.items)
		return m, tea.Batch(m.schedulePreview(), m.loadWords(m.list.withoutWords()))
	case wordsLoaded:
		maps.Copy(m.list.words, msg.words)
		m.list.narrow(m.list.filter)
		return m, tea.Batch(m.schedulePreview(), m.loadWords(msg.left))
	case questionLoaded:
		if !m.asking || msg.id != m.list.id() {
			return m, nil // the choices were left meanwhile
		}
		m.asking = false
		m.result = &Result{ID: msg.id, Choice: msg.choice}
		if len(msg.question.Options) == 0 {
			return m, tea.Quit
		}
		m.mode, m.question, m.chosen = inQuestion, msg.question, 0
	case tea.KeyPressMsg:
		return m.press(msg)
	}
	return m, nil
}

// press handles a key.
func (m *model) press(key tea.KeyPressMsg) (tea.Model, tea.Cmd) { //nolint:ireturn // as tea has it
	if key.String() == "ctrl+c" {
		return m, tea.Quit
	}
	switch m.mode {
	case inFilter:
		return m, m.pressInFilter(key)
	case inChoices:
		if m.pressInOptions(key.String(), len(m.choices)) || m.asking || key.String() != "enter" {
			return m, nil
		}
		m.asking = true
		// A question may have to be answered first; one without options is not asked.
		id, choice := m.list.id(), m.choices[m.chosen].Value
		if m.page.Confirm == nil {
			return m, func() tea.Msg { return questionLoaded{id: id, choice: choice} }
		}
		return m, m.calls.Run(func() tea.Msg {
			return questionLoaded{id, choice, m.page.Confirm(m.calls.Context, id, choice)}
		})
	case inQuestion:
		if m.pressInOptions(key.String(), len(m.question.Options)) || key.String() != "enter" {
			return m, nil
		}
		m.result.Answer = m.question.Options[m.chosen].Value
		return m, tea.Quit
	case inList:
	}
	return m, m.pressInList(key.String())
}

func (m *model) pressInList(key string) tea.Cmd {
	if n, ok := tui.Step(key, max(m.frame().listRows-1, 1), len(m.list.rows)); ok {
		return m.move(n)
	}
	switch key {
	case "q":
		return tea.Quit
	case "esc":
		if m.list.filter == "" {
			return tea.Quit
		}
		m.list.narrow("")
	case "/":
		m.mode = inFilter
		return m.loadWords(m.list.withoutWords())
	case "K", "shift+up", "[":
		m.scroll = max(m.scroll-1, 0)
	case "J", "shift+down", "]":
		m.scroll++
	case "enter", "right", "l":
		if m.list.onFold() {
			m.list.toggle()
		} else if choices := m.list.choices(); len(choices) > 0 {
			m.mode, m.choices, m.chosen = inChoices, choices, 0
		}
	default:
		choices := m.list.choices()
		if i := strings.Index("123456789", key); len(key) == 1 && i >= 0 && i < len(choices) {
			m.mode, m.choices, m.chosen = inChoices, choices, i
		}
	}
	return m.schedulePreview()
}

func (m *model) pressInFilter(key tea.KeyPressMsg) tea.Cmd {
	switch key.String() {
	case "esc":
		m.mode = inList
		m.list.narrow("")
	case "enter":
		m.mode = inList
	case "up":
		return m.move(-1)
	case "down":
		return m.move(1)
	case "backspace":
		text := []rune(m.list.filter)
		m.list.narrow(string(text[:max(len(text)-1, 0)]))
	case "ctrl+u":
		m.list.narrow("")
	default:
		if key.Text != "" {
			m.list.narrow(m.list.filter + key.Text)
		}
	}
	return tea.Batch(m.schedulePreview(), m.load())
}

// pressInOptions moves among a number of options, or back to the list. It reports whether
// it handled the key.
func (m *model) pressInOptions(key string, options int) bool {
	switch key {
	case "esc", "q", "left", "h":
		m.mode, m.result, m.asking = inList, nil, false
	case "up", "k":
		m.chosen = max(m.chosen-1, 0)
	case "down", "j":
		m.chosen = min(m.chosen+1, options-1)
	default:
		i := strings.Index("123456789", key)
		if len(key) != 1 || i < 0 || i >= options {
			return false
		}
		m.chosen = i
	}
	return true
}

func (m *model) move(n int) tea.Cmd {
	if m.list.move(n) {
		return tea.Batch(m.schedulePreview(), m.load())
	}
	return m.schedulePreview()
}

// schedulePreview loads the preview of the item under the cursor once the cursor rests
// there.
func (m *model) schedulePreview() tea.Cmd {
	id := m.list.id()
	if _, known := m.previews[id]; known || id == "" {
		m.scroll = min(m.scroll, max(strings.Count(m.previews[id], "\n"), 0))
		return nil
	}
	m.scroll = 0
	return tea.Tick(previewDelay, func(time.Time) tea.Msg { return cursorRested{id} })
}

// load loads all items, once.
func (m *model) load() tea.Cmd {
	if m.whole || m.loading {
		return nil
	}
	m.loading = true
	return m.calls.Run(func() tea.Msg {
		items, err := m.page.More(m.calls.Context)
		return itemsLoaded{items, err}
	})
}

// loadWords loads further words of the first of the items, if there is a filter; its
// message has the others for the next call.
func (m *model) loadWords(ids []string) tea.Cmd {
	if m.page.Words == nil || len(ids) == 0 || m.mode != inFilter && m.list.filter == "" {
		return nil
	}
	return m.calls.Run(func() tea.Msg {
		const atOnce = 20 // items, then the result is shown
		words := map[string]string{}
		n := min(len(ids), atOnce)
		for _, id := range ids[:n] {
			words[id] = strings.ToLower(strings.Join(m.page.Words(m.calls.Context, id), "\n"))
		}
		return wordsLoaded{words, ids[n:]}
	})
}

// The messages with results of calls.
type (
	cursorRested  struct{ id string }
	previewLoaded struct{ id, text string }
	itemsLoaded   struct {
		items []Item
		err   error
	}
	questionLoaded struct {
		id, choice string
		question   ui.Question
	}
	wordsLoaded struct {
		words map[string]string
		left  []string
	}
)
