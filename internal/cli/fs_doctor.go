package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/ui"
)

func newFSDoctorCmd(f *fsApp) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Rebuild the catalog from the stores, and say what is wrong",
		Long: `Rebuilds the catalog, in which stores and checkpoints are listed, from the stores
themselves. Nothing is lost with the catalog: versions stay what they are. What
is wrong and can't be mended is named.

With --json it prints one object; docs/formats/agentfs.md describes it.` + strings.Replace(fsExitStatus, "failure\n", "something is wrong that stays so, or failure\n", 1),
		Args: cobra.NoArgs,
		RunE: f.run(func(ctx context.Context, _ []string) error { return runFSDoctor(ctx, f) }),
	}
}

func runFSDoctor(ctx context.Context, f *fsApp) error {
	known := f.registry()
	var also []string
	if repo, err := f.repository(); err == nil {
		if !repo.Bare { // what says which folder the store is for is the working tree
			also = append(also, bands.RepositoryDir(repo.CommonDir))
		}
		_ = repo.Close()
	}
	var report bands.Report
	err := f.Streams.Progress("Rebuilding the catalog", func() (err error) {
		report, err = known.Doctor(ctx, also...)
		return err
	})
	if err != nil {
		return err
	}
	if _, err := known.Config(); err != nil {
		report.Problems = append(report.Problems, strings.Split(err.Error(), "\n")...)
	}
	if f.json {
		report.Problems, report.Mended = notNil(report.Problems), notNil(report.Mended)
		if err := f.compact(report); err != nil {
			return err
		}
	} else {
		f.printReport(report)
	}
	if len(report.Problems) > 0 {
		return errFailed
	}
	return nil
}

func (f *fsApp) printReport(r bands.Report) {
	if r.SetAside != "" {
		f.Streams.Printf("The catalog was damaged; it is now %s\n", f.shortPath(r.SetAside))
	}
	for _, line := range r.Mended {
		f.Streams.Printf("Mended: %s\n", line)
	}
	for _, line := range r.Problems {
		f.Streams.Printf("Problem: %s\n", line)
	}
	f.Streams.Printf("Catalog: %s, %s\n", ui.Plural(r.Stores, "store"), ui.Plural(r.Checkpoints, "checkpoint"))
}
