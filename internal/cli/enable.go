package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/hooks/githook"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/internal/ui"
)

type enableOptions struct {
	agent, strategy       string
	force, local, project bool
}

func newEnableCmd(a *app) *cobra.Command {
	var opts enableOptions
	cmd := &cobra.Command{
		Use:   "enable",
		Short: "Record sessions in this repository",
		Long: `Sets up the repository: settings in .entire/, hooks for the agent and for git.
Hooks that are there already go on working: ours call them.

On a terminal it asks what isn't given by flags; without one --agent is needed.
Settings go to .entire/settings.json, which is meant to be committed. With
--local, and where the project has settings already, they go to
.entire/settings.local.json, which git ignores; with --local the agent's hooks
go to its personal file too, so that nobody else sees anything.

EXIT STATUS
  0    done, or nothing to do
  1    failure; running it again goes on where it stopped
  2    wrong usage, or a question that nobody can answer
  130  interrupted`,
		Example:     "  entire enable --agent claude-code\n  entire enable --agent claude-code --local",
		Args:        cobra.NoArgs,
		Annotations: map[string]string{worksDisabled: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runEnable(cmd.Context(), a, opts)
		},
	}
	f := cmd.Flags()
	f.StringVar(&opts.agent, "agent", "", "agent to record: "+claudeName)
	f.StringVar(&opts.strategy, "strategy", "", "strategy: "+settings.ManualCommit)
	f.BoolVarP(&opts.force, "force", "f", false, "install hooks anew")
	f.BoolVar(&opts.local, "local", false, "write only files that nobody else sees")
	f.BoolVar(&opts.project, "project", false, "write the project's settings, though it has some")
	f.Bool("skip-push-sessions", false, "accepted, without effect: nothing is pushed unless you name a remote")
	f.Bool("telemetry", true, "accepted, without effect: there is no telemetry")
	f.Bool("local-dev", false, "accepted, without effect")
	f.Bool("ignore-untracked", false, "accepted, without effect")
	_ = f.MarkHidden("local-dev")        //nolint:errcheck // the flag exists
	_ = f.MarkHidden("ignore-untracked") //nolint:errcheck // the flag exists
	return cmd
}

// check refuses what can't be done before anything is asked or written.
func (o enableOptions) check() error {
	switch {
	case o.local && o.project:
		return usagef("--local and --project exclude each other")
	case o.agent == geminiName:
		return errors.New("Gemini CLI is not supported yet") //nolint:staticcheck // begins with a name
	case o.agent != "" && o.agent != claudeName:
		return usagef("unknown agent %q (known: %s)", o.agent, claudeName)
	case o.strategy == settings.AutoCommit:
		return errors.New("the strategy auto-commit is not available yet")
	case o.strategy != "" && o.strategy != settings.ManualCommit:
		return usagef("unknown strategy %q (known: %s)", o.strategy, settings.ManualCommit)
	}
	return nil
}

// enabling is one run of enable.
type enabling struct {
	*app

	opts  enableOptions
	repo  *git.Repo
	is    settings.Settings // as they were
	agent agentHooks
}

func runEnable(ctx context.Context, a *app, opts enableOptions) error {
	if err := opts.check(); err != nil {
		return err
	}
	repo, err := a.worktree()
	if err != nil {
		return err
	}
	defer repo.Close()
	e := &enabling{app: a, opts: opts, repo: repo, is: a.settings(repo)}
	if e.agent, err = checkAgent(repo); err != nil {
		return err
	}
	if opts == (enableOptions{}) && e.nothingToDo(ctx) {
		if err := e.decide(ctx); err != nil {
			return err
		}
		a.Streams.Printf("Already enabled. Everything looks good.\n")
		return nil
	}
	if err := e.choose(ctx); err != nil {
		return err
	}
	return a.Streams.Progress("Setting up", func() error { return e.install(ctx) })
}

// worktree is the repository of the working directory, which has a working
// tree.
func (a *app) worktree() (*git.Repo, error) {
	repo, err := a.repository()
	if errors.Is(err, git.ErrNotRepository) {
		return nil, hinted(errors.New("not a git repository"), "run `git init` first")
	}
	if err != nil {
		return nil, err
	}
	if repo.Bare {
		return nil, hinted(errors.New("this is a bare repository: there are no files to work on, so there is nothing to record"),
			"run the command in a worktree of it")
	}
	return repo, nil
}

// nothingToDo says whether all is set up.
func (e *enabling) nothingToDo(ctx context.Context) bool {
	hooks, err := githook.Installer{Repo: e.repo}.Check(ctx)
	return err == nil && hooks.OK() && e.is.Enabled && e.is.Marker && e.agent.complete()
}

// choose asks for what the flags leave open. Where the agent's hooks are there
// already, or a strategy is named, nothing is.
func (e *enabling) choose(ctx context.Context) error {
	switch {
	case e.opts.agent != "" || e.opts.strategy != "":
		return nil
	case e.agent.Installed > 0:
		return e.decide(ctx)
	}
	_, err := e.ask.Select(ctx,
		ui.Question{Title: "Which agent do you work with?", Flag: "--agent"},
		[]ui.Option{{Label: claudeLabel, Value: claudeName}})
	if err != nil {
		return err
	}
	if !e.opts.local && !e.opts.project && !e.has(settings.Project) && !e.has(settings.Local) {
		where, err := e.ask.Select(ctx,
			ui.Question{Title: "Where should the settings go?", Flag: "--project or --local"},
			[]ui.Option{
				{Label: "For everybody who works here (.entire/settings.json, to be committed)", Value: "project"},
				{Label: "For me alone (.entire/settings.local.json, ignored by git)", Value: "local"},
			})
		if err != nil {
			return err
		}
		e.opts.project, e.opts.local = where == "project", where == "local"
	}
	return e.decide(ctx)
}

// decide asks about what the project proposes, if there is somebody to ask,
// and writes a yes to the personal file.
func (e *enabling) decide(ctx context.Context) error {
	if !e.ask.Interactive() {
		return nil
	}
	for _, p := range e.is.Proposals {
		if e.is.Source(p.Key).Layer != settings.Default {
			continue
		}
		yes, err := e.ask.Confirm(ctx, proposalQuestion(p))
		if err != nil {
			return err
		}
		if !yes {
			continue
		}
		var value any = p.Value
		if p.Key == settings.KeySummarize {
			value = true
		}
		project, err := openProject(e.repo)
		if err != nil {
			return err
		}
		if _, err := project.set(settings.LocalFile(e.repo.Root), settings.Change{Key: p.Key, Value: value}); err != nil {
			return err
		}
	}
	return nil
}

func proposalQuestion(p settings.Proposal) ui.Question {
	if p.Key == settings.KeySummarize {
		return ui.Question{
			Title: "The project asks for a summary of each session at commit. Make them?",
			Help:  "A summary is written by " + claudeLabel + " and uses your tokens.",
			Flag:  settings.Variable(p.Key),
		}
	}
	return ui.Question{
		Title: "The project asks to push recorded sessions to " + ui.Line(p.Value, 200) + ". Do it?",
		Help:  "Sessions hold what you and the agent wrote, with known secrets taken out.",
		Flag:  settings.Variable(p.Key),
	}
}

func (e *enabling) has(layer settings.Layer) bool {
	for _, f := range e.is.Files {
		if f.Layer == layer && e.is.Root == e.repo.Root {
			return true
		}
	}
	return false
}

// install does the work. Every step may be done again; the marker, which
// together with settings puts the hooks to work, comes last.
func (e *enabling) install(ctx context.Context) error {
	project, err := openProject(e.repo)
	if err != nil {
		return err
	}
	if err := project.ignore(e.opts.local); err != nil {
		return err
	}
	if err := e.installAgent(); err != nil {
		return err
	}
	report, err := installGitHooks(ctx, e.repo, e.opts.force)
	if err != nil {
		return err
	}
	file, err := e.writeSettings(project)
	if err != nil {
		return err
	}
	if err := project.mark(); err != nil {
		return err
	}
	e.Streams.Printf("%s Project configured (%s)\n", e.Streams.Paint(ui.Green, "✓"), e.relative(file))
	for _, line := range report {
		e.Streams.Notef("%s", line)
	}
	e.Streams.Printf("\nReady.\n")
	e.warn()
	return nil
}

// relative is a path as the user would type it at the worktree's root.
func (e *enabling) relative(path string) string {
	if rel, err := filepath.Rel(e.repo.Root, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

func (e *enabling) installAgent() error {
	e.Streams.Printf("Agent: %s\n\n", claudeLabel)
	files := claudeFiles(e.repo.Root)
	target := files[0]
	if e.opts.local {
		target = files[1]
	}
	if e.agent.Installed > 0 {
		target = e.agent.File
	}
	hooks := claudeSettings(e.repo, target)
	if e.opts.force {
		if _, err := hooks.Uninstall(); err != nil {
			return err
		}
	}
	if !e.opts.force && e.agent.complete() {
		e.Streams.Printf("Hooks for %s already installed\n", claudeLabel)
		return nil
	}
	n, changed, err := hooks.Install()
	if err != nil {
		return err
	}
	if !changed {
		e.Streams.Printf("Hooks for %s already installed\n", claudeLabel)
		return nil
	}
	e.Streams.Printf("Installed %s for %s\n", ui.Plural(n, "hook"), claudeLabel)
	return nil
}

// writeSettings writes what isn't so already, and answers the file that says
// so.
func (e *enabling) writeSettings(p *project) (string, error) {
	target, write := e.settingsFile()
	if !write {
		return target, nil
	}
	changes := []settings.Change{{Key: settings.KeyEnabled, Value: true}}
	if e.opts.strategy != "" || !e.has(settings.Project) {
		changes = append([]settings.Change{{Key: settings.KeyStrategy, Value: settings.ManualCommit}}, changes...)
	}
	if _, err := p.set(target, changes...); err != nil {
		return "", err
	}
	local := settings.LocalFile(e.repo.Root)
	if target == local || !e.has(settings.Local) || e.settings(e.repo).Enabled {
		return target, nil
	}
	_, err := p.set(local, settings.Change{Key: settings.KeyEnabled, Value: true})
	return target, err
}

// settingsFile is the file that says, or is to say, that the worktree is
// enabled, and whether it must be written.
func (e *enabling) settingsFile() (path string, write bool) {
	root := e.repo.Root
	none := true
	for _, f := range e.is.Files {
		none = none && f.Layer == settings.User
	}
	switch {
	case e.opts.local:
		return settings.LocalFile(root), true
	case e.opts.project, none:
		return settings.ProjectFile(root), true
	case e.is.Enabled && e.opts.strategy == "":
		for _, f := range e.is.Files {
			if f.Layer != settings.User {
				return f.Path, false
			}
		}
	}
	return settings.LocalFile(root), true
}

// warn says what would keep recording from working all the same.
func (e *enabling) warn() {
	if _, found := lookPath(e.Getenv, "entire"); !found {
		e.Streams.Notef("The program isn't on your PATH: until it is, the hooks do nothing.")
		e.Streams.Hint("add the folder of `entire` to PATH")
	}
	s := e.settings(e.repo)
	if src := s.Source(settings.KeyEnabled); !s.Enabled {
		e.Streams.Notef("Recording is still disabled by %s.", strings.TrimSpace(fmt.Sprint(src.Layer, " ", src.Name)))
	}
}
