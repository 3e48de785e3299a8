package stores

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/export"
	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/cli/stores/access"
	"github.com/seed-3aff656d/entire/internal/ui"
)

type fsExportOptions struct{ ignored bool }

func newFSExportCmd(f *access.Command) *cobra.Command {
	var opts fsExportOptions
	cmd := &cobra.Command{
		Use:   "export <version> <dir>",
		Short: "Write a checkpoint's tree into a new folder",
		Long: `Writes the tree of a checkpoint into a folder, which must not exist or be empty.
The project and the store stay as they are. Files that git ignores are left out
unless --ignored is given: keys and passwords are often among them.` + access.ExitStatus,
		Example: "  " + f.Program + " export v3 ../before",
		Args:    cobra.ExactArgs(2),
		RunE: f.Run(func(ctx context.Context, args []string) error {
			return runFSExport(ctx, f, opts, args[0], args[1])
		}),
	}
	cmd.ValidArgsFunction = completeVersions(f, 1, "")
	cmd.Flags().BoolVar(&opts.ignored, "ignored", false, "write files that git ignores too")
	return cmd
}

// exportedJSON is what `export --json` prints.
type exportedJSON struct {
	Version string               `json:"version"`
	Dir     string               `json:"dir"`
	Files   int                  `json:"files"`
	LeftOut []string             `json:"left_out"`
	Failed  []format.FailureJSON `json:"failed"`
}

func runFSExport(ctx context.Context, f *access.Command, opts fsExportOptions, version, dir string) error {
	v, err := parseVersion(version)
	if err != nil {
		return err
	}
	s, err := f.SelectedTree(ctx, "export")
	if err != nil {
		return err
	}
	defer s.Close()
	snapshot, err := s.Snapshot(v)
	if err != nil {
		return err
	}
	dir = f.Absolute(dir)
	options := export.Options{}
	if !opts.ignored {
		options.Ignored = s.Options.Ignored
	}
	var done export.Result
	err = f.Streams.Sized("Exporting", func(reach func(string, ui.Amount)) (err error) {
		options.Progress = format.ProgressOnly(reach)
		done, err = export.Run(ctx, s.Store, snapshot, dir, options)
		return err
	})
	if errors.Is(err, export.ErrNotEmpty) {
		return app.WithHint(err, "name a folder that doesn't exist yet")
	}
	if err != nil && len(done.Failed) == 0 {
		return err
	}
	return exported(f, v, dir, done)
}

func exported(f *access.Command, v bands.Version, dir string, done export.Result) error {
	for _, failure := range done.Failed {
		f.Streams.Notef("not exported: %s: %v", format.Path(failure.Path), failure.Err)
	}
	switch {
	case f.JSON:
		err := f.PrintJSON(exportedJSON{
			Version: v.String(), Dir: dir, Files: done.Files, LeftOut: format.NotNil(done.LeftOut), Failed: format.NewFailuresJSON(done.Failed),
		})
		if err != nil {
			return err
		}
	default:
		f.Streams.Printf("Exported %s to %s (%s)\n", v, f.ShortPath(dir), ui.Plural(done.Files, "file"))
		if n := len(done.LeftOut); n > 0 {
			f.Streams.Notef("%s that git ignores left out (--ignored)", ui.Plural(n, "path"))
		}
	}
	if len(done.Failed) > 0 {
		return app.ErrFailed
	}
	return nil
}
