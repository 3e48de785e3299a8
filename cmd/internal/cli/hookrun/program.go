package hookrun

import (
	"debug/buildinfo"
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// CommandsName is the name of the program with all commands, which entire executes.
const CommandsName = "entire-cli"

// FindCommands returns the program CommandsName in the folder of the running program, else on the
// PATH. The error, if there is none, has a hint.
func FindCommands(getenv func(string) string) (path string, err error) {
	if self, err := os.Executable(); err == nil {
		for _, self := range []string{self, disk.Physical(self)} { // it may be a link
			path = filepath.Join(filepath.Dir(self), CommandsName)
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				return path, nil
			}
		}
	}
	if path, found := app.FindOnPath(getenv, CommandsName); found {
		return path, nil
	}
	return "", app.WithHint(errors.New("the program "+CommandsName+" is neither beside entire nor on the PATH"),
		"install both with `make install` or `go install ./cmd/...`; hooks work without it")
}

// printVersion prints the version, and the program with the other commands.
func printVersion(a *app.App) {
	a.PrintVersion()
	path, err := FindCommands(a.Getenv)
	if err != nil {
		a.Streams.Notef("Error: %s", err)
		a.Streams.Hint(app.HintOf(err))
		return
	}
	state := "not readable"
	if other, err := buildinfo.ReadFile(path); err == nil {
		state = "same build"
		if own, ok := debug.ReadBuildInfo(); ok && build(own) != build(other) {
			state = "another build, " + build(other)
		}
	}
	a.Streams.Printf("Commands: %s (%s)\n", a.ShortPath(path), state)
}

// build describes what a program was built from: the module's version and git's revision.
func build(info *debug.BuildInfo) string {
	parts := []string{info.Main.Version}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" && s.Value == "true" {
			parts = append(parts, s.Key+"="+s.Value)
		}
	}
	return strings.Join(append(parts, info.GoVersion), " ")
}
