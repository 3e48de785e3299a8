package setup

import (
	"slices"
	"strings"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/settings"
)

// choice is a question of enable and the effect of its answer.
type choice struct {
	ui.Question

	act func(e *enabling, answer string) error
}

// questions returns the questions that the flags leave open: none if an agent or a strategy is
// given or there is no terminal, and only those about past sessions and the project's proposals if the
// worktree has hooks of an agent.
func (e *enabling) questions() []choice {
	if e.opts.agent != "" || e.opts.strategy != "" || !e.Prompter.Interactive() {
		return nil
	}
	var all []choice
	if !slices.ContainsFunc(e.agents.all, func(h AgentHooks) bool { return h.Installed > 0 && !h.Settings.User }) {
		// The agents that are used here or installed on this machine. The question is asked only if
		// another agent than Claude Code is found.
		q := ui.Question{Title: "Which agents do you use here?", Flag: "--agent"}
		var found []AgentHooks
		var names []string
		for _, h := range e.agents.all {
			if h.InProject || app.OnPath(e.Getenv, h.Agent.Program) {
				found, names = append(found, h), append(names, h.Agent.Name)
				q.Options = append(q.Options, ui.Option{Label: h.Agent.Label, Value: h.Agent.Name})
			}
		}
		if len(found) > 1 {
			q.Options = slices.Insert(q.Options, 0, ui.Option{Label: labels(found), Value: strings.Join(names, ",")})
		}
		if len(found) > 1 || len(found) == 1 && names[0] != ClaudeName {
			all = append(all, choice{q, func(e *enabling, answer string) error {
				named, err := FindAgents(answer)
				e.agents.choose(named)
				return err
			}})
		}
		if !e.opts.local && !e.opts.project && !e.has(settings.Project) && !e.has(settings.Local) {
			all = append(all, choice{
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
			})
		}
		all = append(all, e.extraChoices()...)
	}
	if e.past.Sessions > 0 {
		all = append(all, importChoice(e.Now(), e.past))
	}
	for _, p := range e.is.Pending() {
		if !slices.ContainsFunc(e.accepted, func(a settings.Proposal) bool { return a.Key == p.Key }) {
			all = append(all, proposalChoice(p))
		}
	}
	return all
}

// extraChoices returns the questions about features that need the agent's own program.
func (e *enabling) extraChoices() []choice {
	if !e.agents.hasClaude() || !app.OnPath(e.Getenv, ClaudeProgram) {
		return nil
	}
	var all []choice
	canAsk := false // the MCP server's name is unused, or is our server's
	if !e.opts.mcp && !e.opts.noMCP {
		at, err := CheckAsking(e.App, e.repo)
		canAsk = err == nil && (!at.Found || at.Server.IsOurs())
	}
	if canAsk {
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
					"Your own status line keeps running.",
			},
			func(e *enabling, answer string) error {
				e.opts.line = answer == ui.Yes && e.agents.hasClaude()
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
		Help:  "A project can only propose this setting.",
		Flag:  "--accept " + p.Key,
	}
	switch p.Key {
	case settings.KeyPushRemote:
		q.Title = "The project asks to push recorded sessions to " + value + ". Do it?"
		q.Help = "Sessions contain what you and the agent wrote, with known secrets removed."
	case settings.KeyStrategy:
		q.Title = "The project asks for the strategy " + value + ". Use it?"
		q.Help = "With " + settings.AutoCommit + " each turn of the agent is committed to your branch, without asking."
	case settings.KeyModelPass:
		q.Title = "The project asks to let a model improve saved contexts. Allow it?"
		q.Help = "This runs " + ClaudeLabel + " and uses your tokens."
	case settings.KeySummarize:
		q.Title = "The project asks to summarize each session at commit. Allow it?"
		q.Help = "This runs " + ClaudeLabel + " and uses your tokens."
	}
	return choice{q, func(e *enabling, answer string) error {
		if answer != ui.Yes {
			return nil
		}
		return e.accept(p)
	}}
}
