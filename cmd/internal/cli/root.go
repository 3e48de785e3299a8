// Package cli is the command line of entire and agentfs: it assembles the commands of the packages
// below it, runs one, and maps its error to an exit code.
//
// Only main accesses the process: arguments, environment, streams, clock and exit code pass through
// app.Env and Main. No package but main imports this one.
package cli

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/health"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/history"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/hookrun"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/rewindcmd"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/stores"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/cmd/internal/ui/tui"
	_ "github.com/seed-3aff656d/entire/internal/database/driver" // for the catalog and the index
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/internal/settings"
)

// build returns a new command.
type build func(*app.App) *cobra.Command

// group is a group of commands in the help; without a title they aren't shown.
type group struct {
	title    string
	commands []build
}

// commands returns all commands, in the order of the help. The last group isn't shown in it: the
// names that commands had before, and commands that programs run.
func commands() []group {
	return []group{
		{"Look:", []build{
			history.NewLog, newShow, history.NewBlame, history.NewSearch, newBrowse, history.NewReport, history.NewUsage, health.NewStatus,
		}},
		{"Go back:", []build{
			rewindcmd.NewCommand, rewindcmd.NewUndo, rewindcmd.NewRedo, stores.NewDiff, rewindcmd.NewForkCommand, stores.NewBisectCommand, stores.NewSnapshot,
		}},
		{"Go on:", []build{history.NewResume, history.NewRecall}},
		{"Share:", []build{health.NewCheck, history.NewLink, history.NewPush, history.NewFetch}},
		{"Care:", []build{
			newEnable, setup.NewDisable, history.NewImport, newConfig, health.NewDoctor, health.NewClean, health.NewForget, health.NewRedact, newAgents,
		}},
		{"", []build{
			former(history.NewExplain, "show", "log --commits"), former(history.NewWhy, "show"), former(history.NewSessions, "log --sessions"),
			former(stores.NewFS, "snapshot", "diff"), former(history.NewUnlink, "link --remove"), former(health.NewReset, "clean --pending"),
			former(setup.NewTrust, "config trust"), former(newVersionCmd, "--version"),
			hidden(newMCP), hidden(newCompletionCmd), hidden(newStatusline),
		}},
	}
}

// former returns a command that has another name now. It works under its former name, too, which the
// help doesn't list.
func former(b build, names ...string) build {
	return func(a *app.App) *cobra.Command {
		cmd := hidden(b)(a)
		if cmd.Annotations == nil {
			cmd.Annotations = map[string]string{}
		}
		cmd.Annotations[formerly] = "`entire " + strings.Join(names, "`, `entire ") + "`"
		return cmd
	}
}

// formerly is the annotation of a former name, with the present ones.
const formerly = "formerly"

// hidden returns a command that the help doesn't list.
func hidden(b build) build {
	return func(a *app.App) *cobra.Command {
		cmd := b(a)
		cmd.Hidden, cmd.SuggestFor = true, nil
		return cmd
	}
}

// newShow returns the command that shows one thing, which may be in a store of snapshots.
func newShow(a *app.App) *cobra.Command { return history.NewShow(a, stores.Show) }

// newConfig returns the command of settings, with that of the remotes to which checkpoints may be sent.
func newConfig(a *app.App) *cobra.Command {
	cmd := setup.NewCommand(a)
	cmd.AddCommand(setup.NewTrust(a))
	return cmd
}

// newEnable returns the command that turns recording on, and runs another to import past sessions.
func newEnable(a *app.App) *cobra.Command { return setup.NewEnable(a, history.ImportPast) }

// newBrowse returns the command that shows turns on the whole screen and runs other commands there.
func newBrowse(a *app.App) *cobra.Command {
	return history.NewBrowse(a, history.Commands{Why: history.NewWhy, Blame: history.NewBlame, Rewind: rewindcmd.NewCommand})
}

// Main runs one command line and returns the exit code: 0, 1 for a failure, 2 for wrong usage, 130
// if the user interrupted it. What agents and git start is left to [hookrun.Main].
func Main(ctx context.Context, args []string, env app.Env) int {
	if hookrun.Handles(args) {
		return hookrun.Main(ctx, args, env)
	}
	a := newApp(env)
	return execute(ctx, a, newRootCmd(a, commands()), args) //nolint:contextcheck // commands get it when they run
}

// MainFS runs one command line of agentfs and returns the exit code: those of Main, and 3 for an
// unknown store, 4 for an unknown version, 5 for a store that is inactive or can't be activated.
func MainFS(ctx context.Context, args []string, env app.Env) int {
	a := newApp(env)
	return execute(ctx, a, newAgentFSCmd(a), args) //nolint:contextcheck // completion gets it with the command
}

// newApp returns the App of a program that can ask questions.
func newApp(env app.Env) *app.App {
	env.Streams.WroteJSON = new(bool)
	a := app.New(env)
	a.Prompter = tui.NewPrompter(env.Streams)
	return a
}

func execute(ctx context.Context, a *app.App, root *cobra.Command, args []string) int {
	root.SetArgs(likeGit(root, args))
	cmd, err := root.ExecuteContextC(ctx)
	return report(ctx, a, command{cmd, args}, err)
}

func newRootCmd(a *app.App, groups []group) *cobra.Command {
	dir := ""
	root := &cobra.Command{
		Use:   "entire",
		Short: "Record the sessions of coding agents with the commits that come out of them",
		Example: `  entire enable         record this repository from now on
  entire log            what agents did, one line per turn
  entire show HEAD      what was asked, said and done for a commit
  entire undo           undo the last rewind`,
		Args:        cobra.NoArgs,
		RunE:        func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmd.ValidateFlagGroups(); err != nil { // cobra does it only when the command runs
				return err
			}
			if err := refuseBothForms(cmd); err != nil {
				return err
			}
			if err := a.Enter(dir); err != nil {
				return err
			}
			a.Parsed = true
			warnInterrupted(cmd.Context(), a, cmd)
			return guard(a, cmd)
		},
	}
	root.PersistentFlags().StringVarP(&dir, "directory", "C", "", "run as if started in `dir`")
	root.PersistentFlags().BoolVarP(&a.Streams.Quiet, "quiet", "q", false, "print results and errors only, no notes and hints")
	configureRoot(a, root)
	for _, g := range groups {
		if g.title != "" {
			root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
			root.SetHelpCommandGroupID(g.title) // the last one
		}
		for _, b := range g.commands {
			cmd := b(a)
			cmd.GroupID = g.title
			root.AddCommand(cmd)
		}
	}
	return root
}

// newAgents returns the command agents, with the subcommands that install and remove hooks.
func newAgents(a *app.App) *cobra.Command {
	cmd := health.NewAgents(a)
	cmd.AddCommand(setup.NewAgentsInstall(a), setup.NewAgentsRemove(a))
	return cmd
}

// configureRoot sets up the parts of a root command that both programs share.
func configureRoot(a *app.App, root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.CompletionOptions.DisableDefaultCmd = true // newCompletionCmd replaces it
	root.SetHelpCommand(newHelpCmd(a))
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) { printHelp(a, cmd) })
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := io.WriteString(cmd.OutOrStderr(), usageText(cmd, 0))
		return err
	})
	show := root.Flags().BoolP("version", "v", false, "version for "+root.Name())
	run := root.RunE
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if *show {
			a.Streams.Printf("Entire CLI %s\n", a.Version)
			return nil
		}
		return run(cmd, args)
	}
	root.SetOut(a.Streams.Out)
	root.SetErr(a.Streams.Err)
	root.SetIn(a.Streams.In)
}

// guard prevents commands that work on recorded sessions from running in a repository where
// recording is disabled.
func guard(a *app.App, cmd *cobra.Command) error {
	for c := cmd; c.HasParent(); c = c.Parent() {
		if c.Annotations[app.WorksDisabled] != "" {
			return nil
		}
	}
	if !cmd.HasParent() {
		return nil
	}
	repo, err := a.Repository()
	if err != nil {
		return nil //nolint:nilerr // the command itself reports what it needs
	}
	s := a.Settings(repo)
	if !s.Configured || s.Enabled {
		return nil
	}
	why, run := "", "`entire enable` to re-enable"
	switch s.Activation.Reason {
	case settings.Excluded:
		why, run = ": this repository is "+s.Activation.Text(), "`entire enable --local` to record this clone all the same"
	case settings.Unusable:
		why, run = ": "+s.Activation.Text(), "`entire config` to see what is wrong"
	case settings.Vetoed, settings.NotEnabled:
	}
	if (command{Command: cmd}).wantsJSON(a) {
		return app.WithHint(errors.New("Entire is disabled"+why), "run "+run)
	}
	a.Streams.Printf("Entire is disabled%s. Run %s.\n", why, run)
	return app.ErrDone
}

// refuseBothForms refuses --json together with --jsonl.
func refuseBothForms(cmd *cobra.Command) error {
	if f := cmd.Flags(); f.Changed("json") && f.Changed("jsonl") {
		return app.Usagef("--json and --jsonl can't be combined")
	}
	return nil
}

// command is a command with the arguments of the program.
type command struct {
	*cobra.Command

	args []string
}

// report prints the error of a command and returns the exit code.
func report(ctx context.Context, a *app.App, cmd command, err error) int {
	_, isNoTerminal := errors.AsType[*ui.NoTerminalError](err)
	_, isUsage := errors.AsType[*app.UsageError](err)
	switch {
	case err == nil, errors.Is(err, app.ErrDone):
		if lost := a.Streams.OutError(); lost != nil {
			a.Streams.Errorf("Error: can't print everything: %s", lost)
			return app.ExitFailure
		}
		return app.ExitOK
	case errors.Is(err, app.ErrFailed):
		return app.ExitFailure
	case ctx.Err() != nil, errors.Is(err, ui.ErrAborted):
		fail(a, cmd, errors.New("Cancelled."), app.ErrorJSON{Error: "cancelled", Code: app.ExitInterrupted}) //nolint:revive,staticcheck // a line of its own
		return app.ExitInterrupted
	case isNoTerminal, isUsage, !a.Parsed:
		r := refuse(cmd.Command, err)
		shown := "Error: Invalid usage: " + r.text
		if isNoTerminal {
			shown = "Error: " + r.text
		}
		fail(a, cmd, errors.New(shown), app.ErrorJSON{Error: r.text, Hint: r.hint})
		if r.help != "" && !cmd.wantsJSON(a) {
			a.Streams.Hint(r.help)
		}
		return app.ExitUsage
	default:
		fail(a, cmd, err, app.ErrorJSON{Error: plain.Error(err), Hint: app.HintOf(err), Code: app.CodeOf(err)})
		return max(app.CodeOf(err), app.ExitFailure)
	}
}

// fail prints an error. For a command with --json or --jsonl it is JSON on one line of Out, unless
// Out has JSON already.
func fail(a *app.App, cmd command, err error, failure app.ErrorJSON) {
	if wrote := a.Streams.WroteJSON; cmd.wantsJSON(a) && (wrote == nil || !*wrote) {
		if a.Streams.JSONLine(failure) == nil {
			return
		}
	}
	a.Streams.Errorf("%s", plain.Error(err))
	if failure.Hint != "" {
		a.Streams.Hint(failure.Hint)
	}
}

// wantsJSON reports whether the command has --json or --jsonl. If the arguments can't be parsed, it is
// enough that they contain one of the flags.
func (c command) wantsJSON(a *app.App) bool {
	if f := c.Flags().Lookup("json"); a.Streams.Lines || f != nil && f.Value.String() == "true" {
		return true
	}
	flags := c.args
	if i := slices.Index(flags, "--"); i >= 0 {
		flags = flags[:i]
	}
	return !a.Parsed && (slices.Contains(flags, "--json") || slices.Contains(flags, "--jsonl"))
}

// newAgentFSCmd returns the root command of agentfs.
func newAgentFSCmd(a *app.App) *cobra.Command {
	root := stores.NewTree(&stores.Command{App: a, Program: "agentfs"}, "agentfs")
	root.PersistentPreRunE = func(cmd *cobra.Command, _ []string) error {
		if err := refuseBothForms(cmd); err != nil {
			return err
		}
		a.Parsed = true
		return nil
	}
	configureRoot(a, root)
	root.AddCommand(newCompletionCmd(a), newVersionCmd(a))
	return root
}
