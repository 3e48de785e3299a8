package stores

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

type fsCheckpointListOptions struct {
	limit int
	all   bool
}

func newFSCheckpointListCmd(f *Command) *cobra.Command {
	var opts fsCheckpointListOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List checkpoints, newest first",
		Long: `Lists the checkpoints of this tree, newest first. Worktrees of a repository share a
store: --all lists the checkpoints of all of them.

With --json it prints a list; docs/formats/agentfs.md describes it.` + ExitStatus,
		Example: "  " + f.Program + " checkpoint list" + "\n  " + f.Program + " checkpoint list --json",
		Args:    cobra.NoArgs,
		RunE: f.Run(func(ctx context.Context, _ []string) error {
			if opts.limit < 0 {
				return app.Usagef("--limit must be at least 1")
			}
			s, err := f.Selected(ctx)
			if err != nil {
				return err
			}
			defer s.Close()
			if f.JSON {
				return f.PrintBareList(ui.JSONList{Key: "snapshots", Entries: func(yield func(any, error) bool) {
					taken := s.TakenBack()
					for snapshot, err := range newest(ctx, s, opts) {
						j := format.NewCheckpointJSON(snapshot)
						j.TakenBack = taken[snapshot.Version]
						if !yield(j, err) {
							return
						}
					}
				}})
			}
			var list []bands.Snapshot
			for snapshot, err := range newest(ctx, s, opts) {
				if err != nil {
					return err
				}
				list = append(list, snapshot)
			}
			if len(list) == 0 {
				f.Streams.Notef("No %ss yet. Create one with `%s`.", f.noun(), f.call("checkpoint create"))
				return nil
			}
			// There is a column of commits only if a snapshot is paired with one.
			paired := slices.ContainsFunc(list, func(s bands.Snapshot) bool { return len(s.Pairs) > 0 })
			table := NewTable("MESSAGE")
			row := func(version, message, created, commit, worktree string) {
				cells := []string{version, message, created}
				if paired {
					cells = append(cells, commit)
				}
				if opts.all {
					cells = append(cells, worktree)
				}
				table.AddRow(cells...)
			}
			taken := s.TakenBack()
			row("VERSION", "MESSAGE", "CREATED", "COMMIT", "WORKTREE")
			for _, snapshot := range list {
				message := cmp.Or(format.TurnText(snapshot), ui.Line(snapshot.Message, format.MessageWidth))
				if taken[snapshot.Version] {
					message = format.TakenBack + ": " + message
				}
				row(snapshot.Version.String(), message, ui.Ago(f.Now(), snapshot.Created), format.PairText(snapshot), format.Path(filepath.Base(snapshot.Root)))
			}
			f.Page(f.Streams.Table(table))
			return nil
		}),
	}
	setup.JSONLinesFlag(f.App, cmd.Flags(), &f.JSON)
	cmd.Flags().IntVar(&opts.limit, "limit", 0, "list at most this many")
	cmd.Flags().BoolVar(&opts.all, "all", false, "list those of all worktrees")
	return cmd
}

// newest reads the selected snapshots, the newest first. At the end it prints a note on unreadable
// ones; if there are no others, it yields the error.
func newest(ctx context.Context, s *Selection, opts fsCheckpointListOptions) iter.Seq2[bands.Snapshot, error] {
	return func(yield func(bands.Snapshot, error) bool) {
		versions, err := s.Versions()
		if err != nil {
			yield(bands.Snapshot{}, err)
			return
		}
		count := 0
		var bad []error
		for _, v := range slices.Backward(versions) {
			if opts.limit > 0 && count == opts.limit {
				break
			}
			snapshot, err := s.Snapshot(v)
			switch {
			case errors.Is(err, bands.ErrNoSnapshot): // deleted meanwhile
			case err != nil:
				bad = append(bad, err)
			case opts.all || snapshot.Lineage == s.Options.Lineage:
				count++
				if !yield(snapshot, nil) {
					return
				}
			}
		}
		if err := errors.Join(bad...); err != nil && count == 0 {
			yield(bands.Snapshot{}, err)
			return
		} else if err != nil {
			s.Command.Streams.Notef("%v", err)
			s.Command.Streams.Hint("`" + s.Command.call("verify") + "` lists what is damaged")
		}
		_, _ = s.Registry.Rows().Checkpoints(ctx, s.Store, 0) // updates the rows of the catalog
	}
}
