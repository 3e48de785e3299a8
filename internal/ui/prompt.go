package ui

import (
	"context"
	"errors"
	"io"
	"slices"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
)

// ErrAborted means that the user left a question unanswered.
var ErrAborted = errors.New("cancelled")

// NoTerminalError is a question that nobody can be asked.
type NoTerminalError struct {
	Title string
	Flag  string // replaces the question
}

// Error names the flag.
func (e *NoTerminalError) Error() string {
	return "can't ask without a terminal: " + e.Title + " (pass " + e.Flag + ")"
}

// Question is what is asked: one of several options, of which the first is the
// default, or yes or no, where no is unless Default is Yes. Flag is the flag that
// answers it, named where there is no terminal.
type Question struct {
	Title   string
	Help    string
	Flag    string
	Options []Option
	Default string
	// Then makes Help and Options, which count in place of the others, of the
	// answers to the questions before. No options: the question isn't asked, and
	// its answer is empty. It may be called more than once.
	Then func(earlier []string) (help string, options []Option)
}

// fallback is the answer that a question has before somebody chose one.
func (q Question) fallback() string {
	switch {
	case len(q.Options) > 0:
		return q.Options[0].Value
	case q.Default == Yes:
		return Yes
	}
	return No
}

// Option is one of several answers: what it is called, and what it means to
// the program.
type Option struct{ Label, Value string }

// The answers to a question without options.
const (
	Yes = "yes"
	No  = "no"
)

// Prompter asks on a terminal.
type Prompter struct{ streams Streams }

// NewPrompter asks on the streams. It doesn't touch them before a question.
func NewPrompter(s Streams) *Prompter { return &Prompter{streams: s} }

// Interactive reports whether questions can be asked: there is a terminal.
func (p *Prompter) Interactive() bool {
	return p.streams.Terminal.In && p.streams.Terminal.Err
}

// Ask puts the questions on one form, and returns an option's value or Yes or
// No for each. They belong together: a second form in one process may lose the
// first key typed into it, to the first form's reader.
func (p *Prompter) Ask(ctx context.Context, questions ...Question) ([]string, error) {
	if len(questions) == 0 {
		return nil, nil
	}
	if !p.Interactive() {
		return nil, &NoTerminalError{Title: questions[0].Title, Flag: questions[0].Flag}
	}
	if p.streams.Terminal.Accessible {
		return p.askOneByOne(ctx, questions)
	}
	answers := make([]string, len(questions))
	groups := make([]*huh.Group, len(questions))
	columns, rows := p.streams.Size()
	on := page{columns - frameWidth, rows - 1} // the last row is the cursor's
	for i, q := range questions {
		if q.Then == nil {
			groups[i] = huh.NewGroup(field(q, &answers[i], on))
			continue
		}
		// The question depends on the answers before it; what is behind it changes with them.
		before := answers[:i]
		choices := func() []huh.Option[string] {
			_, options := q.Then(before)
			return choicesOf(options, on)
		}
		help := func() string {
			text, _ := q.Then(before)
			return EscapePainted(text)
		}
		ask := huh.NewSelect[string]().Title(Escape(q.Title)).DescriptionFunc(help, before).OptionsFunc(choices, before)
		groups[i] = huh.NewGroup(ask.Value(&answers[i]).Height(on.rows - keysHeight)).WithHideFunc(func() bool { return len(choices()) == 0 })
	}
	form := huh.NewForm(groups...).WithOutput(p.streams.Err)
	// Else each page is as high as the first list, and a list longer than the screen hides
	// its title and the keys.
	needsPage := func(q Question) bool { return q.Then != nil || len(q.Options)+keysHeight+1 > on.rows }
	if slices.ContainsFunc(questions, needsPage) {
		form.WithHeight(on.rows)
	}
	// Esc and q leave the form, as Ctrl-C does, unless they are typed into the filter of a list.
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
		return nil, ErrAborted
	}
	return answers, err
}

// askOneByOne asks in lines, where forms don't get in each other's way.
func (p *Prompter) askOneByOne(ctx context.Context, questions []Question) ([]string, error) {
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
			q.Title += " " + q.Help // which is not shown there
		}
		form := huh.NewForm(huh.NewGroup(field(q, &answers[i], page{}))).WithOutput(p.streams.Err).WithAccessible(true).WithInput(in)
		// Reading can't be interrupted: when ctx ends the reader is left behind, and dies with
		// the process.
		answered := make(chan error, 1)
		go func() { answered <- form.RunWithContext(ctx) }()
		select {
		case <-ctx.Done():
			return nil, ErrAborted
		case err := <-answered:
			if err == nil && in.ended {
				err = ErrAborted
			}
			if err != nil {
				return nil, err
			}
		}
	}
	return answers, nil
}

// page is the room that a question has.
type page struct{ columns, rows int }

const (
	// keysHeight is how many rows the line about keys takes, with those around it.
	keysHeight = 2
	// frameWidth is how many columns are left of a choice.
	frameWidth = 5
)

// choicesOf are the options, of a long list each cut to one line; those of a short one wrap.
func choicesOf(options []Option, on page) []huh.Option[string] {
	choices := make([]huh.Option[string], len(options))
	for i, o := range options {
		label := []rune(Escape(o.Label))
		if len(options) > on.rows/2 && on.columns > 1 && len(label) > on.columns {
			label = append(label[:on.columns-1], '…')
		}
		choices[i] = huh.NewOption(string(label), o.Value)
	}
	return choices
}

func field(q Question, answer *string, on page) huh.Field { //nolint:ireturn // one of two kinds of field
	*answer = q.fallback()
	if len(q.Options) == 0 {
		return huh.NewConfirm().Title(Escape(q.Title)).Description(EscapePainted(q.Help)).Accessor(&yesNo{answer})
	}
	return huh.NewSelect[string]().Title(Escape(q.Title)).Description(EscapePainted(q.Help)).Options(choicesOf(q.Options, on)...).Value(answer)
}

// yesNo lets a yes or no question answer with a word.
type yesNo struct{ answer *string }

// Get is part of huh's accessor.
func (y *yesNo) Get() bool { return *y.answer == Yes }

// Set is part of huh's accessor.
func (y *yesNo) Set(yes bool) {
	*y.answer = No
	if yes {
		*y.answer = Yes
	}
}

// lines reads a line at a time, so that a form that buffers its input doesn't
// take the next form's answer. It notes an input that ended before an answer.
type lines struct {
	from  io.Reader
	ended bool
}

// Read reads no further than the end of a line.
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
