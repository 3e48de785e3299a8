package stores

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
)

// command is the state that the commands below bisect share.
type command struct {
	*Command

	// name is the command line of bisect. records reports whether there are sessions, which name
	// moments and describe turns.
	name    string
	records bool
}

const long = `Finds the first snapshot in which a command fails, by binary search: it runs the
command in the files of about log2(n) snapshots. The files are written to a scratch
tree below TMPDIR; the project is not changed.

The exit status of the command is the result: 0 is good, 125 skips a snapshot that
can't be tested, any other up to 127 is bad, and one above that stops the search.
The first snapshot must be good and the last one bad. At the end the command is run
again in the first bad and the last good snapshot, and a different result is
reported.

For each run the tree has exactly the files of the snapshot, including ignored ones,
with their times. --keep keeps what the command created, such as build output, and
changed files get the current time. The command starts in the root of the scratch
tree, which is not a git repository, with the version in ENTIRE_BISECT. Processes
that it leaves running are stopped.`

// NewBisectCommand returns the command `entire bisect`.
func NewBisectCommand(a *app.App) *cobra.Command {
	c := &command{Command: newSnapshots(a), name: "entire bisect", records: true}
	cmd := c.cobra()
	setup.JSONFlag(cmd.PersistentFlags(), &c.JSON)
	cmd.Annotations = map[string]string{app.WorksDisabled: "yes"}
	return cmd
}

// NewOfStores returns the commands `agentfs bisect` and `entire fs bisect`.
func NewOfStores(f *Command) *cobra.Command {
	return (&command{Command: f, name: f.Program + " bisect"}).cobra()
}

func (c *command) cobra() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "bisect",
		SuggestFor: []string{"regression", "culprit"},
		Short:      "Find the first snapshot in which a command fails",
		Long:       long + ExitStatus,
		Example:    "  " + c.name + " run -- make test\n  " + c.name + " run --continue\n  " + c.name + " log",
		Args:       cobra.NoArgs,
		RunE:       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.newRun(), c.newLog(), c.newReplay(), c.newReset())
	return cmd
}

// opened is the search of a tree, locked against other processes.
type opened struct {
	*Selection

	record *diff.BisectRecord
}

// with locks the search of the selected tree, calls do with it, and explains its error.
func (c *command) with(do func(context.Context, *opened, []string) error) func(*cobra.Command, []string) error {
	return c.Run(func(ctx context.Context, args []string) error {
		s, err := c.Selected(ctx)
		if err != nil {
			return c.explained(err)
		}
		defer s.Close()
		record, err := diff.OpenBisect(ctx, s.Store, s.Options.Lineage)
		if err != nil {
			return c.explained(err)
		}
		err = do(ctx, &opened{s, record}, args)
		return c.explained(errors.Join(err, record.Close()))
	})
}

// explained adds a hint to an error of a search.
func (c *command) explained(err error) error {
	abort, aborted := errors.AsType[*diff.BisectAbortError](err)
	end, wrongEnd := errors.AsType[*diff.BisectEndError](err)
	switch {
	case app.HintOf(err) != "":
		return err
	case errors.Is(err, diff.ErrNoBisect):
		return app.WithHint(err, "`"+c.name+" run -- COMMAND` starts one")
	case errors.Is(err, diff.ErrBisectInUse):
		return app.WithHint(err, "wait until it ends, or interrupt it")
	case aborted && abort.Status > 0:
		return app.WithHint(err, "`"+c.name+" run --continue` tries it again; exit status 125 skips a snapshot")
	case wrongEnd && end.First:
		return app.WithHint(err, "give an earlier or a good snapshot with --from")
	case wrongEnd:
		return app.WithHint(err, "give a snapshot in which the command fails with --to; `"+c.name+" log` has the exit status")
	}
	return err
}
