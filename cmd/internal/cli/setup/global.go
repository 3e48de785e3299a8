package setup

import (
	"errors"
	"fmt"
	"slices"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
	"github.com/seed-3aff656d/entire/session/agent"
)

// globalOptions are the options of enable for the whole machine.
type globalOptions struct {
	global  bool
	exclude []string
}

// enableGlobal records every repository of the machine: it installs hooks in the user's own settings
// of the agents, and then turns global.enabled on. Both may be repeated.
func enableGlobal(a *app.App, opts globalOptions, named []agent.Agent) error {
	from := a.SettingsSources(nil)
	file := settings.UserFile(from)
	if file == "" {
		return errNoHome()
	}
	before := settings.Load(from)
	if _, bad := broken(before, file); bad != "" {
		return fmt.Errorf("nothing was changed: %s", bad)
	}
	changes, err := exclusions(a, before.Global, opts.exclude)
	if err != nil {
		return err
	}
	if len(named) == 0 {
		for _, s := range UserHooks(a) {
			named = append(named, s.Agent)
		}
	}
	if len(named) == 0 {
		named = []agent.Agent{agent.Default()}
	}
	for _, by := range named {
		hooks, ok := app.UserSettings(a, by)
		if !ok {
			return errNoHome()
		}
		n, changed, err := hooks.Install()
		if err != nil {
			return err
		}
		reportInstalled(a, installed{hooks, n, changed})
	}
	changes = append(changes, settings.Change{Key: settings.KeyGlobal, Value: true})
	after, err := settings.Configure(from, changes...)
	if err != nil {
		return err
	}
	already := before.Global.Enabled && len(changes) == 1
	if already {
		a.Streams.Printf("Already enabled for every repository on this machine (%s)\n", a.ShortPath(file))
	} else {
		a.Streams.Printf("%s Every repository on this machine is recorded (%s)\n", a.Streams.Paint(ui.Green, "✓"), a.ShortPath(file))
	}
	g := after.Global
	for _, pattern := range slices.Concat(g.ExcludePaths, g.ExcludePathsExact, g.ExcludeOrigins) {
		a.Streams.Printf("  except %s\n", pattern)
	}
	if !already {
		a.Streams.Printf("Nothing new is written into their trees, and nothing is sent anywhere.\n\nNext:\n" +
			"  entire disable             in a repository: leave it out\n" +
			"  entire config trust        in a repository: allow sending checkpoints to its remote\n" +
			"  entire status              in a repository: see what is recorded, and why\n")
	}
	if !app.OnPath(a.Getenv, "entire") {
		a.Streams.Notef("`entire` isn't on your PATH: until it is, the hooks do nothing.")
		a.Streams.Hint("add its folder to PATH")
	}
	if where, bad := broken(after, file); bad != "" {
		a.Streams.Notef("Nothing is recorded until %s is corrected: %s", where, bad)
	}
	return enableHere(a)
}

// enableHere withdraws the veto that `entire disable` left in the git directory of the working
// directory's repository, and reports what else keeps it from being recorded.
func enableHere(a *app.App) error {
	repo := here(a)
	if repo == nil || repo.Root == "" {
		return nil
	}
	defer func() { _ = repo.Close() }()
	is := a.Settings(repo)
	if is.Activation.Reason == settings.Vetoed && is.Activation.By == settings.CloneFile(repo.CommonDir) {
		if _, err := settings.EditClone(repo.CommonDir, settings.Change{Key: settings.KeyEnabled}); err != nil {
			return err
		}
		a.Streams.Printf("This repository was disabled, and is recorded again\n")
		is = a.Settings(repo)
	}
	if text := is.Activation.Text(); text != "" {
		a.Streams.Notef("This repository is not recorded: %s.", text)
	}
	return nil
}

// broken returns the key and the text of a problem in the user's settings that turns recording by the
// machine off.
func broken(s settings.Settings, file string) (key, problem string) {
	for _, p := range s.Problems {
		if p.Where == file && (p.Key == "" || settings.IsGlobal(p.Key)) {
			return p.Key, p.String()
		}
	}
	for _, u := range s.Unknown {
		if u.File == file && settings.IsGlobal(u.Key) {
			return u.Key, u.File + ": " + u.Key + " is unknown, and may limit what is recorded"
		}
	}
	return "", ""
}

// exclusions returns the changes that add patterns to the lists of what is excluded.
func exclusions(a *app.App, g settings.Global, patterns []string) ([]settings.Change, error) {
	lists := map[string][]string{
		settings.KeyExcludePaths: g.ExcludePaths, settings.KeyExcludePathsExact: g.ExcludePathsExact, settings.KeyExcludeOrigins: g.ExcludeOrigins,
	}
	var changed []string
	for _, pattern := range patterns {
		key, entry, err := settings.ExclusionKey(pattern, a.Dir)
		if err != nil {
			return nil, app.Usagef("--exclude %s: %v", ui.Line(pattern, 80), err)
		}
		if slices.Contains(lists[key], entry) {
			continue
		}
		lists[key] = append(slices.Clip(lists[key]), entry)
		if !slices.Contains(changed, key) {
			changed = append(changed, key)
		}
	}
	changes := make([]settings.Change, 0, len(changed))
	for _, key := range changed {
		changes = append(changes, settings.Change{Key: key, Value: lists[key]})
	}
	return changes, nil
}

// disableGlobal ends the recording of every repository, and removes the hooks from the user's own
// settings of all agents. What was recorded stays.
func disableGlobal(a *app.App) error {
	from := a.SettingsSources(nil)
	file := settings.UserFile(from)
	if file == "" {
		return errNoHome()
	}
	was := settings.Load(from).Global.Enabled
	// It is also written where it was absent: the existing tool then removes its hooks, too.
	if _, err := settings.Configure(from, settings.Change{Key: settings.KeyGlobal, Value: false}); err != nil {
		return err
	}
	var failed []error
	for _, by := range agent.All() {
		s, ok := app.UserSettings(a, by)
		if !ok {
			continue
		}
		changed, err := s.Uninstall()
		if err != nil {
			failed = append(failed, err)
		} else if changed {
			a.Streams.Printf("Removed the hooks for %s (%s)\n", by.Label, a.ShortPath(s.Path))
		}
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	if !was {
		a.Streams.Printf("Recording of every repository is off (%s)\n", a.ShortPath(file))
		return nil
	}
	a.Streams.Printf("Only repositories in which `entire enable` was run are still recorded (%s)\n", a.ShortPath(file))
	a.Streams.Printf("Records are kept. Git hooks stay in the repositories and do nothing;\n" +
		"`entire disable --uninstall` removes them from one.\n")
	return nil
}

// disableClone notes in the git directory that the repository is left out, so that nothing in its tree
// changes.
func disableClone(repo *git.Repo) error {
	_, err := settings.EditClone(repo.CommonDir, settings.Change{Key: settings.KeyEnabled, Value: false})
	return err
}

func errNoHome() error {
	return app.WithHint(errors.New("no home directory"), "set HOME")
}

// UserHooksMissing returns the agents whose hooks in the user's own settings are incomplete, of those
// that have some; Claude Code if none has.
func UserHooksMissing(a *app.App) []agenthook.Settings {
	var lacking []agenthook.Settings
	none := true
	for _, by := range agent.All() {
		s, ok := app.UserSettings(a, by)
		if !ok {
			continue
		}
		n, missing, err := s.Check()
		none = none && n == 0
		if err == nil && n > 0 && len(missing) > 0 {
			lacking = append(lacking, s)
		}
	}
	if s, ok := app.UserSettings(a, agent.Default()); none && ok {
		lacking = append(lacking, s)
	}
	return lacking
}

// UserHooksNotes returns a note for each agent of UserHooksMissing.
func UserHooksNotes(a *app.App) []app.Note {
	missing := UserHooksMissing(a)
	notes := make([]app.Note, 0, len(missing))
	for _, hooks := range missing {
		notes = append(notes, app.Note{
			Code:    "user-hooks-missing",
			Message: "Every repository is to be recorded, but hooks for " + hooks.Agent.Label + " are missing in " + a.ShortPath(hooks.Path) + ".",
			Hint:    "run `entire enable --global --agent " + hooks.Agent.Name + "`",
		})
	}
	return notes
}
