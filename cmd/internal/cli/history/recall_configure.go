package history

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/settings"
)

// recallPrefix is the prefix of the keys of all settings of saved contexts.
const recallPrefix = "recall."

func newRecallConfigureCmd(a *app.App, opts *outputFlags) *cobra.Command {
	var preset string
	var unset []string
	cmd := &cobra.Command{
		Use:   "configure [key=value]...",
		Short: "Show or change when contexts are saved and restored",
		Long: `Without arguments it shows the settings of context checkpoints in force here, and where
they come from. With key=value it changes your own settings, in
~/.config/entire/settings.json, and reports if a higher layer overrides them here.

  auto_checkpoint_on_clear=true|false|prompt   save before /clear; prompt asks
  auto_resume_on_start=true|false|prompt       give a new session the work before it
  inject=start|prompt|off                      give it at the start, or with the first prompt
  checkpoint_threshold_percent=70..95          save when the context is that full
  verify_before_clear=true|false               do nothing at /clear if nothing changed

The list shows the other keys. --preset sets all of these except inject: auto (save and
restore without asking), prompt (ask before a clear), manual (do nothing).

EXIT STATUS
  0  done
  1  failure
  2  wrong usage, an unknown key or a bad value`,
		Example: `  entire recall configure
  entire recall configure --preset auto
  entire recall configure auto_checkpoint_on_clear=prompt checkpoint_threshold_percent=80
  entire recall configure --unset mode`,
		RunE: func(_ *cobra.Command, args []string) error {
			repo, err := a.Repository()
			if err != nil {
				repo = nil // the user's own settings need none
			} else {
				defer func() { _ = repo.Close() }()
			}
			var changes []settings.Change
			if preset != "" {
				var known bool
				if changes, known = settings.Preset(preset); !known {
					return app.Usagef("unknown preset %q (known: %s)", preset, strings.Join(settings.Presets(), ", "))
				}
			}
			for _, arg := range args { // arguments override the preset
				name, text, found := strings.Cut(arg, "=")
				if !found {
					return app.Usagef("%q is not key=value", arg)
				}
				change, err := settings.ParseChange(recallKey(name), text)
				if err != nil {
					return setup.Refused(err, "entire recall configure")
				}
				changes = append(changes, change)
			}
			for _, name := range unset {
				changes = append(changes, settings.Change{Key: recallKey(name)})
			}
			return configureRecall(a, *opts, a.SettingsSources(repo), changes)
		},
	}
	// Complete a key, and after the equals sign its possible values.
	cmd.ValidArgsFunction = func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		var words []string
		name, _, isValue := strings.Cut(typed, "=")
		if isValue {
			for _, value := range settings.Examples(recallPrefix + name) {
				words = append(words, name+"="+value)
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		}
		for _, key := range settings.Keys() {
			if rest, found := strings.CutPrefix(key, recallPrefix); found {
				words = append(words, rest+"=")
			}
		}
		return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	cmd.Flags().StringVar(&preset, "preset", "", "set several keys at once: "+strings.Join(settings.Presets(), ", "))
	setup.Flag(cmd, "preset", cobra.FixedCompletions(settings.Presets(), cobra.ShellCompDirectiveNoFileComp))
	cmd.Flags().StringArrayVar(&unset, "unset", nil, "remove this key from your own settings; may be repeated")
	return cmd
}

// recallKey returns the key of a settings file for a key with or without its prefix.
func recallKey(name string) string {
	return recallPrefix + strings.TrimPrefix(strings.TrimSpace(name), recallPrefix)
}

// recallConfigJSON is the output of `recall configure --json`.
type recallConfigJSON struct {
	File    string        `json:"file"` // the user's own settings
	Changed []string      `json:"changed"`
	Values  []setup.Value `json:"values"`
	// Overridden holds the changed keys that a layer above the user's own settings decides here.
	Overridden []overrideJSON `json:"overridden"`
}

type overrideJSON struct {
	Key    string `json:"key"`
	Layer  string `json:"layer"`
	Source string `json:"source"`
}

// configureRecall writes the changes and shows the changed settings. Without changes it shows all
// that are in force.
func configureRecall(a *app.App, opts outputFlags, from settings.Sources, changes []settings.Change) error {
	s := settings.Load(from)
	if len(changes) > 0 {
		var err error
		if s, err = settings.Configure(from, changes...); err != nil {
			return setup.Refused(err, "entire recall configure")
		}
	}
	j := recallConfigJSON{File: settings.UserFile(from), Changed: []string{}, Values: []setup.Value{}, Overridden: []overrideJSON{}}
	for _, c := range changes {
		if !slices.Contains(j.Changed, c.Key) {
			j.Changed = append(j.Changed, c.Key)
		}
	}
	for _, v := range setup.JSON(&s).Values {
		if strings.HasPrefix(v.Key, recallPrefix) {
			j.Values = append(j.Values, v)
		}
	}
	for _, o := range s.Overrides(settings.User, j.Changed...) {
		j.Overridden = append(j.Overridden, overrideJSON{Key: o.Key, Layer: o.Source.Layer.String(), Source: o.Source.Name})
	}
	if opts.json {
		return a.Streams.JSON(j)
	}
	var table ui.Table
	for _, v := range j.Values {
		if len(j.Changed) == 0 || slices.Contains(j.Changed, v.Key) {
			table.AddRow(strings.TrimPrefix(v.Key, recallPrefix), setup.Shown(v.Value), setup.Origin(v))
		}
	}
	a.Streams.Printf("%s", table.String())
	if len(j.Changed) > 0 {
		a.Streams.Notef("Written to %s.", j.File)
	}
	for _, o := range j.Overridden {
		a.Streams.Notef("%s is overridden here by the %s layer: %s", strings.TrimPrefix(o.Key, recallPrefix), o.Layer, o.Source)
	}
	for _, p := range s.Problems {
		if strings.HasPrefix(p.Key, recallPrefix) {
			a.Streams.Notef("%s; the default is used", p.String())
		}
	}
	return nil
}
