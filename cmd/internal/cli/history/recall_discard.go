package history

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

type recallDiscardOptions struct{ force, dryRun bool }

func newRecallDiscardCmd(a *app.App, opts *outputFlags) *cobra.Command {
	var discard recallDiscardOptions
	cmd := &cobra.Command{
		Use:   "discard <id>...",
		Short: "Remove context checkpoints",
		Long: `Removes context checkpoints permanently; conversations, files and commits are kept. Ids
may be shortened. If one id is wrong, nothing is removed.

EXIT STATUS
  0    done, or cancelled
  1    failure, or no such context checkpoint
  2    wrong usage, or no terminal to ask on
  130  interrupted`,
		Example: `  entire recall discard 3f9a1c --force`,
		Args:    cobra.MinimumNArgs(1),
		RunE: recallRun(a, opts, func(ctx context.Context, r *recalling, args []string) error {
			return r.discard(ctx, args, discard)
		}),
	}
	cmd.ValidArgsFunction = setup.Arguments(a, setup.Contexts)
	f := cmd.Flags()
	f.BoolVarP(&discard.force, "force", "f", false, "don't ask")
	f.BoolVar(&discard.dryRun, "dry-run", false, "only show what would be removed")
	return cmd
}

// recallDiscardJSON is the output of `recall discard --json`.
type recallDiscardJSON struct {
	Discarded bool                  `json:"discarded"` // false with --dry-run
	Items     []recallDiscardedJSON `json:"checkpoints"`
}

type recallDiscardedJSON struct {
	ID      string `json:"id"`
	Summary string `json:"summary"`
}

func (r *recalling) discard(ctx context.Context, prefixes []string, opts recallDiscardOptions) error {
	var ids []string
	for _, prefix := range prefixes {
		id, err := r.find(ctx, prefix)
		if err != nil {
			return err
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	items := make([]recallDiscardedJSON, len(ids))
	for i, id := range ids {
		c, err := r.store.Get(ctx, id)
		switch {
		case errors.Is(err, recall.ErrDamaged): // a damaged one can be removed, too
			c.Summary = "(damaged)"
		case err != nil:
			return recallError(err, id)
		}
		items[i] = recallDiscardedJSON{ID: id, Summary: c.Summary}
	}
	if opts.dryRun {
		return r.showDiscarded("Would discard", recallDiscardJSON{Items: items})
	}
	if !opts.force {
		help := make([]string, len(items))
		for i, item := range items {
			help[i] = item.ID + " " + ui.Line(item.Summary, format.SubjectWidth)
		}
		q := ui.Question{
			Title: "Discard " + ui.Plural(len(items), "context checkpoint") + "?",
			Help:  strings.Join(help, "\n"), Flag: "--force",
		}
		if r.opts.json { // a program can't be asked
			return &ui.NoTerminalError{Title: q.Title, Flag: q.Flag}
		}
		answers, err := r.Prompter.Ask(ctx, q)
		if err != nil {
			return err
		}
		if answers[0] != ui.Yes {
			r.Streams.Printf("Nothing was discarded.\n")
			return nil
		}
	}
	if err := r.store.Discard(ctx, ids...); err != nil {
		return err
	}
	return r.showDiscarded("Discarded", recallDiscardJSON{Discarded: true, Items: items})
}

func (r *recalling) showDiscarded(verb string, j recallDiscardJSON) error {
	if r.opts.json {
		return r.Streams.JSON(j)
	}
	for _, item := range j.Items {
		r.Streams.Printf("%s %s%s\n", verb, item.ID, format.Quoted(item.Summary))
	}
	return nil
}
