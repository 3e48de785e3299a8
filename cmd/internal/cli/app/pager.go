package app

import (
	"io"
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// Page prints text, escaped, through a pager if it doesn't fit on the terminal.
func (a *App) Page(text string) {
	a.page(a.Streams.Shown(text))
}

// PageOutput calls show with streams whose output it prints afterwards, through a pager if it doesn't
// fit on the terminal.
func (a *App) PageOutput(show func(ui.Streams) error) error {
	if !a.Streams.Terminal.Out || a.pager().Command == "" {
		return show(a.Streams)
	}
	var text strings.Builder
	err := show(a.Streams.Into(&text))
	a.page(text.String())
	return err
}

// PageText is PageOutput for a function that can't fail.
func (a *App) PageText(show func(ui.Streams)) {
	_ = a.PageOutput(func(s ui.Streams) error {
		show(s)
		return nil
	})
}

// page prints a text that is safe for a terminal.
func (a *App) page(text string) {
	pager := a.pager()
	plainly := func() { _, _ = io.WriteString(a.Streams.Out, text) }
	if pager.Command == "" || a.Streams.Fits(text) {
		plainly()
		return
	}
	if shown, err := pager.Show(strings.NewReader(text)); err != nil || !shown {
		plainly() // without the pager
	}
}

// pager returns the user's pager, by default less; its Command is empty if there is none or the
// user wants none.
func (a *App) pager() proc.Pager {
	p := proc.Pager{Command: a.Getenv("PAGER"), Env: a.Environ, Out: a.Streams.Inherited(), Err: a.Streams.Err}
	switch {
	case p.Command == "cat", p.Command == "" && !OnPath(a.Getenv, "less"):
		p.Command = ""
	case p.Command == "":
		p.Command = "less -R"
	}
	for _, entry := range []string{"LESS=FRX", "LV=-c"} { // as in git
		if name, _, _ := strings.Cut(entry, "="); a.Getenv(name) == "" {
			p.Env = append(slices.Clip(p.Env), entry)
		}
	}
	return p
}
