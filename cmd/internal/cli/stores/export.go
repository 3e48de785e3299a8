package stores

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

func newFSExportCmd(f *Command) *cobra.Command {
	ignored := false
	cmd := &cobra.Command{
		Use:   "export <version> <dir>",
		Short: "Write a checkpoint's tree into a new folder",
		Long: `Writes the tree of a checkpoint into a new or empty folder. Files that git ignores are
left out unless --ignored is given: keys and passwords are often among them.` + ExitStatus,
		Example: "  " + f.Program + " export v3 ../before",
		Args:    cobra.ExactArgs(2),
		RunE: f.Run(func(ctx context.Context, args []string) error {
			s, snapshot, err := f.at(ctx, args[0])
			if err != nil {
				return err
			}
			defer s.Close()
			dir := f.Absolute(args[1])
			options := restore.ExportOptions{}
			if !ignored {
				options.Ignored = s.Options.Ignored
			}
			var done restore.ExportResult
			err = f.Streams.Sized("Exporting", func(reach func(string, ui.Amount)) (err error) {
				options.Progress = format.ProgressOnly(reach)
				if s.IsVolume() {
					done, err = exportVolume(ctx, s, snapshot, dir, options)
					return err
				}
				done, err = restore.Export(ctx, s.Store, snapshot, dir, options)
				return err
			})
			if errors.Is(err, restore.ErrNotEmpty) {
				return app.WithHint(err, "choose a folder that doesn't exist")
			}
			if err != nil && len(done.Failed) == 0 {
				return err
			}
			for _, failure := range done.Failed {
				f.Streams.Notef("not exported: %s: %v", format.Path(failure.Path), failure.Err)
			}
			if f.JSON {
				err := f.PrintJSON(exportedJSON{
					Version: snapshot.Version.String(), Dir: dir, Files: done.Files, LeftOut: format.NotNil(done.LeftOut), Failed: format.NewFailuresJSON(done.Failed),
				})
				if err != nil {
					return err
				}
			} else {
				f.Streams.Printf("Exported %s to %s (%s)\n", snapshot.Version, f.ShortPath(dir), ui.Plural(done.Files, "file"))
				if n := len(done.LeftOut); n > 0 {
					f.Streams.Notef("%s that git ignores left out (--ignored writes them)", ui.Plural(n, "path"))
				}
			}
			if len(done.Failed) > 0 {
				return app.ErrFailed
			}
			return nil
		}),
	}
	cmd.ValidArgsFunction = completeVersions(f, 1, "")
	cmd.Flags().BoolVar(&ignored, "ignored", false, "also write files that git ignores")
	return cmd
}

// exportedJSON is the output of `export --json`.
type exportedJSON struct {
	Version string               `json:"version"`
	Dir     string               `json:"dir"`
	Files   int                  `json:"files"`
	LeftOut []string             `json:"left_out"`
	Failed  []format.FailureJSON `json:"failed"`
}

// exportVolume is restore.Export for a snapshot of a volume.
func exportVolume(ctx context.Context, s *Selection, snapshot bands.Snapshot, dir string, o restore.ExportOptions) (done restore.ExportResult, err error) {
	view, err := volume.Open(s.Store, snapshot)
	if err != nil {
		return done, err
	}
	wrote, err := view.Export(ctx, dir, volume.ExportOptions{
		Ignored: o.Ignored, Hidden: s.Options.Hidden, Progress: func(n int64) { o.Progress(bands.Progress{Done: n}) },
	})
	done.Files, done.LeftOut = wrote.Files, wrote.LeftOut
	for _, failure := range wrote.Failed {
		done.Failed = append(done.Failed, restore.Failure{Path: failure.Path, Err: failure.Err})
	}
	if errors.Is(err, volume.ErrNotEmpty) {
		err = fmt.Errorf("export %s: %s: %w", snapshot.Version, dir, restore.ErrNotEmpty)
	}
	return done, errors.Join(err, view.Close())
}
