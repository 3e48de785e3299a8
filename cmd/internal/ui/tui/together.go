package tui

import (
	"context"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// AskTogether is Ask with all questions on one page, each with its default selected, so
// that Enter alone accepts the defaults. It doesn't call Then.
func (p *Prompter) AskTogether(ctx context.Context, heading string, questions ...ui.Question) ([]string, error) {
	if len(questions) == 0 || !p.Interactive() || p.streams.Terminal.Accessible {
		return p.Ask(ctx, questions...)
	}
	s := newSheet(heading, questions, p.streams.Terminal.Plain)
	s.columns, s.rows = p.streams.Size()
	ended, err := Run(ctx, p.streams, s)
	if err != nil {
		return nil, err
	}
	if s, ok := ended.(*sheet); ok && s.accepted {
		return s.answers(), nil
	}
	return nil, ui.ErrAborted
}

// sheet is a page of questions.
type sheet struct {
	ui.Painter

	heading       string
	questions     []ui.Question // each with options
	chosen        []int         // index of the chosen option of each question
	at            int           // the question that receives keys
	columns, rows int
	left          bool // the page was left, with or without accepting it
	accepted      bool
}

func newSheet(heading string, questions []ui.Question, plain bool) *sheet {
	s := &sheet{heading: heading, questions: slices.Clone(questions), chosen: make([]int, len(questions)), Painter: ui.Painter{Plain: plain}}
	for i, q := range s.questions {
		if len(q.Options) == 0 {
			s.questions[i].Options = []ui.Option{{Label: "yes", Value: ui.Yes}, {Label: "no", Value: ui.No}}
		}
		isDefault := func(o ui.Option) bool { return o.Value == q.Fallback() }
		s.chosen[i] = max(slices.IndexFunc(s.questions[i].Options, isDefault), 0)
	}
	return s
}

func (s *sheet) answers() []string {
	values := make([]string, len(s.questions))
	for i, q := range s.questions {
		values[i] = q.Options[s.chosen[i]].Value
	}
	return values
}

// Init implements tea.Model.
func (s *sheet) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (s *sheet) Update(msg tea.Msg) (tea.Model, tea.Cmd) { //nolint:ireturn // as tea has it
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.columns, s.rows = msg.Width, msg.Height
	case tea.KeyPressMsg:
		s.press(msg.String())
	}
	if s.left {
		return s, tea.Quit
	}
	return s, nil
}

func (s *sheet) press(key string) {
	options := s.questions[s.at].Options
	switch key {
	case "enter":
		s.left, s.accepted = true, true
	case "esc", "q", "ctrl+c":
		s.left = true
	case "up", "k", "shift+tab":
		s.at = max(s.at-1, 0)
	case "down", "j", "tab":
		s.at = min(s.at+1, len(s.questions)-1)
	case "left", "h":
		s.chosen[s.at] = max(s.chosen[s.at]-1, 0)
	case "right", "l":
		s.chosen[s.at] = min(s.chosen[s.at]+1, len(options)-1)
	case "space":
		s.chosen[s.at] = (s.chosen[s.at] + 1) % len(options)
	case "y", "n":
		value := map[string]string{"y": ui.Yes, "n": ui.No}[key]
		if i := slices.IndexFunc(options, func(o ui.Option) bool { return o.Value == value }); i >= 0 {
			s.chosen[s.at] = i
		}
	}
}

// View implements tea.Model.
func (s *sheet) View() tea.View {
	if !s.left {
		return tea.NewView(s.render())
	}
	if !s.accepted {
		return tea.NewView("")
	}
	// The answers stay on the terminal.
	lines := make([]string, len(s.questions))
	for i, q := range s.questions {
		lines[i] = ui.Wrap(ui.Escape(q.Title)+" "+ui.Escape(q.Options[s.chosen[i]].Label), max(s.columns, 1))
	}
	return tea.NewView(strings.Join(lines, "\n") + "\n")
}

// render returns the page: at most rows-1 lines of at most columns columns. The last row is
// for the cursor.
func (s *sheet) render() string {
	// Reserve room for the longest help, so that the page doesn't move.
	most := 0
	for i := range s.questions {
		most = max(most, len(s.helpOf(i)))
	}
	help := s.helpOf(s.at)
	help = append(help, make([]string, most-len(help))...)
	var body []string
	first, last := 0, 0 // the lines of the question that receives keys
	for i := range s.questions {
		lines := s.lines(i)
		if i == s.at {
			first, last = len(body), len(body)+len(lines)
		}
		body = append(body, lines...)
	}
	room := max(s.rows-1-len(help)-4, 1) // heading, two empty lines, keys
	if len(body) > room {
		top := min(max(last-room, 0), first)
		body = body[top:min(top+room, len(body))]
	}
	page := append([]string{s.Paint(ui.Bold, s.heading), ""}, body...)
	page = append(page, "")
	page = append(page, help...)
	page = append(page, s.Paint(ui.Dim, "up/down · left/right change · enter accept all · esc leave"))
	if most := max(s.rows-1, 1); len(page) > most {
		page = page[:most]
	}
	for i, line := range page {
		page[i] = strings.TrimRight(ansi.Truncate(line, s.columns, "…"), " ")
	}
	return strings.Join(page, "\n")
}

func (s *sheet) helpOf(i int) []string {
	if s.questions[i].Help == "" {
		return nil
	}
	return append(strings.Split(ui.Wrap(ui.EscapePainted(s.questions[i].Help), max(s.columns, 1)), "\n"), "")
}

// lines returns the lines of a question and its options: one line if all questions fit on
// one line each.
func (s *sheet) lines(i int) []string {
	widest, room := 0, 0
	for k, q := range s.questions {
		widest = max(widest, ansi.StringWidth(ui.Escape(q.Title)))
		room = max(room, ansi.StringWidth(s.options(k)))
	}
	mark := "  "
	if i == s.at {
		mark = "> "
	}
	title := ui.Escape(s.questions[i].Title)
	if 2+widest+3+room <= s.columns {
		return []string{mark + title + strings.Repeat(" ", widest-ansi.StringWidth(title)+3) + s.options(i)}
	}
	const indent = 2
	lines := strings.Split(ui.Wrap(title, max(s.columns-indent, 1)), "\n")
	for k := range lines {
		if k > 0 {
			mark = "  "
		}
		lines[k] = mark + lines[k]
	}
	return append(lines, "    "+s.options(i))
}

// options returns the options of a question, with the chosen one in brackets.
func (s *sheet) options(i int) string {
	parts := make([]string, len(s.questions[i].Options))
	for k, o := range s.questions[i].Options {
		if parts[k] = " " + ui.Escape(o.Label) + " "; k == s.chosen[i] {
			parts[k] = s.Paint(ui.Bold, "["+ui.Escape(o.Label)+"]")
		}
	}
	return strings.Join(parts, " ")
}
