// Package hookrun runs what git and agents start: hooks, their detached children and the status
// line. It exits with 0, whatever happens. Neither it nor what it imports depends on cobra, on a driver
// for databases, or on libraries for terminals, MCP or the network: see docs/adr/0021.
package hookrun

import (
	"context"
	"slices"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
)

// StatuslineCommand is the name of the command that prints the status line.
const StatuslineCommand = "statusline"

// Handles reports whether Main runs a command line. All others belong to package cli.
func Handles(args []string) bool {
	if len(args) == 0 {
		return false
	}
	switch args[0] {
	case "hooks":
		return true // with any arguments, as a hook must not fail
	case StatuslineCommand:
		return !slices.ContainsFunc(args[1:], func(arg string) bool { return arg == "--help" || arg == "-h" })
	}
	return args[0] == "version" && len(args) == 1
}

// NeedsDatabase reports whether a command line that Main runs is a hook that reads or writes saved
// contexts, or a detached child. Without the driver Main runs these, too: rows that they would write
// are left to the next process that reads them.
func NeedsDatabase(args []string) bool {
	if len(args) == 0 || args[0] != "hooks" {
		return false
	}
	h := parse(args[1:])
	saving := []string{"session-start", "session-brief", "session-end", "pre-compact", "post-compact"}
	return h.kind == "child" || h.kind == "agent" && slices.Contains(saving, h.name)
}

// Main runs a command line that it [Handles] and returns the exit code. For hooks and the status
// line the code is 0, even after a panic, so that they never block an agent or a commit.
func Main(ctx context.Context, args []string, env app.Env) (code int) {
	defer func() {
		if recover() != nil { // a hook logs its own panics
			code = app.ExitOK
		}
	}()
	a := app.New(env)
	switch args[0] {
	case "hooks":
		runHook(ctx, a, args[1:])
	case StatuslineCommand:
		Statusline(ctx, a)
	default:
		printVersion(a)
		if lost := a.Streams.OutError(); lost != nil {
			a.Streams.Notef("Error: can't print everything: %s", lost)
			return app.ExitFailure
		}
	}
	return app.ExitOK
}
