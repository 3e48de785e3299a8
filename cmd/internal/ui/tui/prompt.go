// Package tui asks questions, and runs what lists on the whole screen have in common. It is apart
// from package ui so that hooks start without the libraries for terminals.
package tui

import (
	"context"
	"errors"
	"io"
	"slices"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// Prompter asks questions on a terminal.
type Prompter struct{ streams ui.Streams }

// NewPrompter returns a Prompter for the streams. It doesn't use them before a question.
func NewPrompter(s ui.Streams) *Prompter { return &Prompter{streams: s} }

// Interactive reports whether questions can be asked, that is, In and Err are terminals.
func (p *Prompter) Interactive() bool {
	return p.streams.Terminal.In && p.streams.Terminal.Err
}

// Ask shows the questions in one form, and returns an option's value or Yes or No for each.
// Questions that belong together must be asked in one call: a second form in one process
// may lose its first key to the first form's reader.
func (p *Prompter) Ask(ctx context.Context, questions ...ui.Question) ([]string, error) {
	if len(questions) == 0 {
		return nil, nil
	}
	if !p.Interactive() {
		return nil, &ui.NoTerminalError{Title: questions[0].Title, Flag: questions[0].Flag}
	}
	if p.streams.Terminal.Accessible {
		return p.askOneByOne(ctx, questions)
	}
	answers := make([]string, len(questions))
	groups := make([]*huh.Group, len(questions))
	columns, rows := p.streams.Size()
	on := page{columns - frameWidth, rows - 1} // the last row is for the cursor
	for i, q := range questions {
		if q.Then == nil {
			groups[i] = huh.NewGroup(field(q, &answers[i], on))
			continue
		}
		// The question depends on the previous answers; its help and options change with
		// them.
		before := answers[:i]
		choices := func() []huh.Option[string] {
			_, options := q.Then(before)
			return choicesOf(options, on)
		}
		help := func() string {
			text, _ := q.Then(before)
			return ui.EscapePainted(text)
		}
		ask := huh.NewSelect[string]().Title(ui.Escape(q.Title)).DescriptionFunc(help, before).OptionsFunc(choices, before)
		groups[i] = huh.NewGroup(ask.Value(&answers[i]).Height(on.rows - keysHeight)).WithHideFunc(func() bool { return len(choices()) == 0 })
	}
	form := huh.NewForm(groups...).WithOutput(p.streams.Err)
	// Without a height, each page is as high as the first list, and a list longer than the
	// screen hides its title and the keys.
	needsPage := func(q ui.Question) bool { return q.Then != nil || len(q.Options)+keysHeight+1 > on.rows }
	if slices.ContainsFunc(questions, needsPage) {
		form.WithHeight(on.rows)
	}
	// Esc and q leave the form like Ctrl-C, unless they are typed into the filter of a
	// list.
	form.WithProgramOptions(tea.WithFilter(func(_ tea.Model, msg tea.Msg) tea.Msg {
		pressed, ok := msg.(tea.KeyPressMsg)
		if !ok || pressed.String() != "esc" && pressed.String() != "q" {
			return msg
		}
		if list, ok := form.GetFocusedField().(*huh.Select[string]); ok && list.GetFiltering() {
			return msg
		}
		return tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl}
	}))
	err := form.WithInput(p.streams.In).RunWithContext(ctx)
	if errors.Is(err, huh.ErrUserAborted) || ctx.Err() != nil {
		return nil, ui.ErrAborted
	}
	return answers, err
}

// askOneByOne asks each question in lines of text with a form of its own.
func (p *Prompter) askOneByOne(ctx context.Context, questions []ui.Question) ([]string, error) {
	answers := make([]string, len(questions))
	in := &lines{from: p.streams.In}
	for i, q := range questions {
		if q.Then != nil {
			var help string
			help, q.Options = q.Then(answers[:i])
			if len(q.Options) == 0 {
				continue
			}
			p.streams.Notef("%s", help)
		} else if q.Help != "" {
			q.Title += " " + q.Help // these forms don't show it
		}
		form := huh.NewForm(huh.NewGroup(field(q, &answers[i], page{}))).WithOutput(p.streams.Err).WithAccessible(true).WithInput(in)
		// Reading can't be interrupted. When ctx ends, the reader is abandoned until the
		// process exits.
		answered := make(chan error, 1)
		go func() { answered <- form.RunWithContext(ctx) }()
		select {
		case <-ctx.Done():
			return nil, ui.ErrAborted
		case err := <-answered:
			if err == nil && in.ended {
				err = ui.ErrAborted
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return answers, nil
}

// page is the space for a question.
type page struct{ columns, rows int }

const (
	// keysHeight is the number of rows of the line about keys, including empty ones.
	keysHeight = 2
	// frameWidth is the number of columns to the left of a choice.
	frameWidth = 5
)

// choicesOf returns the choices for options. In a long list each is cut to one line; in a
// short one they wrap.
func choicesOf(options []ui.Option, on page) []huh.Option[string] {
	choices := make([]huh.Option[string], len(options))
	for i, o := range options {
		label := []rune(ui.Escape(o.Label))
		if len(options) > on.rows/2 && on.columns > 1 && len(label) > on.columns {
			label = append(label[:on.columns-1], '…')
		}
		choices[i] = huh.NewOption(string(label), o.Value)
	}
	return choices
}

func field(q ui.Question, answer *string, on page) huh.Field { //nolint:ireturn // one of two kinds of field
	*answer = q.Fallback()
	if len(q.Options) == 0 {
		return huh.NewConfirm().Title(ui.Escape(q.Title)).Description(ui.EscapePainted(q.Help)).Accessor(&yesNo{answer})
	}
	return huh.NewSelect[string]().Title(ui.Escape(q.Title)).Description(ui.EscapePainted(q.Help)).Options(choicesOf(q.Options, on)...).Value(answer)
}

// yesNo stores the answer of a yes or no question as a word.
type yesNo struct{ answer *string }

// Get implements huh.Accessor.
func (y *yesNo) Get() bool { return *y.answer == ui.Yes }

// Set implements huh.Accessor.
func (y *yesNo) Set(yes bool) {
	*y.answer = ui.No
	if yes {
		*y.answer = ui.Yes
	}
}

// lines reads a line at a time, so that a form that buffers its input doesn't consume the
// next form's answer. It records whether the input ended before an answer.
type lines struct {
	from  io.Reader
	ended bool
}

// Read reads at most to the end of a line.
func (l *lines) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		got, err := l.from.Read(p[n : n+1])
		n += got
		if got > 0 && p[n-1] == '\n' {
			return n, nil
		}
		if err != nil {
			l.ended = errors.Is(err, io.EOF) && n == 0
			return n, err
		}
	}
	return n, nil
}
