package ui

import (
	"context"
	"errors"
	"io"

	"charm.land/huh/v2"
)

// ErrAborted means that the user left a question unanswered.
var ErrAborted = errors.New("cancelled")

// NoTerminalError is a question that nobody can be asked.
type NoTerminalError struct {
	Title string
	Flag  string // answers the question without asking
}

// Error names the flag.
func (e *NoTerminalError) Error() string {
	return "no terminal to ask: " + e.Title + " (use " + e.Flag + ")"
}

// Question is what is asked. Flag is the flag that answers it, named where
// there is no terminal.
type Question struct {
	Title string
	Help  string
	Flag  string
}

// Option is one of several answers: what it is called, and what it means to
// the program.
type Option struct{ Label, Value string }

// Prompter asks on a terminal.
type Prompter struct{ streams Streams }

// NewPrompter asks on the streams. It doesn't touch them before a question.
func NewPrompter(s Streams) *Prompter { return &Prompter{streams: s} }

// Interactive says whether there is somebody to ask.
func (p *Prompter) Interactive() bool {
	return p.streams.Terminal.In && p.streams.Terminal.Err
}

// Select asks for one of the options; the first is the default.
func (p *Prompter) Select(ctx context.Context, q Question, options []Option) (string, error) {
	value := options[0].Value
	choices := make([]huh.Option[string], len(options))
	for i, o := range options {
		choices[i] = huh.NewOption(o.Label, o.Value)
	}
	field := huh.NewSelect[string]().Title(q.Title).Description(q.Help).Options(choices...).Value(&value)
	err := p.ask(ctx, q, field)
	return value, err
}

// Confirm asks a yes or no question; no is the default.
func (p *Prompter) Confirm(ctx context.Context, q Question) (bool, error) {
	var yes bool
	field := huh.NewConfirm().Title(q.Title).Description(q.Help).Value(&yes)
	err := p.ask(ctx, q, field)
	return yes, err
}

func (p *Prompter) ask(ctx context.Context, q Question, field huh.Field) error {
	if !p.Interactive() {
		return &NoTerminalError{Title: q.Title, Flag: q.Flag}
	}
	in := &lines{from: p.streams.In}
	form := huh.NewForm(huh.NewGroup(field)).WithOutput(p.streams.Err).WithShowHelp(true)
	if p.streams.Terminal.Accessible {
		return p.askInLines(ctx, q, form.WithAccessible(true).WithInput(in), in)
	}
	err := form.WithInput(p.streams.In).RunWithContext(ctx)
	if errors.Is(err, huh.ErrUserAborted) || ctx.Err() != nil {
		return ErrAborted
	}
	return err
}

// askInLines runs a form that reads lines. Reading can't be interrupted, so
// when ctx ends the reader is left behind, and dies with the process.
func (p *Prompter) askInLines(ctx context.Context, q Question, form *huh.Form, in *lines) error {
	if q.Help != "" {
		p.streams.Notef("%s", q.Help)
	}
	answered := make(chan error, 1)
	go func() { answered <- form.RunWithContext(ctx) }()
	select {
	case <-ctx.Done():
		return ErrAborted
	case err := <-answered:
		if err == nil && in.ended {
			return ErrAborted
		}
		return err
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
