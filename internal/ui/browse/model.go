package browse

import (
	"context"
	"maps"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/seed-3aff656d/entire/internal/ui"
)

// previewDelay is how long the cursor rests on an item before its preview is made.
const previewDelay = 60 * time.Millisecond

// mode is what keys go to.
type mode int

const (
	inList mode = iota
	inFilter
	inChoices
	inQuestion
)

// model is the page on the screen.
type model struct {
	page          Page
	paint         painter
	width, height int

	mode     mode
	list     list
	whole    bool // all items are there
	loading  bool
	previews map[string]string
	scroll   int // of the preview, in lines
	choices  []Choice
	question ui.Question
	asking   bool // the question is being made
	chosen   int  // of choices, or of the question's options
	result   *Result
	failure  string

	work    context.Context //nolint:containedctx // ends the work when the page is left
	stop    context.CancelFunc
	waiting context.CancelFunc // ends the preview that nobody waits for
	turn    *sync.Mutex        // the page's functions are called one at a time
}

func newModel(ctx context.Context, page Page, paint painter) *model {
	work, stop := context.WithCancel(ctx)
	m := &model{
		page: page, paint: paint, previews: map[string]string{}, whole: page.More == nil,
		list: list{words: map[string]string{}, open: map[string]bool{}, at: -1},
		work: work, stop: stop, waiting: func() {}, turn: &sync.Mutex{},
	}
	m.list.set(page.Items)
	return m
}

// Messages of what was done beside the terminal.
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

// Init is part of tea's model.
func (m *model) Init() tea.Cmd { return m.schedulePreview() }

// Update is part of tea's model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) { //nolint:ireturn // as tea has it
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case cursorRested:
		if msg.id == m.list.id() {
			return m, m.preview(msg.id)
		}
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
		return m, tea.Batch(m.schedulePreview(), m.loadWords(m.withoutWords()))
	case wordsLoaded:
		maps.Copy(m.list.words, msg.words)
		m.list.narrow(m.list.filter)
		return m, tea.Batch(m.schedulePreview(), m.loadWords(msg.left))
	case questionLoaded:
		return m.ask(msg)
	case tea.KeyPressMsg:
		return m.press(msg)
	}
	return m, nil
}

// press does what a key is for.
func (m *model) press(key tea.KeyPressMsg) (tea.Model, tea.Cmd) { //nolint:ireturn // as tea has it
	if key.String() == "ctrl+c" {
		return m, tea.Quit
	}
	switch m.mode {
	case inFilter:
		return m, m.pressInFilter(key)
	case inChoices:
		return m, m.pressInChoices(key.String())
	case inQuestion:
		return m, m.pressInQuestion(key.String())
	case inList:
	}
	return m, m.pressInList(key.String())
}

func (m *model) pressInList(key string) tea.Cmd {
	page := max(m.frame().listRows-1, 1)
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
		return m.loadWords(m.withoutWords())
	case "up", "k":
		return m.move(-1)
	case "down", "j":
		return m.move(1)
	case "pgup", "ctrl+u":
		return m.move(-page)
	case "pgdown", "ctrl+d", "space":
		return m.move(page)
	case "home", "g":
		return m.move(-len(m.list.rows))
	case "end", "G":
		return m.move(len(m.list.rows))
	case "K", "shift+up", "[":
		m.scroll = max(m.scroll-1, 0)
	case "J", "shift+down", "]":
		m.scroll++
	case "enter", "right", "l":
		m.enter()
	default:
		m.number(key)
	}
	return m.schedulePreview()
}

// enter goes on with what is under the cursor.
func (m *model) enter() {
	if m.list.onFold() {
		m.list.toggle()
		return
	}
	if choices := m.choicesHere(); len(choices) > 0 {
		m.mode, m.choices, m.chosen = inChoices, choices, 0
	}
}

// number goes to the choice with a number.
func (m *model) number(key string) {
	choices := m.choicesHere()
	if i := strings.Index("123456789", key); len(key) == 1 && i >= 0 && i < len(choices) {
		m.mode, m.choices, m.chosen = inChoices, choices, i
	}
}

// choicesHere are those of the item under the cursor.
func (m *model) choicesHere() []Choice {
	if m.list.id() == "" {
		return nil
	}
	return m.list.items[m.list.rows[m.list.at].item].Choices
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

func (m *model) pressInChoices(key string) tea.Cmd {
	if m.pressInOptions(key, len(m.choices)) || m.asking {
		return nil
	}
	if key == "enter" {
		m.asking = true
		return m.confirm(m.list.id(), m.choices[m.chosen].Value)
	}
	return nil
}

func (m *model) pressInQuestion(key string) tea.Cmd {
	if m.pressInOptions(key, len(m.question.Options)) || key != "enter" {
		return nil
	}
	m.result.Answer = m.question.Options[m.chosen].Value
	return tea.Quit
}

// pressInOptions moves among so many options, or back to the list.
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

// ask asks the question before a choice counts, if there is one.
func (m *model) ask(msg questionLoaded) (tea.Model, tea.Cmd) { //nolint:ireturn // as tea has it
	if !m.asking || msg.id != m.list.id() {
		return m, nil // it was left meanwhile
	}
	m.asking = false
	m.result = &Result{ID: msg.id, Choice: msg.choice}
	if len(msg.question.Options) == 0 {
		return m, tea.Quit
	}
	m.mode, m.question, m.chosen = inQuestion, msg.question, 0
	return m, nil
}

func (m *model) move(n int) tea.Cmd {
	if m.list.move(n) {
		return tea.Batch(m.schedulePreview(), m.load())
	}
	return m.schedulePreview()
}

// schedulePreview has the preview of the item under the cursor made, once it rests there.
func (m *model) schedulePreview() tea.Cmd {
	id := m.list.id()
	if _, known := m.previews[id]; known || id == "" {
		m.scroll = min(m.scroll, max(strings.Count(m.previews[id], "\n"), 0))
		return nil
	}
	m.scroll = 0
	return tea.Tick(previewDelay, func(time.Time) tea.Msg { return cursorRested{id} })
}

// preview makes a preview, and ends the one before.
func (m *model) preview(id string) tea.Cmd {
	m.waiting()
	ctx, cancel := context.WithCancel(m.work)
	m.waiting = cancel
	return m.inBackground(func() tea.Msg {
		if ctx.Err() != nil {
			return previewLoaded{id: id}
		}
		text := m.page.Preview(ctx, id)
		if ctx.Err() != nil {
			return previewLoaded{id: id}
		}
		return previewLoaded{id, text}
	})
}

// load loads all items, once.
func (m *model) load() tea.Cmd {
	if m.whole || m.loading {
		return nil
	}
	m.loading = true
	return m.inBackground(func() tea.Msg {
		items, err := m.page.More(m.work)
		return itemsLoaded{items, err}
	})
}

// withoutWords are the items whose further words are not known.
func (m *model) withoutWords() []string {
	var ids []string
	for _, item := range m.list.items {
		if _, known := m.list.words[item.ID]; !known {
			ids = append(ids, item.ID)
		}
	}
	return ids
}

// loadWords finds further words of some of the items, and leaves the others for the next time.
func (m *model) loadWords(ids []string) tea.Cmd {
	if m.page.Words == nil || len(ids) == 0 || m.mode != inFilter && m.list.filter == "" {
		return nil
	}
	return m.inBackground(func() tea.Msg {
		const atOnce = 20 // then what was found is shown
		words := map[string]string{}
		n := min(len(ids), atOnce)
		for _, id := range ids[:n] {
			words[id] = strings.ToLower(strings.Join(m.page.Words(m.work, id), "\n"))
		}
		return wordsLoaded{words, ids[n:]}
	})
}

func (m *model) confirm(id, choice string) tea.Cmd {
	if m.page.Confirm == nil {
		return func() tea.Msg { return questionLoaded{id: id, choice: choice} }
	}
	return m.inBackground(func() tea.Msg {
		return questionLoaded{id, choice, m.page.Confirm(m.work, id, choice)}
	})
}

// inBackground calls a function that may take long, one at a time, and none once the page
// was left.
func (m *model) inBackground(do func() tea.Msg) tea.Cmd {
	return func() tea.Msg {
		m.turn.Lock()
		defer m.turn.Unlock()
		if m.work.Err() != nil {
			return nil // the page was left
		}
		return do()
	}
}
