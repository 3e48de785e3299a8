package cli

import (
	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/hookrun"
)

// newStatusline returns the command that the agent runs for its status line.
func newStatusline(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:    hookrun.StatuslineCommand,
		Short:  "Print the agent's status line",
		Hidden: true,
		Long: `Claude Code runs this command after entire enable --statusline. It records how full the
context is, and then runs the status line that was set before, or prints a short one.

EXIT STATUS
  0  always`,
		Args:        cobra.ArbitraryArgs,
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			hookrun.Statusline(cmd.Context(), a)
			return nil
		},
	}
}
