package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
)

type fsManageOptions struct{ name, size string }

func newFSManageCmd(f *fsApp) *cobra.Command {
	var opts fsManageOptions
	cmd := &cobra.Command{
		Use:   "manage <dir>",
		Short: "Make a store of an existing folder, in place",
		Long: `Makes a store for a folder that is there. Nothing in it is moved or changed; a
file .agentfs names the store. Its name is that of the folder, unless --name is
given. For a folder that was moved, together with its .agentfs, it tells the
store the new place; for one that took the place of a store's folder, that it is
the store's from now on.` + fsExitStatus,
		Example: "  " + f.program + " manage ~/projects/myapp",
		Args:    cobra.ExactArgs(1),
		RunE:    f.run(func(ctx context.Context, args []string) error { return runFSManage(ctx, f, opts, args[0]) }),
	}
	cmd.Flags().StringVar(&opts.name, "name", "", "the store's name")
	cmd.Flags().StringVar(&opts.size, "size", "", "room for the checkpoints, such as 50G")
	return cmd
}

func runFSManage(ctx context.Context, f *fsApp, opts fsManageOptions, dir string) error {
	known := f.registry()
	config, err := known.Config()
	if err != nil {
		return err
	}
	size, err := parseSize(opts.size)
	if err != nil {
		return err
	}
	return f.makeStore(config, func() (bands.Entry, error) {
		return known.Manage(ctx, f.absolute(dir), opts.name, size)
	})
}

func newFSUnmanageCmd(f *fsApp) *cobra.Command {
	return &cobra.Command{
		Use:   "unmanage [dir]",
		Short: "Undo manage: delete the folder's store, leave the folder",
		Long: `Deletes the store of a folder, by default the current one, and its checkpoints.
The folder stays, with all its files but .agentfs. It asks first, unless --force
is given.` + fsExitStatus,
		Example: "  " + f.program + " unmanage ~/projects/myapp",
		Args:    cobra.MaximumNArgs(1),
		RunE:    f.run(func(ctx context.Context, args []string) error { return runFSUnmanage(ctx, f, args) }),
	}
}

func runFSUnmanage(ctx context.Context, f *fsApp, args []string) error {
	dir := f.Dir
	if len(args) > 0 {
		dir = f.absolute(args[0])
	}
	known := f.registry()
	entry, err := storeOf(ctx, known, dir)
	if err != nil {
		return err
	}
	if entry.Name == "" {
		return coded(exitNoStore, fmt.Errorf("%s is no store's folder", f.shortPath(dir)))
	}
	question := f.deletion(entry)
	if yes, err := f.sure(ctx, question); err != nil || !yes {
		return err
	}
	if entry, err = known.Unmanage(ctx, dir); err != nil {
		return err
	}
	return f.deleted(ctx, entry)
}

// storeOf is the store whose folder dir is, the zero Entry if it is none's.
func storeOf(ctx context.Context, known *bands.Registry, dir string) (bands.Entry, error) {
	entries, err := known.List(ctx)
	if err != nil {
		return bands.Entry{}, err
	}
	for _, e := range entries {
		if sameDir(e.Root, dir) {
			return e, nil
		}
	}
	return bands.Entry{}, nil
}
