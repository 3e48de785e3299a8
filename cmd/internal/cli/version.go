package cli

import (
	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
)

func newVersionCmd(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Long: `Shows the version of entire, how it was built, and the program that runs its commands.

EXIT STATUS
  0  always`,
		Example:     `  entire version`,
		Args:        cobra.NoArgs,
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(*cobra.Command, []string) error {
			a.PrintVersion()
			return nil
		},
	}
}
