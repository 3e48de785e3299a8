package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/internal/ui"
)

// worksDisabled annotates a command that runs in a repository where recording
// is disabled, and so do the commands below it.
const worksDisabled = "works-disabled"

// commands is every command, in the order of the help.
func commands() []func(*app) *cobra.Command {
	return []func(*app) *cobra.Command{
		newEnableCmd,
		newDisableCmd,
		newStatusCmd,
		newConfigCmd,
		newDoctorCmd,
		newVersionCmd,
		newRewindCmd,
		newExplainCmd,
		newResumeCmd,
		newRecallCmd,
		newCleanCmd,
		newResetCmd,
		newForgetCmd,
		newRedactCmd,
		newFSCmd,
		newMCPCmd,
		newHooksCmd,
		newStatuslineCmd,
	}
}

// quiet are the commands that the agent and git run by themselves.
func quiet() map[string]func(*app) *cobra.Command {
	return map[string]func(*app) *cobra.Command{"hooks": newHooksCmd, statuslineCommand: newStatuslineCmd}
}

// Main runs one command line and answers the exit code: 0, 1 for a failure, 2
// for wrong usage, 130 if the user interrupted it. Hooks always get 0, so that
// they never block an agent or a commit, not even by a panic; so does the status
// line.
func Main(ctx context.Context, args []string, env Env) (code int) {
	a := newApp(env)
	build := commands()
	if len(args) > 0 && quiet()[args[0]] != nil {
		build = []func(*app) *cobra.Command{quiet()[args[0]]} // the others cost time, and a hook has no use for them
		defer func() {
			_ = recover() // nothing may come out of a hook; it logs its own panics
			code = exitOK
		}()
	}
	return a.execute(ctx, newRootCmd(a, build), args)
}

// MainFS runs one command line of agentfs and answers the exit code: those of
// Main, and 3 for an unknown store, 4 for an unknown version, 5 for a store
// that is inactive or can't be made active.
func MainFS(ctx context.Context, args []string, env Env) int {
	a := newApp(env)
	return a.execute(ctx, newAgentFSCmd(a), args)
}

func (a *app) execute(ctx context.Context, root *cobra.Command, args []string) int {
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	return a.report(ctx, cmd, err)
}

func newRootCmd(a *app, build []func(*app) *cobra.Command) *cobra.Command {
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
		Annotations: map[string]string{worksDisabled: "yes"},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmd.ValidateFlagGroups(); err != nil { // cobra does it only when the command runs
				return err
			}
			a.running = true
			a.warnInterrupted(cmd)
			return a.guard(cmd)
		},
	}
	a.dress(root)
	for _, b := range build {
		root.AddCommand(b(a))
	}
	return root
}

// dress gives a root command what both programs have in common.
func (a *app) dress(root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.HiddenDefaultCmd = true
	root.SetHelpCommand(newHelpCmd(a))
	root.SetOut(a.Streams.Out)
	root.SetErr(a.Streams.Err)
	root.SetIn(a.Streams.In)
}

// guard keeps commands that work on recorded sessions from running where
// recording is disabled.
func (a *app) guard(cmd *cobra.Command) error {
	for c := cmd; c.HasParent(); c = c.Parent() {
		if c.Annotations[worksDisabled] != "" || c.Name() == "completion" || c.Hidden {
			return nil
		}
	}
	if !cmd.HasParent() {
		return nil
	}
	repo, err := a.repository()
	if err != nil {
		return nil //nolint:nilerr // the command itself says what it needs
	}
	s := a.settings(repo)
	if !s.Configured || s.Enabled {
		return nil
	}
	a.Streams.Printf("Entire is disabled. Run `entire enable` to re-enable.\n")
	return errDone
}

func newHelpCmd(_ *app) *cobra.Command {
	return &cobra.Command{
		Use:         "help [command]",
		Short:       "Show help for a command",
		Annotations: map[string]string{worksDisabled: "yes"},
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || about == nil || len(rest) > 0 {
				return usagef("unknown help topic %q", strings.Join(args, " "))
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
	}
}

// report says what went wrong and answers the exit code.
func (a *app) report(ctx context.Context, cmd *cobra.Command, err error) int {
	noTerminal, isNoTerminal := errors.AsType[*ui.NoTerminalError](err)
	_, isUsage := errors.AsType[*usageError](err)
	switch {
	case err == nil, errors.Is(err, errDone):
		return exitOK
	case errors.Is(err, errFailed):
		return exitFailure
	case ctx.Err() != nil, errors.Is(err, ui.ErrAborted):
		a.Streams.Notef("Cancelled.")
		return exitInterrupted
	case isNoTerminal:
		a.fail(cmd, "Error: Invalid usage: "+noTerminal.Error(), err)
		return exitUsage
	case isUsage || !a.running:
		a.Streams.Notef("%s", cmd.UsageString())
		a.fail(cmd, "Error: Invalid usage: "+err.Error(), err)
		return exitUsage
	default:
		a.fail(cmd, err.Error(), err)
		return max(ownCode(err), exitFailure)
	}
}

// fail prints an error, for a command with --json as JSON on one line of Out.
func (a *app) fail(cmd *cobra.Command, text string, err error) {
	hint := hintOf(err)
	if f := cmd.Flags().Lookup("json"); f != nil && f.Value.String() == "true" {
		_ = a.Streams.JSONLine(jsonError{Error: err.Error(), Hint: hint, Code: ownCode(err)})
		return
	}
	a.Streams.Notef("%s", text)
	if hint != "" {
		a.Streams.Hint(hint)
	}
}
