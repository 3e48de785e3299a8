package stores

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func newFSUseCmd(f *Command) *cobra.Command {
	return &cobra.Command{
		Use:   "use <name>",
		Short: "Select a store for the current folder",
		Long: `Names a store in a file .agentfs in the current folder: commands in it and below
work on that store. Outside of the store's own folder they only read it, unless it
is named with --store. "entire fs" in an enabled repository works on the
repository's own store all the same.` + ExitStatus,
		Example: "  " + f.Program + " use myapp",
		Args:    cobra.ExactArgs(1),
		RunE: f.Run(func(ctx context.Context, args []string) error {
			if f.Dir == "" {
				return errors.New("the working directory is gone")
			}
			path := filepath.Join(f.Dir, ".agentfs")
			_, err := os.Lstat(path)
			isNew := errors.Is(err, fs.ErrNotExist)
			entry, err := f.Registry().Use(ctx, f.Dir, f.Named(args[0]))
			switch {
			case err != nil:
				return err
			case f.JSON:
				return f.PrintJSON(usedJSON{entry.Name, path})
			case isNew:
				f.Say("Created .agentfs")
			default:
				f.Say("Updated .agentfs")
			}
			return nil
		}),

		ValidArgsFunction: completeStores(f, false),
	}
}

// usedJSON is the output of `use --json`.
type usedJSON struct {
	Store string `json:"store"`
	File  string `json:"file"`
}
