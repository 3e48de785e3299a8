package stores

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

func newFSDoctorCmd(f *Command) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Rebuild the catalog and report problems",
		Long: `Rebuilds the catalog, which lists stores and checkpoints, from the stores. Nothing is
lost with a damaged catalog. Problems that can't be repaired are listed.

With --json it prints one object; docs/formats/agentfs.md describes it.` + strings.Replace(ExitStatus, "failure\n", "problems remain, or failure\n", 1),
		Example: "  " + f.Program + " doctor",
		Args:    cobra.NoArgs,
		RunE: f.Run(func(ctx context.Context, _ []string) error {
			known := f.Registry()
			var also []string
			if repo, err := f.Repository(); err == nil {
				if !repo.Bare { // the store is for the worktree
					also = append(also, registry.RepositoryDir(repo.CommonDir))
				}
				_ = repo.Close()
			}
			var report registry.Report
			err := f.Streams.Sized("Rebuilding the catalog", func(reach func(string, ui.Amount)) (err error) {
				report, err = known.Doctor(ctx, format.Progress(reach), also...)
				return err
			})
			if err != nil {
				return err
			}
			if _, err := known.Config(); err != nil {
				report.Problems = append(report.Problems, strings.Split(err.Error(), "\n")...)
			}
			if f.JSON {
				report.Problems, report.Mended = format.NotNil(report.Problems), format.NotNil(report.Mended)
				if err := f.PrintJSON(report); err != nil {
					return err
				}
			} else {
				if report.SetAside != "" {
					f.Streams.Printf("The catalog was damaged and moved to %s\n", f.ShortPath(report.SetAside))
				}
				for _, line := range report.Mended {
					f.Streams.Printf("Repaired: %s\n", line)
				}
				for _, line := range report.Problems {
					f.Streams.Printf("Problem: %s\n", line)
				}
				f.Streams.Printf("Catalog: %s, %s\n", ui.Plural(report.Stores, "store"), ui.Plural(report.Checkpoints, "checkpoint"))
			}
			if len(report.Problems) > 0 {
				return app.ErrFailed
			}
			return nil
		}),
	}
}
