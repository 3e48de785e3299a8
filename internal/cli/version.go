package cli

import (
	"runtime"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/ui"
)

func newVersionCmd(a *app.App) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Show the version",
		Long: `Shows the version of entire and of what it was built with.

EXIT STATUS
  0  always`,
		Args:        cobra.NoArgs,
		Annotations: map[string]string{app.WorksDisabled: "yes"},
		RunE: func(*cobra.Command, []string) error {
			runVersion(a.Streams, a.Version)
			return nil
		},
	}
}

func runVersion(w ui.Streams, version string) {
	w.Printf("Entire CLI %s\n", version)
	w.Printf("Go version: %s\n", runtime.Version())
	w.Printf("OS/Arch: %s/%s\n", runtime.GOOS, runtime.GOARCH)
}
