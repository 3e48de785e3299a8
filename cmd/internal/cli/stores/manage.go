package stores

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
)

func newFSManageCmd(f *Command) *cobra.Command {
	var name, size string
	cmd := &cobra.Command{
		Use:   "manage <dir>",
		Short: "Create a store for an existing folder",
		Long: `Creates a store for an existing folder. Files are not moved or changed; a file .agentfs
names the store. The store has the folder's name, unless --name is given. If the
folder was moved together with its .agentfs, its new place is recorded. If it replaced
a store's folder, it becomes the store's folder.` + ExitStatus,
		Example: "  " + f.Program + " manage ~/projects/myapp",
		Args:    cobra.ExactArgs(1),
		RunE: f.RunStrict(func(ctx context.Context, args []string) error {
			known := f.Registry()
			config, err := usableConfig(f, known)
			if err != nil {
				return err
			}
			room, err := parseSize(size)
			if err != nil {
				return err
			}
			return makeStore(f, config, func() (registry.Entry, error) {
				return known.Manage(ctx, f.Absolute(args[0]), name, room)
			})
		}),
	}
	cmd.Flags().StringVar(&name, "name", "", "the store's name")
	cmd.Flags().StringVar(&size, "size", "", "room for the checkpoints, such as 50G")
	return cmd
}

func newFSUnmanageCmd(f *Command) *cobra.Command {
	return &cobra.Command{
		Use:   "unmanage [dir]",
		Short: "Delete a folder's store, but keep the folder",
		Long: `Deletes the store of a folder, by default the current one, and its checkpoints. The
folder is kept, with all files except .agentfs. It asks first, unless --force is
given.` + ExitStatus,
		Example: "  " + f.Program + " unmanage ~/projects/myapp",
		Args:    cobra.MaximumNArgs(1),
		RunE: f.Run(func(ctx context.Context, args []string) error {
			dir := f.Dir
			if len(args) > 0 {
				dir = f.Absolute(args[0])
			}
			known := f.Registry()
			entries, err := known.List(ctx)
			if err != nil {
				return err
			}
			i := slices.IndexFunc(entries, func(e registry.Entry) bool { return app.SameFile(e.Root, dir) })
			if i < 0 {
				return app.WithCode(app.ExitNoStore, fmt.Errorf("%s is not a store's folder", f.ShortPath(dir)))
			}
			entry := entries[i]
			if volume.Contained(entry.Driver) {
				return app.Usagef("store '%s' has the driver %s: `%s delete %s` deletes it", entry.Name, entry.Driver, f.Program, entry.Name)
			}
			question := deletion(f, entry)
			if yes, err := sure(ctx, f, question); err != nil || !yes {
				return err
			}
			if entry, err = known.Unmanage(ctx, dir); err != nil {
				return err
			}
			return deleted(ctx, f, entry)
		}),
	}
}
