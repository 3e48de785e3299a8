package health

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/strategy/cleanup"
)

type resetOptions struct {
	force, json bool
	session     string
}

// NewReset returns the command that removes the shadow branch and the sessions of a commit.
func NewReset(a *app.App) *cobra.Command {
	var opts resetOptions
	cmd := &cobra.Command{
		Use:   "reset",
		Short: "Discard what sessions recorded since the last commit",
		Long: `Discards what sessions of this worktree recorded since the last commit, and removes
their shadow branch: those changes will not be linked to the next commit. Files,
commits, their checkpoints, and other worktrees are not changed. With --session only
that session is discarded, whatever commit it is on.

The checkpoints on the shadow branch are kept under a ref for a month; the command
prints the ref and how to go back to them.

It refuses while an agent is working, unless --force is given.

EXIT STATUS
  0    done, nothing to do, or cancelled
  1    failure, or an agent is working
  2    wrong usage, or no terminal to ask on
  130  interrupted`,
		Example: `  entire reset
  entire reset --session 3f2a9c1e`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("session") && opts.session == "" { // an empty variable must not select all
				return app.Usagef("--session needs an id")
			}
			return runReset(cmd.Context(), a, opts)
		},
	}
	f := cmd.Flags()
	f.BoolVarP(&opts.force, "force", "f", false, "don't ask, even while an agent is working")
	f.StringVar(&opts.session, "session", "", "discard only the session with this id, or prefix of one")
	setup.JSONFlag(f, &opts.json)
	setup.Flag(cmd, "session", setup.FlagValue(a, setup.Sessions))
	return cmd
}

func runReset(ctx context.Context, a *app.App, opts resetOptions) (err error) {
	repo, err := a.Worktree()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	cleaner := cleanup.New(a.Workspace(repo))
	plan, err := cleaner.PlanReset(ctx, opts.session)
	switch {
	case errors.Is(err, cleanup.ErrUnknownSession):
		return app.WithHint(err, "`entire status` shows the sessions")
	case err != nil:
		return err
	case plan.Empty():
		return showReset(a, opts, plan)
	case len(plan.AtWork) > 0 && !opts.force:
		return app.WithHint(fmt.Errorf("an agent is working here: %s", format.Sessions(plan.AtWork)), "end it first, or use --force")
	}
	if !opts.force {
		files := 0
		for _, s := range plan.Sessions {
			files += len(s.FilesTouched)
		}
		q := ui.Question{
			Title: "Discard the uncommitted records of " + ui.Plural(len(plan.Sessions), "session") + "?",
			Help:  ui.Plural(files, "pending file") + " will not be linked to a commit; the files are not changed.",
			Flag:  "--force",
		}
		if plan.Removes {
			q.Help = "The branch " + plan.Branch + " is deleted. " + q.Help
		}
		if opts.json { // a program can't be asked
			return &ui.NoTerminalError{Title: q.Title, Flag: q.Flag}
		}
		answers, err := a.Prompter.Ask(ctx, q)
		if err != nil {
			return err
		}
		if answers[0] != ui.Yes {
			a.Streams.Printf("Nothing was reset.\n")
			return nil
		}
	}
	plan, err = cleaner.Reset(ctx, plan)
	if errors.Is(err, cleanup.ErrMeanwhile) {
		return app.WithHint(fmt.Errorf("nothing was reset: %w", err), "run it again")
	}
	if err != nil {
		return err
	}
	return showReset(a, opts, plan)
}

// resetJSON is the output of `reset --json`; docs/formats/clean.md describes
// it.
type resetJSON struct {
	Branch   string   `json:"branch"`
	Removed  bool     `json:"removed"`
	Kept     string   `json:"kept,omitempty"`
	Sessions []string `json:"sessions"`
}

// showReset prints the result of a reset.
func showReset(a *app.App, opts resetOptions, plan cleanup.Reset) error {
	w := a.Streams
	if opts.json {
		ids := make([]string, len(plan.Sessions))
		for i, s := range plan.Sessions {
			ids[i] = s.ID
		}
		return w.JSON(resetJSON{Branch: plan.Branch, Removed: plan.Removes, Kept: plan.Rescue, Sessions: ids})
	}
	if plan.Empty() {
		w.Printf("Nothing to reset for %s\n", plan.Branch)
		return nil
	}
	for _, s := range plan.Sessions {
		pending := ""
		if n := len(s.FilesTouched); n > 0 {
			pending = " (" + ui.Plural(n, "pending file") + ")"
		}
		w.Printf("%s Discarded session %s%s\n", w.Paint(ui.Green, "✓"), format.Session(s.ID), pending)
	}
	if plan.Removes {
		w.Printf("%s Removed %s\n", w.Paint(ui.Green, "✓"), plan.Branch)
		w.Printf("\nIts checkpoints are kept for a month: entire rewind --to %s\n", plan.Rescue)
	}
	return nil
}
