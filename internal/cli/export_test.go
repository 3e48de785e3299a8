package cli

import (
	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/internal/cli/app"
)

// CommandPaths is every command of both programs that runs, by what is typed.
func CommandPaths() []string {
	var paths []string
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if cmd.Runnable() {
			paths = append(paths, cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	env := app.Env{Getenv: func(string) string { return "" }}
	walk(newRootCmd(app.New(env), commands()))
	walk(newAgentFSCmd(app.New(env)))
	return paths
}
