// Command entire records coding sessions with every commit. It is the program that git and agents
// start: it runs the hooks that somebody waits for, and executes entire-cli for everything else.
package main

import (
	"fmt"
	"os"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/hookrun"
	"github.com/seed-3aff656d/entire/internal/proc"
)

var version = "dev" // set by the linker

func main() {
	args := os.Args[1:]
	var failed error
	if !hookrun.Handles(args) || hookrun.NeedsDatabase(args) {
		failed = execute(args)
	}
	if hookrun.Handles(args) { // hooks also run without the other program
		os.Exit(app.Run(version, hookrun.Main))
	}
	fmt.Fprintln(os.Stderr, "Error:", failed)
	if hint := app.HintOf(failed); hint != "" {
		fmt.Fprintln(os.Stderr, "hint:", hint)
	}
	os.Exit(app.ExitFailure)
}

// execute replaces this program with entire-cli. It returns only on failure.
func execute(args []string) error {
	path, err := hookrun.FindCommands(os.Getenv)
	if err != nil {
		return err
	}
	return fmt.Errorf("start %s: %w", path, proc.Replace(path, args, os.Environ()))
}
