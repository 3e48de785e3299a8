package cli

import (
	"strings"

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
	for _, cmd := range all() {
		if wanted(cmd) {
			paths = append(paths, cmd.CommandPath())
		}
	}
	return paths
}

// all returns all commands of both programs.
func all() (list []*cobra.Command) {
	env := app.Env{Getenv: func(string) string { return "" }}
	list = []*cobra.Command{newRootCmd(newApp(env), commands()), newAgentFSCmd(newApp(env))}
	for i := 0; i < len(list); i++ {
		list = append(list, list[i].Commands()...)
	}
	return list
}

// Descriptions returns the short descriptions of the commands that the help lists, by their names.
func Descriptions() map[string]string {
	texts := map[string]string{}
	for _, cmd := range all() {
		if cmd.IsAvailableCommand() {
			texts[cmd.CommandPath()] = cmd.Short
		}
	}
	return texts
}

// CheckNamed returns what is wrong with a command line of entire that a text names: "" if the command
// exists under this name with the flags.
func CheckNamed(args []string) string {
	cmd, rest, err := all()[0].Find(args)
	if err != nil {
		return err.Error()
	}
	for c := cmd; c != nil; c = c.Parent() {
		if names := c.Annotations[formerly]; names != "" {
			return "it is " + names + " now"
		}
	}
	for _, arg := range rest {
		name, isLong := strings.CutPrefix(arg, "--")
		name, _, _ = strings.Cut(strings.TrimRight(name, ",.;:"), "=")
		if isLong && name != "" && cmd.Flags().Lookup(name) == nil && cmd.InheritedFlags().Lookup(name) == nil && args[0] != "help" && name != "help" && name != "version" {
			return "no flag --" + name
		}
	}
	return ""
}
