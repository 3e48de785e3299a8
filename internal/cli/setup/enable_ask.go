package setup

import (
	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/cli/install"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/internal/ui"
)

// choice is a question of enable and what its answer does.
type choice struct {
	ui.Question

	act func(e *enabling, answer string) error
}

func placeChoice() choice {
	return choice{
		ui.Question{
			Title: "Where should the settings go?", Flag: "--project or --local",
			Options: []ui.Option{
				{Label: "For everybody who works here (.entire/settings.json, to be committed)", Value: "project"},
				{Label: "For me alone (.entire/settings.local.json, ignored by git)", Value: "local"},
			},
		},
		func(e *enabling, answer string) error {
			e.opts.project, e.opts.local = answer == "project", answer == "local"
			return nil
		},
	}
}

// extraChoices ask for what needs the agent's own program.
func (e *enabling) extraChoices() []choice {
	if !app.OnPath(e.Getenv, install.ClaudeProgram) {
		return nil
	}
	var all []choice
	if !e.opts.mcp && !e.opts.noMCP {
		all = append(all, choice{
			ui.Question{
				Title: "Shall " + install.ClaudeLabel + " ask before /clear whether to keep a checkpoint of the context?",
				Help:  "It is told of the MCP server `entire mcp`, for you alone. Without it each is kept, and announced afterwards.",
				Flag:  "--mcp or --no-mcp",
			},
			func(e *enabling, answer string) error {
				e.opts.mcp = answer == ui.Yes
				return nil
			},
		})
	}
	if !e.opts.line && !e.opts.noLine {
		all = append(all, choice{
			ui.Question{
				Title: "Shall its status line tell us how full the context is?",
				Help:  "A checkpoint is saved in time then, not by an estimate. A status line of yours goes on running.",
				Flag:  "--statusline or --no-statusline",
			},
			func(e *enabling, answer string) error {
				e.opts.line = answer == ui.Yes
				return nil
			},
		})
	}
	return all
}

func proposalChoice(p settings.Proposal) choice {
	value := ui.Line(p.Value, format.ValueWidth)
	q := ui.Question{
		Title: "The project asks for " + p.Key + " = " + value + ". Set it?",
		Help:  "It is beyond what a project may set by itself.",
		Flag:  "--accept " + p.Key,
	}
	switch p.Key {
	case settings.KeyPushRemote:
		q.Title = "The project asks to push recorded sessions to " + value + ". Do it?"
		q.Help = "Sessions hold what you and the agent wrote, with known secrets taken out."
	case settings.KeyStrategy:
		q.Title = "The project asks for the strategy " + value + ". Use it?"
		q.Help = "With " + settings.AutoCommit + " each turn of the agent is committed to your branch, without a question."
	case settings.KeyModelPass:
		q.Title = "The project asks to let a model improve saved contexts. Do it?"
		q.Help = "It is done by " + install.ClaudeLabel + " and uses your tokens."
	case settings.KeySummarize:
		q.Title = "The project asks for a summary of each session at commit. Make them?"
		q.Help = "A summary is written by " + install.ClaudeLabel + " and uses your tokens."
	}
	return choice{q, func(e *enabling, answer string) error {
		if answer != ui.Yes {
			return nil
		}
		return e.accept(p)
	}}
}
