package stores

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

type fsPruneOptions struct {
	keep   int
	dryRun bool
}

func newFSPruneCmd(f *Command) *cobra.Command {
	var opts fsPruneOptions
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Delete old automatic checkpoints",
		Long: `Deletes automatic checkpoints. It keeps all of today, one per hour for a week, and then
one per day; with --keep, or keep_count in config.toml, only that many of the newest.
Checkpoints of commits are kept longest; those you named, and those that a restore
saved in the last seven days, are always kept. If the store exceeds its size, the
oldest are deleted, too.` + ExitStatus,
		Example: "  " + f.Program + " prune --dry-run\n  " + f.Program + " prune --keep 20",
		Args:    cobra.NoArgs,
	}
	cmd.RunE = f.Run(func(ctx context.Context, _ []string) error {
		if cmd.Flags().Changed("keep") && opts.keep < 1 {
			return app.Usagef("--keep must be at least 1")
		}
		s, err := f.Selected(ctx)
		if err != nil {
			return err
		}
		defer s.Close()
		if err := s.RequireTree(); err != nil && !opts.dryRun {
			return err
		}
		if opts.keep == 0 {
			config, err := s.Registry.Config()
			if err != nil {
				f.Streams.Notef("%v: the default applies.", err)
			}
			opts.keep = config.Keep
		}
		pruned, err := prune(ctx, s, opts)
		if err != nil {
			return err
		}
		if f.JSON {
			return f.PrintJSON(prunedJSON{Deleted: versionTexts(pruned.Versions), Freed: pruned.Freed, Before: pruned.Before, DryRun: opts.dryRun})
		}
		verb, freed := "Deleted", "Freed"
		if opts.dryRun {
			verb, freed = "Would delete", "Would free"
		}
		for _, v := range pruned.Versions {
			f.Say("%s %s", verb, v)
		}
		f.Say("%s %s (%s)", freed, format.Size(pruned.Freed), ui.Plural(len(pruned.Versions), f.noun()))
		return nil
	})
	cmd.Flags().IntVar(&opts.keep, "keep", 0, "keep this many automatic "+f.noun()+"s")
	cmd.Flags().BoolVar(&opts.dryRun, "dry-run", false, "only show what would be deleted")
	return cmd
}

// prunedJSON is the output of `prune --json`.
type prunedJSON struct {
	Deleted []string `json:"deleted"`
	Freed   int64    `json:"freed_bytes"`
	Before  int64    `json:"before_bytes"`
	DryRun  bool     `json:"dry_run"`
}

func prune(ctx context.Context, s *Selection, opts fsPruneOptions) (pruned retention.Pruned, err error) {
	held, err := s.HoldLock(ctx, LockWait)
	if err != nil {
		return pruned, err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	policy := s.Policy(opts.keep)
	policy.DryRun = opts.dryRun
	err = s.Command.Streams.Count("Pruning, snapshots", func(tick func(done, total int64)) (err error) {
		policy.Progress = tick
		if s.IsVolume() {
			pruned, err = PruneVolume(ctx, s, held, policy)
			return err
		}
		pruned, err = retention.Prune(ctx, held, policy)
		return err
	})
	if !opts.dryRun {
		s.Forget(ctx, pruned.Versions)
	}
	return pruned, err
}
