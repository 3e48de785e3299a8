package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/ui"
)

type fsPruneOptions struct {
	keep   int
	dryRun bool
}

func newFSPruneCmd(f *fsApp) *cobra.Command {
	var opts fsPruneOptions
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Delete automatic checkpoints that are one too many",
		Long: `Deletes automatic checkpoints: all of today stay, then one an hour, after a week
one a day; with --keep, or keep_count in config.toml, the newest of that number.
Those that belong to a commit stay longest; those you named, and what a restore
saved in the last seven days, stay in any case. What the store takes beyond its
size goes too, the oldest first.` + fsExitStatus,
		Example: "  " + f.program + " prune --dry-run\n  " + f.program + " prune --keep 20",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("keep") && opts.keep < 1 {
				return usagef("--keep is at least 1")
			}
			return f.explain(runFSPrune(cmd.Context(), f, opts))
		},
	}
	cmd.Flags().IntVar(&opts.keep, "keep", 0, "keep this many automatic checkpoints")
	cmd.Flags().BoolVar(&opts.dryRun, "dry-run", false, "only show what would be deleted")
	return cmd
}

// prunedJSON is what `prune --json` prints.
type prunedJSON struct {
	Deleted []string `json:"deleted"`
	Freed   int64    `json:"freed_bytes"`
	Before  int64    `json:"before_bytes"`
	DryRun  bool     `json:"dry_run"`
}

func runFSPrune(ctx context.Context, f *fsApp, opts fsPruneOptions) error {
	s, err := f.selected(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.inTree(); err != nil && !opts.dryRun {
		return err
	}
	if opts.keep == 0 {
		config, err := s.known.Config()
		if err != nil {
			return err
		}
		opts.keep = config.Keep
	}
	pruned, err := s.prune(ctx, opts)
	if err != nil {
		return err
	}
	if f.json {
		return f.compact(prunedJSON{Deleted: versionTexts(pruned.Versions), Freed: pruned.Freed, Before: pruned.Before, DryRun: opts.dryRun})
	}
	verb, freed := "Deleted", "Freed"
	if opts.dryRun {
		verb, freed = "Would delete", "Would free"
	}
	for _, v := range pruned.Versions {
		f.say("%s %s", verb, v)
	}
	f.say("%s %s (%s)", freed, shortSize(pruned.Freed), ui.Plural(len(pruned.Versions), "checkpoint"))
	return nil
}

func (s *selection) prune(ctx context.Context, opts fsPruneOptions) (pruned bands.Pruned, err error) {
	held, err := s.hold(ctx, lockWait)
	if err != nil {
		return pruned, err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	policy := s.policy(opts.keep)
	policy.DryRun = opts.dryRun
	err = s.fs.Streams.Progress("Pruning", func() (err error) {
		pruned, err = held.Prune(ctx, policy)
		return err
	})
	if !opts.dryRun {
		s.forget(ctx, pruned.Versions)
	}
	return pruned, err
}
