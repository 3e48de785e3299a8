package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func newFSUseCmd(f *fsApp) *cobra.Command {
	return &cobra.Command{
		Use:   "use <name>",
		Short: "Select a store for the current folder",
		Long: `Names a store in a file .agentfs in the current folder: commands in it and below
work on that store. Outside of the store's own folder they only read it, unless it
is named with --store. "entire fs" in an enabled repository works on the
repository's own store all the same.` + fsExitStatus,
		Example: "  " + f.program + " use myapp",
		Args:    cobra.ExactArgs(1),
		RunE:    f.run(func(ctx context.Context, args []string) error { return runFSUse(ctx, f, args[0]) }),
	}
}

func runFSUse(ctx context.Context, f *fsApp, name string) error {
	if f.Dir == "" {
		return errors.New("the working directory is gone")
	}
	path := filepath.Join(f.Dir, ".agentfs")
	_, err := os.Lstat(path)
	isNew := errors.Is(err, fs.ErrNotExist)
	entry, err := f.registry().Use(ctx, f.Dir, f.named(name))
	switch {
	case err != nil:
		return err
	case f.json:
		return f.compact(map[string]string{"store": entry.Name, "file": path})
	case isNew:
		f.say("Created .agentfs")
	default:
		f.say("Updated .agentfs")
	}
	return nil
}
