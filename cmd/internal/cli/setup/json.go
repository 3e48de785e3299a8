package setup

import (
	"strconv"

	"github.com/spf13/pflag"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/hooks/agenthook"
	"github.com/seed-3aff656d/entire/internal/settings"
)

// JSONFlag adds --json.
func JSONFlag(f *pflag.FlagSet, asJSON *bool) { f.BoolVar(asJSON, "json", false, "print JSON") }

// JSONFlags adds --json and --jsonl, for a command that prints a list.
func JSONFlags(a *app.App, f *pflag.FlagSet, asJSON *bool) {
	JSONFlag(f, asJSON)
	JSONLinesFlag(a, f, asJSON)
}

// JSONLinesFlag adds --jsonl to a command that has --json from the one above it. It sets asJSON,
// too, and the form of the JSON in the streams.
func JSONLinesFlag(a *app.App, f *pflag.FlagSet, asJSON *bool) {
	f.BoolFunc("jsonl", "print JSON, a line for each entry", func(text string) (err error) {
		a.Streams.Lines, err = strconv.ParseBool(text)
		*asJSON = a.Streams.Lines
		return err
	})
}

// withResult calls do and, if it succeeds, result. With asJSON what do prints goes to standard error,
// so that only the result is on standard output; else result isn't called.
func withResult(a *app.App, asJSON bool, do, result func() error) error {
	if !asJSON {
		return do()
	}
	shown := a.Streams
	a.Streams.Out, a.Streams.Terminal.Out = shown.Err, shown.Terminal.Err
	err := do()
	a.Streams = shown
	if err != nil {
		return err
	}
	return result()
}

// recordingJSON is the output of enable, disable, `agents install` and `agents remove` with --json;
// docs/formats/status.md describes it.
type recordingJSON struct {
	Enabled bool           `json:"enabled"`
	Level   settings.Level `json:"level"`
	Agents  []hooksJSON    `json:"agents"`
}

// hooksJSON is an agent with hooks.
type hooksJSON struct {
	Agent     string `json:"agent"`
	File      string `json:"file"`
	Level     string `json:"level"`
	Installed int    `json:"installed"`
}

// printRecording prints what is in force here, or outside of a repository on this machine.
func printRecording(a *app.App) error {
	repo := here(a)
	s := a.Settings(repo)
	out := recordingJSON{Enabled: s.Enabled, Level: s.Activation.Level, Agents: []hooksJSON{}}
	add := func(hooks agenthook.Settings, installed int) {
		if installed > 0 {
			out.Agents = append(out.Agents, hooksJSON{hooks.Agent.Name, hooks.Path, LevelOf(hooks), installed})
		}
	}
	if repo == nil {
		out.Enabled = s.Global.Enabled
		for _, hooks := range UserHooks(a) {
			n, _, err := hooks.Check()
			if err != nil {
				return err
			}
			add(hooks, n)
		}
		return a.Streams.JSON(out)
	}
	defer func() { _ = repo.Close() }()
	all, err := CheckAgents(a, repo)
	if err != nil {
		return err
	}
	for _, h := range all {
		add(h.Settings, h.Installed)
	}
	return a.Streams.JSON(out)
}

// The levels of files with hooks: the project's or the user's own.
const (
	LevelProject = "project"
	LevelUser    = "user"
)

// LevelOf returns the level of hooks.
func LevelOf(hooks agenthook.Settings) string {
	if hooks.User {
		return LevelUser
	}
	return LevelProject
}
