package cli

import (
	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
)

// CommandPaths returns the names of all runnable commands of both programs.
func CommandPaths() []string { return pathsOf((*cobra.Command).Runnable) }

// JSONCommandPaths returns those with the flag --json.
func JSONCommandPaths() []string {
	return pathsOf(func(cmd *cobra.Command) bool {
		return cmd.Runnable() && (cmd.Flags().Lookup("json") != nil || cmd.InheritedFlags().Lookup("json") != nil)
	})
}

// LinesCommandPaths returns those with the flag --jsonl.
func LinesCommandPaths() []string {
	return pathsOf(func(cmd *cobra.Command) bool { return cmd.Runnable() && cmd.Flags().Lookup("jsonl") != nil })
}

func pathsOf(wanted func(*cobra.Command) bool) []string {
	var paths []string
	var walk func(cmd *cobra.Command)
	walk = func(cmd *cobra.Command) {
		if wanted(cmd) {
			paths = append(paths, cmd.CommandPath())
		}
		for _, sub := range cmd.Commands() {
			walk(sub)
		}
	}
	env := app.Env{Getenv: func(string) string { return "" }}
	walk(newRootCmd(newApp(env), commands()))
	walk(newAgentFSCmd(newApp(env)))
	return paths
}
