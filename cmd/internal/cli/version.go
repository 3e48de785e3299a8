package cli

import (
	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
)

func newVersionCmd(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Long: `Shows the version of entire and of what it was built with, and the program with the
commands that are not hooks.

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
