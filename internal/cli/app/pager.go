package app

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/internal/ui"
)

// Page prints a text, on a terminal that is too small for it through a pager.
func (a *App) Page(text string) {
	pager := a.pager()
	if a.Streams.Terminal.Out {
		text = a.Streams.WrapOut(ui.EscapePainted(text))
	}
	if pager.Command == "" || a.Streams.Fits(text) {
		a.Streams.Printf("%s", text)
		return
	}
	shown, err := pager.Show(strings.NewReader(text))
	if err != nil || !shown {
		a.Streams.Printf("%s", text) // plainly, rather than not at all
	}
}

// pager is the user's pager, or less; without a command if there is none, or
// none is wanted.
func (a *App) pager() proc.Pager {
	p := proc.Pager{Command: a.Getenv("PAGER"), Env: a.Environ, Out: a.Streams.Out, Err: a.Streams.Err}
	switch {
	case p.Command == "cat", p.Command == "" && !OnPath(a.Getenv, "less"):
		p.Command = ""
	case p.Command == "":
		p.Command = "less -R"
	}
	for _, entry := range []string{"LESS=FRX", "LV=-c"} { // as git has it
		if name, _, _ := strings.Cut(entry, "="); a.Getenv(name) == "" {
			p.Env = append(slices.Clip(p.Env), entry)
		}
	}
	return p
}
