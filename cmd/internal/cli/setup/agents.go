package setup

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/session/agent"
)

// NewAgentsInstall returns the command that installs only the hooks of agents.
func NewAgentsInstall(a *app.App) *cobra.Command {
	return atLevel(a, installHooks, &cobra.Command{
		Use:        "install AGENT...",
		SuggestFor: []string{"add", "enable"},
		Short:      "Install the hooks of agents",
		Long: `Installs the hooks of agents in this project, in the same files as entire enable.
With --user they go to your own settings of the agent, which then runs them in all
your projects; where recording is off they do nothing. If a project has hooks, too,
each event is recorded once.

EXIT STATUS
  0  installed, or already installed
  1  failure, or recording is not set up here
  2  wrong usage`,
		Example: `  entire agents install codex
  entire agents install codex gemini --user`,
	})
}

// NewAgentsRemove returns the command that removes the hooks of agents.
func NewAgentsRemove(a *app.App) *cobra.Command {
	return atLevel(a, removeHooks, &cobra.Command{
		Use:        "remove AGENT...",
		SuggestFor: []string{"uninstall", "delete", "disable"},
		Short:      "Remove the hooks of agents",
		Long: `Removes what Entire added to the files of agents in this project: hooks, the MCP
server, the questions before /clear and the status line. The files get their
original content. Git hooks, settings and records are kept. With --user it removes
the hooks from your own settings.

EXIT STATUS
  0  removed, or nothing to remove
  1  failure
  2  wrong usage`,
		Example: `  entire agents remove codex
  entire agents remove codex gemini --user`,
	})
}

// atLevel completes a command that changes the hooks of the agents in its arguments. It calls act
// with the worktree, or with nil for the user's own settings.
func atLevel(a *app.App, act func(context.Context, *app.App, *git.Repo, []agent.Agent) error, cmd *cobra.Command) *cobra.Command {
	user, asJSON := false, false
	cmd.Args = cobra.MinimumNArgs(1)
	cmd.ValidArgsFunction = Arguments(a, Agents)
	cmd.Annotations = map[string]string{app.WorksDisabled: "yes"}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		named, err := FindAgents(strings.Join(args, ","))
		if err != nil {
			return err
		}
		return withResult(a, asJSON, func() error {
			if user {
				return act(cmd.Context(), a, nil, named)
			}
			repo, err := a.Worktree()
			if err != nil {
				return err
			}
			defer func() { _ = repo.Close() }()
			return act(cmd.Context(), a, repo, named)
		}, func() error { return printRecording(a) })
	}
	JSONFlag(cmd.Flags(), &asJSON)
	cmd.Flags().BoolVar(&user, "user", false, "in your own settings, for all your projects")
	return cmd
}

// installHooks installs the hooks of agents in a worktree, or in the user's own settings if
// repo is nil.
func installHooks(_ context.Context, a *app.App, repo *git.Repo, named []agent.Agent) error {
	if repo != nil && !a.Settings(repo).Configured {
		return app.WithHint(errors.New("recording is not set up here"), "run `entire enable --agent "+named[0].Name+"`, or add --user")
	}
	for _, by := range named {
		files, err := filesOf(a, repo, by)
		if err != nil {
			return err
		}
		hooks := files[0]
		for _, s := range files[1:] {
			if has, _, err := s.Check(); err == nil && has > 0 {
				hooks = s
			}
		}
		n, changed, err := hooks.Install()
		if err != nil {
			return err
		}
		reportInstalled(a, installed{hooks, n, changed})
	}
	return nil
}

// removeHooks removes everything of ours from the files of agents in a worktree, or from the user's
// own settings if repo is nil.
func removeHooks(ctx context.Context, a *app.App, repo *git.Repo, named []agent.Agent) error {
	for _, by := range named {
		files, err := filesOf(a, repo, by)
		if err != nil {
			return err
		}
		none := true
		for _, s := range files {
			changed, err := s.Uninstall()
			if err != nil {
				return err
			}
			if changed {
				none = false
				a.Streams.Printf("Removed the hooks for %s (%s)\n", by.Label, a.ShortPath(s.Path))
			}
		}
		if none {
			a.Streams.Printf("No hooks for %s to remove\n", by.Label)
		}
		if repo == nil {
			continue
		}
		if s, ok := AgentServers(repo, by); ok {
			if err := RemoveListed(a, s); err != nil {
				return err
			}
		}
		if by.Name != ClaudeName {
			continue
		}
		if err := UnregisterServer(ctx, a, repo, Removal{From: []string{repo.Root}, Roots: Worktrees(repo)}); err != nil {
			return err
		}
	}
	return nil
}

// filesOf returns the settings files of an agent in a worktree, or the user's own if repo is nil.
func filesOf(a *app.App, repo *git.Repo, by agent.Agent) ([]agenthook.Settings, error) {
	if repo == nil {
		user, known := app.UserSettings(a, by)
		if !known {
			return nil, app.WithHint(errors.New("no home directory"), "set HOME")
		}
		return []agenthook.Settings{user}, nil
	}
	var all []agenthook.Settings
	for _, path := range agenthook.Files(by, repo.Root) {
		all = append(all, app.AgentSettings(repo, by, path))
	}
	return all, nil
}
