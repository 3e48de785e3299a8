package setup

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/settings"
)

// NewCommand returns the command.
func NewCommand(a *app.App) *cobra.Command {
	var layer layerOptions
	cmd := &cobra.Command{
		Use:        "config [<key> [<value>]]",
		SuggestFor: []string{"settings", "configure"},
		Short:      "Show and change settings",
		Long: `Shows every setting, its value here, and the layer that sets it. Later layers
override earlier ones: default, user (~/.config/entire/settings.json), project
(.entire/settings.json), local (.entire/settings.local.json), environment
(ENTIRE_...). A local file that git tracks counts as the project's. Problems, and
values that the project proposes and you have not accepted, are printed on standard
error.

EXIT STATUS
  0  shown, even with problems
  2  wrong usage`,
		Example: `  entire config
  entire config bands.cap
  entire config bands.cap 5GB
  entire config push_remote origin
  entire config unset bands.cap`,
		Args:        cobra.MaximumNArgs(2), //nolint:mnd // key and value
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				args = strings.SplitN(args[0], "=", 2) //nolint:mnd // key and value
			}
			if len(args) > 0 {
				key, err := findKey(args[0])
				switch {
				case err != nil:
					return err
				case len(args) > 1:
					return setValue(a, layer, key, args[1])
				}
				return printValue(a, key, layer.json)
			}
			w, s := a.Streams, WithStores(a, a.Settings(here(a)))
			if layer.json {
				return w.JSON(JSON(&s))
			}
			var t ui.Table
			for _, v := range JSON(&s).Values {
				t.AddRow(v.Key, Shown(v.Value), Origin(v))
			}
			a.Page(w.Table(&t))
			for _, note := range SettingsNotes(&s) {
				w.Notef("%s", note.Message)
				if note.Hint != "" {
					w.Hint(note.Hint)
				}
			}
			return nil
		},
	}
	layer.register(cmd)
	cmd.Flags().BoolP("list", "l", true, "list all settings (the default)")
	cmd.Flags().Lookup("list").Hidden = true // users of git pass it
	cmd.AddCommand(newSetCmd(a), newUnsetCmd(a), newGetCmd(a))
	return cmd
}

// WithStores returns settings with the problems and unknown keys of config.toml, the settings of
// stores, added to theirs.
func WithStores(a *app.App, s settings.Settings) settings.Settings {
	_, err := a.Registry().Config()
	for _, bad := range registry.ConfigErrors(err) {
		if bad.Key != "" && bad.Got == "" {
			s.Unknown = append(s.Unknown, settings.UnknownKey{Key: bad.Key, File: bad.File})
			continue
		}
		s.Problems = append(s.Problems, settings.Problem{Where: bad.File, Key: bad.Key, Got: bad.Got, Allowed: strings.TrimPrefix(bad.Problem, "must be ")})
	}
	return s
}

// Shown returns a value for a table, with - for an empty string.
func Shown(v any) string {
	if v == "" {
		return "-"
	}
	return ui.Line(fmt.Sprint(v), 80)
}

// Report is the output of `config --json`; docs/formats/status.md describes it.
type Report struct {
	Values   []Value      `json:"values"`
	Settings SettingsJSON `json:"settings"`
}

// Value is a setting with its value and source.
type Value struct {
	Key    string `json:"key"`
	Value  any    `json:"value"`
	Layer  string `json:"layer"`
	Source string `json:"source,omitempty"`
	Used   bool   `json:"used"`
}

// JSON returns the settings in force in the form of `config --json`.
func JSON(s *settings.Settings) Report {
	r := Report{Settings: NewSettingsJSON(s)}
	for _, v := range s.Values() {
		r.Values = append(r.Values, Value{
			Key: v.Key, Value: v.Value, Layer: v.Source.Layer.String(), Source: v.Source.Name, Used: true,
		})
	}
	return r
}

// SettingsJSON is the state of the settings files.
type SettingsJSON struct {
	Files     []fileJSON     `json:"files"`
	Problems  []problemJSON  `json:"problems"`
	Unknown   []keyJSON      `json:"unknown_keys"`
	Proposals []proposalJSON `json:"proposals"`
}

type fileJSON struct {
	Layer   string `json:"layer"`
	Path    string `json:"path"`
	Enabled bool   `json:"enabled"`
}

type problemJSON struct {
	Where   string `json:"where"`
	Key     string `json:"key,omitempty"`
	Got     string `json:"got,omitempty"`
	Allowed string `json:"allowed"`
}

type keyJSON struct {
	Key  string `json:"key"`
	File string `json:"file"`
}

type proposalJSON struct {
	Key   string `json:"key"`
	Value string `json:"value"`
	File  string `json:"file"`
}

// NewSettingsJSON returns the JSON of settings, with their problems and proposals.
func NewSettingsJSON(s *settings.Settings) SettingsJSON {
	r := SettingsJSON{Files: []fileJSON{}, Problems: []problemJSON{}, Unknown: []keyJSON{}, Proposals: []proposalJSON{}}
	for _, f := range s.Files {
		r.Files = append(r.Files, fileJSON{Layer: f.Layer.String(), Path: f.Path, Enabled: f.Enabled})
	}
	for _, p := range s.Problems {
		r.Problems = append(r.Problems, problemJSON(p))
	}
	for _, u := range s.Unknown {
		r.Unknown = append(r.Unknown, keyJSON{Key: u.Key, File: u.File})
	}
	for _, p := range s.Proposals {
		r.Proposals = append(r.Proposals, proposalJSON(p))
	}
	return r
}

// SettingsNotes returns the problems, unknown keys and proposals as sentences.
func SettingsNotes(s *settings.Settings) []app.Note {
	var notes []app.Note
	for _, p := range s.Problems {
		text := p.String()
		if p.Key != "" {
			text += "; the default is used"
		}
		notes = append(notes, app.Note{Code: "bad-setting", Message: text})
	}
	for _, u := range s.Unknown {
		if u.Foreign {
			continue
		}
		notes = append(notes, app.Note{Code: "unknown-key", Message: u.File + ": unknown key " + strconv.Quote(u.Key)})
	}
	for _, p := range s.Pending() {
		hint := "run `entire enable` on a terminal to decide, or `entire enable --accept " + p.Key + "`"
		if p.Key == settings.KeyPushRemote {
			hint += "; `entire config trust` accepts the remote for all its clones"
		}
		notes = append(notes, app.Note{
			Code:    "proposal",
			Message: fmt.Sprintf("%s proposes %s = %s, which takes effect only if you accept it", p.File, p.Key, ui.Line(p.Value, format.ValueWidth)),
			Hint:    hint,
		})
	}
	return notes
}
