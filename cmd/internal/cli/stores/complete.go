package stores

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
)

// completeVersions completes the first most arguments with the versions of the selected store, each
// followed by suffix.
func completeVersions(f *Command, most int, suffix string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) >= most {
			return nil, cobra.ShellCompDirectiveDefault // paths
		}
		s, err := f.Selected(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer s.Close()
		directive := cobra.ShellCompDirectiveNoFileComp
		if suffix != "" {
			directive |= cobra.ShellCompDirectiveNoSpace
		}
		all, err := setup.VersionsOf(f.App, s.Store)
		if err != nil {
			return nil, directive
		}
		var found []cobra.Completion
		for _, v := range all {
			version, about, _ := strings.Cut(v, "\t")
			if strings.HasPrefix(version+suffix, begun) {
				found = append(found, cobra.CompletionWithDesc(version+suffix, about))
			}
		}
		return found, directive
	}
}

// completeStores completes the first argument, or a flag, with the names of stores.
func completeStores(f *Command, isFlag bool) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if !isFlag && len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		entries, err := f.Registry().List(cmd.Context())
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		var found []cobra.Completion
		for _, e := range entries {
			if strings.HasPrefix(e.Name, begun) {
				found = append(found, cobra.CompletionWithDesc(e.Name, f.ShortPath(e.Root)))
			}
		}
		if isFlag {
			return found, cobra.ShellCompDirectiveDefault // or a path
		}
		return found, cobra.ShellCompDirectiveNoFileComp
	}
}
