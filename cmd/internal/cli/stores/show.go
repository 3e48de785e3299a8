package stores

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
)

func newFSShowCmd(f *Command) *cobra.Command {
	return &cobra.Command{
		Use:   "show <version>:<path>",
		Short: "Print a file as it was at a checkpoint",
		Long: `Prints a file as of a checkpoint, byte for byte. The path is relative to the tree's
root, or to the current folder if it starts with ./ or ../; it may be absolute.` + ExitStatus,
		Example:           "  " + f.Program + " show v3:src/auth.ts > auth.ts.old",
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: completeVersions(f, 1, ":"),
		RunE: f.Run(func(ctx context.Context, args []string) error {
			return f.printFile(ctx, strings.Join(args, ":")) // version and path may be two arguments
		}),
	}
}

// printFile prints a file of a snapshot, named as v3:src/auth.ts.
func (c *Command) printFile(ctx context.Context, what string) error {
	version, path, ok := strings.Cut(what, ":")
	if !ok || path == "" {
		return app.Usagef("%q: give a version and a path, such as v3:path/of/file", what)
	}
	s, snapshot, err := c.at(ctx, version)
	if err != nil {
		return err
	}
	defer s.Close()
	if strings.HasPrefix(path, "./") || strings.HasPrefix(path, "../") || filepath.IsAbs(path) {
		paths, err := s.TreePaths(path)
		if err != nil {
			return err
		}
		if paths == nil {
			return app.Usagef("%s is the tree itself", format.Path(path))
		}
		path = paths[0]
	}
	path = strings.TrimSuffix(path, "/")
	err = c.Streams.Show(func(w io.Writer) error {
		if s.IsVolume() {
			view, err := volume.Open(s.Store, snapshot)
			if err != nil {
				return err
			}
			return errors.Join(view.ReadFile(path, w), view.Close())
		}
		return restore.ReadFile(s.Store, snapshot, path, w)
	})
	if errors.Is(err, fs.ErrNotExist) && !errors.Is(err, bands.ErrDamaged) {
		return fmt.Errorf("%s has no file %s", snapshot.Version, format.Path(path))
	}
	return err
}
