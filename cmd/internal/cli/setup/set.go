package setup

import (
	"bytes"
	"errors"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/internal/settings"
)

// layerOptions selects the settings file to change.
type layerOptions struct{ user, project, local, json bool }

func (o *layerOptions) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.local, "local", false, "for you in this repository: .entire/settings.local.json, or the git directory (the default in an enabled repository)")
	f.BoolVar(&o.project, "project", false, "for everybody who works on it: .entire/settings.json")
	f.BoolVar(&o.user, "user", false, "for you in all repositories: ~/.config/entire/settings.json (the default elsewhere)")
	JSONFlag(f, &o.json)
	cmd.MarkFlagsMutuallyExclusive("local", "project", "user")
	cmd.ValidArgsFunction = completeSetting
}

func newSetCmd(a *app.App) *cobra.Command {
	var opts layerOptions
	cmd := &cobra.Command{
		Use:   "set <key> <value>",
		Short: "Change a setting",
		Long: `Writes a setting to the file of one layer. Invalid values are refused. If a higher
layer overrides the setting here, it says so. The end of a key is enough, such as
push_remote for strategy_options.push_remote.

EXIT STATUS
  0  written
  1  failure
  2  wrong usage, an unknown key or a bad value`,
		Example: `  entire config set log_level debug
  entire config push_remote origin
  entire config set commit_linking prompt --project`,
		Args:        cobra.ExactArgs(2),
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(_ *cobra.Command, args []string) error {
			key, err := findKey(args[0])
			if err != nil {
				return err
			}
			return setValue(a, opts, key, args[1])
		},
	}
	opts.register(cmd)
	return cmd
}

func newUnsetCmd(a *app.App) *cobra.Command {
	var opts layerOptions
	cmd := &cobra.Command{
		Use:   "unset <key>",
		Short: "Remove a setting",
		Long: `Removes a setting from the file of one layer, and prints the value that takes its
place.

EXIT STATUS
  0  removed, or not set
  1  failure
  2  wrong usage, or an unknown key`,
		Example: `  entire config unset log_level
  entire config unset push_remote --user`,
		Args:        cobra.ExactArgs(1),
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(_ *cobra.Command, args []string) error {
			key, err := findKey(args[0])
			if err != nil {
				return err
			}
			return changeSetting(a, opts, settings.Change{Key: key})
		},
	}
	opts.register(cmd)
	return cmd
}

func newGetCmd(a *app.App) *cobra.Command {
	var json bool
	cmd := &cobra.Command{
		Use:   "get <key>",
		Short: "Print the value of a setting",
		Long: `Prints the value in force here, and nothing else.

EXIT STATUS
  0  printed
  2  wrong usage, or an unknown key`,
		Example: `  entire config get strategy
  entire config get bands.cap --json`,
		Args:              cobra.ExactArgs(1),
		Annotations:       map[string]string{app.WorksDisabled: "yes"},
		ValidArgsFunction: completeSetting,
		RunE: func(_ *cobra.Command, args []string) error {
			key, err := findKey(args[0])
			if err != nil {
				return err
			}
			return printValue(a, key, json)
		},
	}
	JSONFlag(cmd.Flags(), &json)
	return cmd
}

// setValue sets a key to a value, given as text.
func setValue(a *app.App, opts layerOptions, key, value string) error {
	change, err := settings.ParseChange(key, value)
	if err != nil {
		return Refused(err, listCommand)
	}
	return changeSetting(a, opts, change)
}

// printValue prints the value of a key that is in force.
func printValue(a *app.App, key string, json bool) error {
	s := a.Settings(here(a))
	v := valueOf(&s, key)
	if json {
		return a.Streams.JSON(v)
	}
	if list, isList := v.Value.([]string); isList {
		a.Streams.Printf("%s\n", strings.Join(list, "\n"))
		return nil
	}
	a.Streams.Printf("%v\n", v.Value)
	return nil
}

func findKey(name string) (string, error) {
	key, err := settings.FindKey(name)
	if errors.Is(err, settings.ErrUnknownKey) {
		if near := nearestKey(name); near != "" {
			return key, app.WithHint(app.Usagef("%v", err), "did you mean "+near+"?")
		}
	}
	return key, Refused(err, listCommand)
}

// nearestKey returns the key that is most similar to a name, as a whole or in its last words; "" if none is.
func nearestKey(name string) string {
	keys := settings.Keys()
	if near := Nearest(keys, name); near != "" {
		return near
	}
	tails := map[string]string{}
	var names []string
	for _, key := range keys {
		tail := key[strings.LastIndexByte(key, '.')+1:]
		tails[tail] = key
		names = append(names, tail)
	}
	return tails[Nearest(names, name[strings.LastIndexByte(name, '.')+1:])]
}

// here returns the repository of the working directory, nil if there is none.
func here(a *app.App) *git.Repo {
	repo, err := a.Repository()
	if err != nil {
		return nil
	}
	return repo
}

// changeSetting writes a change, and prints the value that is then in force.
func changeSetting(a *app.App, opts layerOptions, change settings.Change) error {
	repo := here(a)
	s := a.Settings(repo)
	from := a.SettingsSources(repo)
	layer, path := settings.User, settings.UserFile(from)
	switch enabled := repo != nil && repo.Root != "" && s.Configured; {
	case settings.IsGlobal(change.Key) && (opts.local || opts.project):
		return app.Usagef("%s is for all repositories: pass --user, or no flag", change.Key)
	case opts.user, !opts.local && !opts.project && !enabled, settings.IsGlobal(change.Key):
	case !enabled:
		return app.WithHint(errors.New("Entire is not enabled in this repository"), "run `entire enable`, or pass --user") //nolint:staticcheck // a name
	case opts.project:
		layer, path = settings.Project, settings.ProjectFile(repo.Root)
	case s.Activation.Level == settings.Machine: // nothing is written into the tree
		layer, path = settings.Clone, settings.CloneFile(repo.CommonDir)
	default:
		layer, path = settings.Local, settings.LocalFile(repo.Root)
	}
	var err error
	absent := false // removing the key changes nothing in the file
	if change.Value == nil {
		data, unread := settings.ReadFile(path)
		if absent = errors.Is(unread, fs.ErrNotExist); unread == nil {
			without, bad := settings.Apply(data, change) // the edit reports an error
			absent = bad == nil && bytes.Equal(data, without)
		}
	}
	switch {
	case absent:
	case layer == settings.User:
		_, err = settings.Configure(from, change)
	default:
		if change, err = change.Check(settings.Source{Layer: layer, Name: path}); err == nil && layer == settings.Clone {
			_, err = settings.EditClone(repo.CommonDir, change)
		} else if err == nil {
			err = writeHere(repo, path, layer == settings.Local, change)
		}
	}
	if err != nil {
		return Refused(err, listCommand)
	}
	s = a.Settings(repo)
	v := valueOf(&s, change.Key)
	if opts.json {
		if err := a.Streams.JSON(v); err != nil {
			return err
		}
	} else {
		var t ui.Table
		t.AddRow(v.Key, Shown(v.Value), Origin(v))
		a.Streams.Printf("%s", a.Streams.Table(&t))
	}
	if absent {
		a.Streams.Notef("Nothing to change: %s doesn't set it.", path)
		return nil
	}
	a.Streams.Notef("Written to %s.", path)
	for _, o := range s.Overrides(layer, change.Key) {
		a.Streams.Notef("%s is overridden here by the %s layer: %s", o.Key, o.Source.Layer, o.Source.Name)
	}
	for _, p := range s.Pending() {
		if p.Key == change.Key && layer == settings.Project {
			a.Streams.Notef("The project can only propose %s: each person must accept it with `entire enable`.", p.Key)
		}
	}
	return nil
}

// writeHere changes a settings file of the worktree. It makes git ignore a personal file.
func writeHere(repo *git.Repo, path string, personal bool, change settings.Change) error {
	project, err := OpenProject(repo)
	if err != nil {
		return err
	}
	if personal {
		if err := project.Ignore(false); err != nil {
			return err
		}
	}
	return project.Set(path, change)
}

func valueOf(s *settings.Settings, key string) Value {
	for _, v := range JSON(s).Values {
		if v.Key == key {
			return v
		}
	}
	return Value{Key: key}
}

// Origin returns the layer of a value and, in parentheses, its file or variable.
func Origin(v Value) string {
	if v.Source == "" {
		return v.Layer
	}
	return v.Layer + " (" + v.Source + ")"
}

// listCommand lists all keys.
const listCommand = "entire config"

// Refused turns the errors of unknown keys and bad values into usage errors; list is the command
// that lists the keys. It returns other errors unchanged.
func Refused(err error, list string) error {
	bad, isBad := errors.AsType[*settings.BadValueError](err)
	switch {
	case isBad:
		return app.Usagef("%s", strings.TrimPrefix(bad.Error(), ": "))
	case errors.Is(err, settings.ErrUnknownKey):
		return app.WithHint(app.Usagef("%v", err), "`"+list+"` lists them")
	}
	return err
}

// completeSetting completes a key, and then its possible values.
func completeSetting(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	switch {
	case len(args) == 0:
		return settings.Keys(), cobra.ShellCompDirectiveNoFileComp
	case len(args) == 1 && (cmd.Name() == "set" || cmd.Name() == "config"):
		key, err := settings.FindKey(args[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return settings.Examples(key), cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveNoFileComp
}
