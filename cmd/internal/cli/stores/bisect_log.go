package stores

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
)

func (c *command) newLog() *cobra.Command {
	return &cobra.Command{
		Use:   "log",
		Short: "Print the results so far, for replay",
		Long: `Prints the last bisect of this tree: the command, the snapshots, and the result and
exit status of each run. "replay" reads the output, also after you removed wrong lines.` + ExitStatus,
		Example: "  " + c.name + " log > bisect.log",
		Args:    cobra.NoArgs,
		RunE: c.with(func(_ context.Context, o *opened, _ []string) error {
			state, err := o.record.Read()
			if err != nil {
				return err
			}
			if c.JSON {
				out := logJSON{
					Command: state.Command, Paths: format.NotNil(state.Paths), Keep: state.Keep, Repeat: state.Repeat,
					Versions: names(state.Versions), Runs: newRunsJSON(state.Runs), Began: format.UTC(state.Began),
				}
				if state.Ended != nil {
					ended := format.UTC(*state.Ended)
					out.Ended = &ended
				}
				return c.PrintJSON(out)
			}
			return c.Streams.Show(state.Log)
		}),
	}
}

func (c *command) newReplay() *cobra.Command {
	var opts runOptions
	cmd := &cobra.Command{
		Use:   "replay FILE [-- COMMAND [ARG]...]",
		Short: "Continue from the output of log",
		Long: `Reads the output of "log" from FILE, or from standard input if FILE is -, and runs the
command for the remaining snapshots. It replaces an unfinished bisect. A different
command may be given.` + ExitStatus,
		Example: "  " + c.name + " replay bisect.log\n  " + c.name + " replay bisect.log -- make check",
		Args:    cobra.MinimumNArgs(1),
		RunE: c.with(func(ctx context.Context, o *opened, args []string) error {
			in := c.Input(ctx)
			if args[0] != "-" {
				file, err := os.Open(c.Absolute(args[0]))
				if err != nil {
					return err
				}
				defer func() { _ = file.Close() }()
				in = file
			}
			const most = 64 << 20
			state, err := diff.ReadBisectLog(io.LimitReader(in, most))
			if err != nil {
				return app.WithHint(err, "`"+c.name+" log` prints lines that can be replayed")
			}
			switch rest := args[1:]; {
			case len(rest) > 0 && rest[0] == "--":
				state.Command = rest[1:]
			case len(rest) > 0:
				return app.Usagef("flags go before the file, the command after --")
			}
			if len(state.Command) == 0 {
				return app.Usagef("the log has no command: add one after --")
			}
			state.Began = c.Now().UTC()
			if err := o.record.Remove(); err != nil {
				return err
			}
			if err := o.record.Write(state); err != nil {
				return err
			}
			return c.search(ctx, o, state, opts)
		}),
	}
	f := cmd.Flags()
	f.SetInterspersed(false)
	f.BoolVarP(&opts.quiet, "quiet", "q", false, "don't show what the command prints")
	f.StringVar(&opts.scratch, "scratch", "", "create the scratch tree in this `FOLDER` (default: TMPDIR)")
	return cmd
}

func (c *command) newReset() *cobra.Command {
	return &cobra.Command{
		Use:     "reset",
		Short:   "Stop the bisect and remove its scratch tree",
		Long:    `Removes the bisect of this tree, finished or not, and its scratch tree.` + ExitStatus,
		Example: "  " + c.name + " reset",
		Args:    cobra.NoArgs,
		RunE: c.with(func(_ context.Context, o *opened, _ []string) error {
			_, err := o.record.Read()
			if errors.Is(err, diff.ErrNoBisect) {
				return err
			}
			if err := o.record.Remove(); err != nil {
				return err
			}
			if c.JSON {
				return c.PrintJSON(resetJSON{Removed: true})
			}
			c.Say("Removed.")
			return nil
		}),
	}
}
