// Package setup has the commands that turn recording on and off, install and remove hooks of agents,
// and show and change the settings. It also has the values that shells complete.
package setup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/hooks/githook"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/strategy/importing"
)

const knownStrategies = settings.ManualCommit + ", " + settings.AutoCommit

type enableOptions struct {
	agent, strategy       string
	force, local, project bool
	noBands               bool
	mcp, noMCP            bool
	line, noLine          bool
	imports, noImport     bool
}

// NewEnable returns the command that turns recording on. runImport imports past sessions.
func NewEnable(a *app.App, runImport func(context.Context, *app.App) error) *cobra.Command {
	var opts enableOptions
	asJSON := false
	var accept []string
	var machine globalOptions
	cmd := &cobra.Command{
		Use:        "enable",
		SuggestFor: []string{"init", "install", "setup", "start"},
		Short:      "Record sessions in this repository",
		Long: `Sets up the repository: settings in .entire/, hooks for the agent and for git, and a
store for snapshots of the working tree. Existing hooks continue to run.

On a terminal it asks for what flags don't answer; with --agent or --strategy, and
without a terminal, it asks nothing. Settings go to .entire/settings.json, which is
meant to be committed. With --local, and where the project already has settings,
they go to .entire/settings.local.json, which git ignores. With --local the agent's
hooks go to its personal file, too, so that nobody else is affected. For agents
without such a file, run entire agents install NAME --user first.

With --mcp, Claude Code gets an MCP server (entire mcp) and asks before /clear
whether to save the context; the server is registered for you, with --project for
everybody, in .mcp.json. Other agents get the server in the project's file, and no
question. With --statusline, Claude Code reports how full the context is, so that it
is saved in time; your own status line continues to run. --no-mcp and
--no-statusline undo this.

With --global, every repository on this machine is recorded from its first session
on, and nothing is written into its tree: the agents' hooks go to your own settings
(Claude Code's unless --agent is given), git hooks are installed when a session
starts, and logs are kept in the git directory. --exclude leaves out repositories by
path or by the remote origin, and so does entire disable in a repository. Nothing is
sent until you allow it with entire config trust.

If agents kept earlier sessions of the repository, it asks once whether to import
them. --import and --no-import answer.

Settings that a project may only propose are asked about on a terminal;
--accept KEY=VALUE accepts one anywhere. The answer is kept in the git directory and
covers only that value.

EXIT STATUS
  0    done, or nothing to do
  1    failure; run it again to continue
  2    wrong usage, or no terminal to ask on
  130  interrupted`,
		Example: "  entire enable --agent claude-code\n  entire enable --agent claude-code,codex\n  entire enable --agent claude-code --local\n  entire enable --agent claude-code --mcp --statusline\n" +
			"  entire enable --global --exclude '~/work/**' --exclude 'github.com/acme/*'",
		Args:        cobra.NoArgs,
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withResult(a, asJSON, func() error {
				if machine.global || len(machine.exclude) > 0 {
					return runEnableGlobal(a, cmd, machine, opts.agent)
				}
				return runEnable(cmd.Context(), a, opts, accept, runImport)
			}, func() error { return printRecording(a) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.agent, "agent", "", "agents to record, separated by commas: "+strings.Join(knownAgents(), ", "))
	f.StringVar(&opts.strategy, "strategy", "", "strategy: "+knownStrategies)
	Flag(cmd, "agent", cobra.FixedCompletions(knownAgents(), cobra.ShellCompDirectiveNoFileComp))
	Flag(cmd, "strategy", cobra.FixedCompletions(strings.Split(knownStrategies, ", "), cobra.ShellCompDirectiveNoFileComp))
	f.BoolVarP(&opts.force, "force", "f", false, "reinstall the hooks")
	f.BoolVar(&opts.local, "local", false, "write only personal files, which git ignores")
	f.BoolVar(&opts.project, "project", false, "write to the project's settings, even if they exist")
	f.BoolVar(&opts.noBands, "no-bands", false, "take no snapshots of the working tree")
	f.BoolVar(&opts.mcp, "mcp", false, "register the MCP server, and ask before /clear")
	f.BoolVar(&opts.noMCP, "no-mcp", false, "remove the MCP server and the question")
	f.BoolVar(&opts.line, "statusline", false, "read how full the context is from Claude Code's status line")
	f.BoolVar(&opts.imports, "import", false, "import past sessions, as entire import does")
	f.BoolVar(&opts.noImport, "no-import", false, "import no past sessions, and don't mention them")
	f.StringArrayVar(&accept, "accept", nil, "accept what the project's settings propose for `KEY`, or KEY=VALUE")
	f.BoolVar(&machine.global, "global", false, "record every repository on this machine")
	f.StringArrayVar(&machine.exclude, "exclude", nil, "with --global: leave out repositories, by a `PATTERN` of paths, =PATH, or a remote")
	JSONFlag(f, &asJSON)
	f.BoolVar(&opts.noLine, "no-statusline", false, "remove Entire's status line")
	f.Bool("skip-push-sessions", false, "accepted for compatibility: nothing is pushed unless you set a remote")
	f.Bool("telemetry", true, "accepted for compatibility: there is no telemetry")
	f.Bool("local-dev", false, "accepted for compatibility")
	f.Bool("ignore-untracked", false, "accepted for compatibility")
	for _, name := range []string{"skip-push-sessions", "telemetry", "local-dev", "ignore-untracked"} {
		f.Lookup(name).Hidden = true // scripts for the former Entire CLI pass them
	}
	return cmd
}

// runEnableGlobal is enable for the whole machine, with which only --agent and --exclude can be
// combined.
func runEnableGlobal(a *app.App, cmd *cobra.Command, opts globalOptions, names string) error {
	if !opts.global {
		return app.WithHint(app.Usagef("--exclude needs --global"), "run `entire disable` in a repository to leave it out")
	}
	other := ""
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if !slices.Contains([]string{"global", "exclude", "agent", "json"}, f.Name) && !f.Hidden {
			other = f.Name
		}
	})
	if other != "" {
		return app.Usagef("--global and --%s can't be combined", other)
	}
	named, err := FindAgents(names)
	if err != nil {
		return err
	}
	return enableGlobal(a, opts, named)
}

// enabling is one run of enable.
type enabling struct {
	*app.App

	opts   enableOptions
	repo   *git.Repo
	is     settings.Settings // before any change
	agents agents
	// shared reports whether the MCP server is registered for the whole project.
	shared bool
	// listed reports that it is written to the project's list, as no program registers it for the user.
	listed bool
	// asked reports whether the user was asked questions.
	asked bool
	// past are the past sessions about which the user has not decided, runImport imports them.
	past      importing.Offer
	runImport func(context.Context, *app.App) error
	// accepted holds the project's proposals that the user accepts.
	accepted []settings.Proposal
}

func runEnable(ctx context.Context, a *app.App, opts enableOptions, accept []string, runImport func(context.Context, *app.App) error) error {
	// Refuse invalid options before any question or change.
	switch {
	case opts.local && opts.project:
		return app.Usagef("--local and --project can't be combined")
	case opts.mcp && opts.noMCP:
		return app.Usagef("--mcp and --no-mcp can't be combined")
	case opts.line && opts.noLine:
		return app.Usagef("--statusline and --no-statusline can't be combined")
	case opts.imports && opts.noImport:
		return app.Usagef("--import and --no-import can't be combined")
	case opts.strategy != "" && opts.strategy != settings.ManualCommit && opts.strategy != settings.AutoCommit:
		return app.Usagef("unknown strategy %q (known: %s)", opts.strategy, knownStrategies)
	}
	named, err := FindAgents(opts.agent)
	if err != nil {
		return err
	}
	repo, err := a.Worktree()
	if err != nil {
		return err
	}
	defer func() { _ = repo.Close() }()
	e := &enabling{App: a, opts: opts, repo: repo, is: a.Settings(repo), shared: opts.project, runImport: runImport}
	if e.agents.all, err = CheckAgents(a, repo); err != nil {
		return err
	}
	e.agents.choose(named)
	if err := e.checkAgents(); err != nil {
		return err
	}
	if err := e.checkServer(); err != nil {
		return err
	}
	if err := e.acceptNamed(accept); err != nil {
		return err
	}
	complete := false
	if opts == (enableOptions{}) {
		hooks, err := githook.Installer{Repo: repo}.Check(ctx)
		complete = err == nil && hooks.OK() && e.is.Enabled && e.is.Marker &&
			!slices.ContainsFunc(e.agents.chosen, func(h AgentHooks) bool { return !h.Complete() })
	}
	if !complete || e.Prompter.Interactive() {
		if err := e.findPast(ctx); err != nil {
			return err
		}
	}
	if err := e.choose(ctx); err != nil {
		return err
	}
	if complete {
		if err := e.importPast(ctx); err != nil {
			return err
		}
		a.Streams.Printf("Already enabled. Everything looks good.\n")
		return nil
	}
	if err := e.checkAgents(); err != nil {
		return err
	}
	return e.install(ctx)
}

// choose asks the questions and applies the answers.
func (e *enabling) choose(ctx context.Context) error {
	all := e.questions()
	e.asked = len(all) > 0
	questions := make([]ui.Question, len(all))
	for i, c := range all {
		questions[i] = c.Question
	}
	answers, err := e.Prompter.AskTogether(ctx, "Record "+labels(e.agents.chosen)+" in this repository", questions...)
	if err != nil {
		return err
	}
	for i, answer := range answers {
		if err := all[i].act(e, answer); err != nil {
			return err
		}
	}
	return nil
}

// accept records that the user accepts a value that the project proposes.
func (e *enabling) accept(p settings.Proposal) error {
	e.accepted = append(e.accepted, p)
	return settings.Approve(e.repo.CommonDir, p)
}

// acceptNamed accepts the proposals that --accept names, by key or as key=value. It changes nothing
// if one of them isn't proposed.
func (e *enabling) acceptNamed(names []string) error {
	var found []settings.Proposal
	for _, name := range names {
		key, value, valued := strings.Cut(name, "=")
		i := slices.IndexFunc(e.is.Proposals, func(p settings.Proposal) bool { return p.Key == key })
		if i < 0 && e.is.Source(key).Layer == settings.Project {
			continue // it is in force
		}
		if i < 0 {
			return app.WithHint(fmt.Errorf("nothing was accepted: the project doesn't propose %s", ui.Line(key, format.KeyWidth)),
				"`entire config` shows what it proposes")
		}
		p := e.is.Proposals[i]
		if valued && value != p.Value {
			return app.WithHint(fmt.Errorf("nothing was accepted: the project proposes %s = %s, not %s", key, ui.Line(p.Value, format.ValueWidth), ui.Line(value, format.ValueWidth)),
				"accept that value, or set yours in "+settings.UserFile(e.SettingsSources(e.repo)))
		}
		found = append(found, p)
	}
	for _, p := range found {
		if err := e.accept(p); err != nil {
			return err
		}
	}
	return nil
}

func (e *enabling) has(layer settings.Layer) bool {
	path := settings.ProjectFile(e.repo.Root)
	if layer == settings.Local {
		path = settings.LocalFile(e.repo.Root)
	}
	return slices.ContainsFunc(e.is.Files, func(f settings.File) bool { return f.Path == path })
}
