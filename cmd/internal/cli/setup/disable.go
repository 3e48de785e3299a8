package setup

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
)

type disableOptions struct{ project, uninstall, force, global bool }

// NewDisable returns the command that turns recording off.
func NewDisable(a *app.App) *cobra.Command {
	var opts disableOptions
	asJSON := false
	cmd := &cobra.Command{
		Use:        "disable",
		SuggestFor: []string{"uninstall", "remove", "stop"},
		Short:      "Stop recording in this repository",
		Long: `Stops recording. Hooks stay installed and do nothing, records are kept, and entire
enable resumes recording. By default this applies to all worktrees, and only to you
(.entire/settings.local.json of the main worktree); with --project to everybody
(.entire/settings.json).

With --global, repositories that were not enabled themselves are no longer recorded,
and the agents' hooks are removed from your own settings.

With --uninstall everything that was set up is removed from this worktree: the
agent's hooks, .entire/, session states, and shadow branches with uncommitted work.
In the last worktree that records, git hooks and snapshots are removed, too. Files
that existed before get their original content. Checkpoints of commits are kept.
It refuses while an agent is working, unless --force is given.

EXIT STATUS
  0    done, nothing to do, or cancelled
  1    failure, or an agent is working
  2    wrong usage, or no terminal to ask on
  130  interrupted`,
		Example: `  entire disable
  entire disable --uninstall
  entire disable --global`,
		Args:        cobra.NoArgs,
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withResult(a, asJSON, func() error {
				if opts.global {
					if opts.project || opts.uninstall || opts.force {
						return app.Usagef("--global can't be combined with other flags")
					}
					return disableGlobal(a)
				}
				repo, err := a.Worktree()
				if err != nil {
					return err
				}
				defer func() { _ = repo.Close() }()
				if opts.uninstall {
					return runUninstall(cmd.Context(), a, opts, repo)
				}
				return runDisable(a, opts, repo)
			}, func() error { return printRecording(a) })
		},
	}
	f := cmd.Flags()
	JSONFlag(f, &asJSON)
	f.BoolVar(&opts.project, "project", false, "disable it in the project's settings, for everybody")
	f.BoolVar(&opts.global, "global", false, "stop recording every repository on this machine")
	f.BoolVar(&opts.uninstall, "uninstall", false, "remove everything that was set up in this worktree")
	f.BoolVar(&opts.force, "force", false, "uninstall without asking, even while an agent is working")
	return cmd
}

// runDisable writes the veto: of a repository that is recorded only because every one is into its git
// directory, else into the personal settings of the main worktree, which count in all worktrees.
func runDisable(a *app.App, opts disableOptions, repo *git.Repo) error {
	is := a.Settings(repo)
	if is.Activation.Level == settings.Machine && !opts.project {
		if err := disableClone(repo); err != nil {
			return err
		}
		if err := stillEnabled(a, repo); err != nil {
			return err
		}
		a.Streams.Printf("Entire is now disabled.\n")
		return nil
	}
	if !is.Configured {
		a.Streams.Printf("Entire is not set up here, so it is already disabled.\n")
		return nil
	}
	p, err := OpenProject(repo)
	if err != nil {
		return err
	}
	off := settings.Change{Key: settings.KeyEnabled, Value: false}
	var files []string
	if opts.project {
		files = append(files, settings.ProjectFile(repo.Root))
	}
	if main := repo.MainRoot(); main != "" && main != repo.Root {
		files = append(files, settings.LocalFile(main)) // in force in all worktrees
	}
	files = append(files, settings.LocalFile(repo.Root))
	for i, file := range files {
		if i > 0 && !a.Settings(repo).Enabled {
			break
		}
		if err := p.Set(file, off); err != nil {
			return err
		}
	}
	if err := p.Ignore(false); err != nil {
		return err
	}
	if err := stillEnabled(a, repo); err != nil {
		return err
	}
	a.Streams.Printf("Entire is now disabled.\n")
	for _, w := range git.Worktrees(repo)[1:] {
		from := a.SettingsSources(repo)
		from.Worktree = w.Root
		if s := settings.Load(from); s.Enabled {
			a.Streams.Notef("The worktree %s has its own settings and is still recorded.", w.Root)
			a.Streams.Hint("run `entire disable` there, too")
		}
	}
	return nil
}

// stillEnabled returns an error that names what enables recording in spite of a veto.
func stillEnabled(a *app.App, repo *git.Repo) error {
	s := a.Settings(repo)
	if !s.Enabled {
		return nil
	}
	return fmt.Errorf("still enabled by %s %s", s.Source(settings.KeyEnabled).Layer, s.Source(settings.KeyEnabled).Name)
}
