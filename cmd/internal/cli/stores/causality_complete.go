package stores

import (
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// completeCauses completes the flags of log with the values of the newest checkpoints, each once.
func completeCauses(f *Command, cmd *cobra.Command) {
	const newest = 200
	one := func(of func(bands.Causality) string) func(bands.Causality) []string {
		return func(c bands.Causality) []string { return []string{of(c)} }
	}
	for name, values := range map[string]func(bands.Causality) []string{
		"agent":   one(func(c bands.Causality) string { return c.Agent }),
		"action":  one(func(c bands.Causality) string { return c.Action }),
		"session": one(func(c bands.Causality) string { return c.Session }),
		"meta": func(c bands.Causality) (pairs []string) {
			for _, key := range slices.Sorted(maps.Keys(c.Metadata)) {
				pairs = append(pairs, key+"="+c.Metadata[key])
			}
			return pairs
		},
	} {
		setup.Flag(cmd, name, func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			s, err := f.Selected(cmd.Context())
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			defer s.Close()
			versions, err := s.Versions()
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var found []cobra.Completion
			for _, v := range versions[max(0, len(versions)-newest):] {
				snapshot, err := s.Snapshot(v)
				if err != nil {
					continue
				}
				for _, value := range values(snapshot.Causality) {
					if value != "" && ui.Line(value, len(value)) == value && strings.HasPrefix(value, begun) && !slices.Contains(found, value) {
						found = append(found, value)
					}
				}
			}
			return found, cobra.ShellCompDirectiveNoFileComp
		})
	}
	times := []cobra.Completion{"30m", "2h", "1d", "1w"}
	setup.Flag(cmd, "since", cobra.FixedCompletions(times, cobra.ShellCompDirectiveNoFileComp))
}
