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
		Long: `Selects a store for the current folder and those below, in a file .agentfs. Outside the
store's own folder, commands only read it, unless it is given with --store. "entire fs"
in an enabled repository still uses the repository's own store.` + ExitStatus,
		Example: "  " + f.Program + " use myapp",
		Args:    cobra.ExactArgs(1),
		RunE: f.Run(func(ctx context.Context, args []string) error {
			if f.Dir == "" {
				return errors.New("the working directory no longer exists")
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
