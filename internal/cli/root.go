// Package cli is the command line of entire and agentfs: it puts the commands of the
// packages below it together, runs one, and maps its error to an exit code.
//
// Only main touches the process: arguments, environment, streams, clock and exit code
// come in and go out through app.Env and Main. Nothing imports this package but main.
package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/cli/cleanup"
	"github.com/seed-3aff656d/entire/internal/cli/config"
	"github.com/seed-3aff656d/entire/internal/cli/health"
	"github.com/seed-3aff656d/entire/internal/cli/history"
	"github.com/seed-3aff656d/entire/internal/cli/hookrun"
	"github.com/seed-3aff656d/entire/internal/cli/rewindcmd"
	"github.com/seed-3aff656d/entire/internal/cli/setup"
	"github.com/seed-3aff656d/entire/internal/cli/stores"
	"github.com/seed-3aff656d/entire/internal/cli/stores/access"
	"github.com/seed-3aff656d/entire/internal/ui"
)

// commands is every command, in the order of the help.
func commands() []func(*app.App) *cobra.Command {
	return []func(*app.App) *cobra.Command{
		setup.NewEnable,
		setup.NewDisable,
		health.NewStatus,
		config.NewCommand,
		health.NewDoctor,
		newVersionCmd,
		rewindcmd.NewCommand,
		history.NewExplain,
		history.NewResume,
		history.NewRecall,
		cleanup.NewClean,
		cleanup.NewReset,
		cleanup.NewForget,
		cleanup.NewRedact,
		stores.NewFS,
		hookrun.NewMCP,
		hookrun.NewHooks,
		hookrun.NewStatusline,
	}
}

// quiet are the commands that the agent and git run by themselves.
func quiet() map[string]func(*app.App) *cobra.Command {
	return map[string]func(*app.App) *cobra.Command{"hooks": hookrun.NewHooks, hookrun.StatuslineCommand: hookrun.NewStatusline}
}

// Main runs one command line and returns the exit code: 0, 1 for a failure, 2
// for wrong usage, 130 if the user interrupted it. Hooks always get 0, so that
// they never block an agent or a commit, not even by a panic; so does the status
// line.
func Main(ctx context.Context, args []string, env app.Env) (code int) {
	a := app.New(env)
	build := commands()
	if len(args) > 0 && quiet()[args[0]] != nil {
		build = []func(*app.App) *cobra.Command{quiet()[args[0]]} // the others cost time, and a hook has no use for them
		defer func() {
			_ = recover() // nothing may come out of a hook; it logs its own panics
			code = app.ExitOK
		}()
	}
	return execute(ctx, a, newRootCmd(a, build), args)
}

// MainFS runs one command line of agentfs and returns the exit code: those of
// Main, and 3 for an unknown store, 4 for an unknown version, 5 for a store
// that is inactive or can't be made active.
func MainFS(ctx context.Context, args []string, env app.Env) int {
	a := app.New(env)
	return execute(ctx, a, newAgentFSCmd(a), args)
}

func execute(ctx context.Context, a *app.App, root *cobra.Command, args []string) int {
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	return report(ctx, a, cmd, err)
}

func newRootCmd(a *app.App, build []func(*app.App) *cobra.Command) *cobra.Command {
	root := &cobra.Command{
		Use:   "entire",
		Short: "Records coding sessions with every commit",
		Long: `Entire records what was said and done in a session with a coding agent, and
links it to the commits that came out of it.

Start with:
  entire enable --agent claude-code
  entire status`,
		Args:        cobra.NoArgs,
		RunE:        func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmd.ValidateFlagGroups(); err != nil { // cobra does it only when the command runs
				return err
			}
			a.Parsed = true
			warnInterrupted(a, cmd)
			return guard(a, cmd)
		},
	}
	dress(a, root)
	for _, b := range build {
		root.AddCommand(b(a))
	}
	return root
}

// dress gives a root command what both programs have in common.
func dress(a *app.App, root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(newHelpCmd(a))
	root.SetOut(a.Streams.Out)
	root.SetErr(a.Streams.Err)
	root.SetIn(a.Streams.In)
}

// guard keeps commands that work on recorded sessions from running where
// recording is disabled.
func guard(a *app.App, cmd *cobra.Command) error {
	for c := cmd; c.HasParent(); c = c.Parent() {
		if c.Annotations[app.WorksDisabled] != "" || c.Name() == "completion" || c.Hidden {
			return nil
		}
	}
	if !cmd.HasParent() {
		return nil
	}
	repo, err := a.Repository()
	if err != nil {
		return nil //nolint:nilerr // the command itself says what it needs
	}
	s := a.Settings(repo)
	if !s.Configured || s.Enabled {
		return nil
	}
	a.Streams.Printf("Entire is disabled. Run `entire enable` to re-enable.\n")
	return app.ErrDone
}

func newHelpCmd(_ *app.App) *cobra.Command {
	return &cobra.Command{
		Use:         "help [command]",
		Short:       "Show help for a command",
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || about == nil || len(rest) > 0 {
				return app.Usagef("unknown help topic %q", strings.Join(args, " "))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// report describes what went wrong and returns the exit code.
func report(ctx context.Context, a *app.App, cmd *cobra.Command, err error) int {
	noTerminal, isNoTerminal := errors.AsType[*ui.NoTerminalError](err)
	_, isUsage := errors.AsType[*app.UsageError](err)
	switch {
	case err == nil, errors.Is(err, app.ErrDone):
		return app.ExitOK
	case errors.Is(err, app.ErrFailed):
		return app.ExitFailure
	case ctx.Err() != nil, errors.Is(err, ui.ErrAborted):
		a.Streams.Notef("Cancelled.")
		return app.ExitInterrupted
	case isNoTerminal:
		fail(a, cmd, "Error: Invalid usage: "+noTerminal.Error(), err)
		return app.ExitUsage
	case isUsage || !a.Parsed:
		a.Streams.Notef("%s", cmd.UsageString())
		fail(a, cmd, "Error: Invalid usage: "+err.Error(), err)
		return app.ExitUsage
	default:
		fail(a, cmd, err.Error(), err)
		return max(app.CodeOf(err), app.ExitFailure)
	}
}

// fail prints an error, for a command with --json as JSON on one line of Out.
func fail(a *app.App, cmd *cobra.Command, text string, err error) {
	hint := app.HintOf(err)
	if f := cmd.Flags().Lookup("json"); f != nil && f.Value.String() == "true" {
		_ = a.Streams.JSONLine(app.ErrorJSON{Error: err.Error(), Hint: hint, Code: app.CodeOf(err)})
		return
	}
	a.Streams.Notef("%s", text)
	if hint != "" {
		a.Streams.Hint(hint)
	}
}

// newAgentFSCmd is agentfs.
func newAgentFSCmd(a *app.App) *cobra.Command {
	root := stores.NewTree(&access.Command{App: a, Program: "agentfs"}, "agentfs")
	root.PersistentPreRun = func(*cobra.Command, []string) { a.Parsed = true }
	dress(a, root)
	root.AddCommand(newVersionCmd(a))
	return root
}
