package cli

import (
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/internal/ui"
)

// choice is a question of enable and what its answer does.
type choice struct {
	ui.Question

	act func(e *enabling, answer string) error
}

func agentChoice() choice {
	return choice{
		ui.Question{
			Title: "Which agent do you work with?", Flag: "--agent",
			Options: []ui.Option{{Label: claudeLabel, Value: claudeName}},
		},
		func(*enabling, string) error { return nil }, // there is only one yet
	}
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

func proposalChoice(p settings.Proposal) choice {
	q := ui.Question{
		Title: "The project asks to push recorded sessions to " + ui.Line(p.Value, 200) + ". Do it?",
		Help:  "Sessions hold what you and the agent wrote, with known secrets taken out.",
		Flag:  settings.Variable(p.Key),
	}
	switch p.Key {
	case settings.KeyModelPass:
		q.Title = "The project asks to let a model improve saved contexts. Do it?"
		q.Help = "It is done by " + claudeLabel + " and uses your tokens."
	case settings.KeySummarize:
		q.Title = "The project asks for a summary of each session at commit. Make them?"
		q.Help = "A summary is written by " + claudeLabel + " and uses your tokens."
	}
	return choice{q, func(e *enabling, answer string) error {
		if answer != ui.Yes {
			return nil
		}
		return e.accept(p)
	}}
}
