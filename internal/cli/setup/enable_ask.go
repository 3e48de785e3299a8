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
			Title: "Who is this for?", Flag: "--project or --local",
			Help: "For everybody: .entire/settings.json and .claude/settings.json, which you commit. " +
				"For you: files that git ignores.",
			Options: []ui.Option{{Label: "everybody here", Value: "project"}, {Label: "only me", Value: "local"}},
		},
		func(e *enabling, answer string) error {
			e.opts.project, e.opts.local = answer == "project", answer == "local"
			return nil
		},
	}
}

// extraChoices ask for what needs the agent's own program.
func (e *enabling) extraChoices() []choice {
	if !e.agents.hasClaude() || !app.OnPath(e.Getenv, install.ClaudeProgram) {
		return nil
	}
	var all []choice
	if !e.opts.mcp && !e.opts.noMCP && e.canAsk() {
		all = append(all, choice{
			ui.Question{
				Title: "Ask before /clear whether to save its context?", Default: ui.Yes, Flag: "--mcp or --no-mcp",
				Help: "Yes registers the MCP server `entire mcp`, for you only. " +
					"If no, every /clear saves the context and says so afterwards.",
			},
			func(e *enabling, answer string) error {
				e.opts.mcp = answer == ui.Yes && e.agents.hasClaude()
				return nil
			},
		})
	}
	if !e.opts.line && !e.opts.noLine {
		all = append(all, choice{
			ui.Question{
				Title: "Read context usage from its status line?", Flag: "--statusline or --no-statusline",
				Help: "Contexts are then saved exactly when needed, not by estimate. " +
					"A status line of yours goes on running.",
			},
			func(e *enabling, answer string) error {
				e.opts.line = answer == ui.Yes && e.agents.hasClaude()
				return nil
			},
		})
	}
	return all
}

// canAsk reports whether the MCP server's name is free, or ours.
func (e *enabling) canAsk() bool {
	at, err := install.CheckAsking(e.App, e.repo)
	return err == nil && (!at.Found || at.Server.Ours())
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
