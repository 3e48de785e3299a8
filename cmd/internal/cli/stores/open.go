package stores

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

func newFSOpenCmd(f *Command) *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use:   "open [name]",
		Short: "Allow checkpoints of a closed store",
		Long: `Opens a closed store, by default the selected one. Its folder must exist. A volume with
the driver pool, image or sparsebundle is mounted.

--all mounts the volumes of all open stores, as after a reboot; see
docs/guides/volumes.md for systemd and launchd units.` + ExitStatus,
		Example: "  " + f.Program + " open myapp\n  " + f.Program + " open --all",
		Args:    cobra.MaximumNArgs(1),
		RunE: f.Run(func(ctx context.Context, args []string) error {
			if all && len(args) > 0 {
				return app.Usagef("--all takes no name")
			}
			if all {
				return openAll(ctx, f)
			}
			if err := registry.OpenPool(ctx, f.Registry()); err != nil {
				return app.WithCode(app.ExitInactive, err)
			}
			s, err := selectedOr(ctx, f, args)
			if err != nil {
				return err
			}
			defer s.Close()
			if err := errors.Join(s.RequireTree(), s.CheckThere()); err != nil {
				return err
			}
			if err := OpenVolume(ctx, s); err != nil {
				return err
			}
			entry, err := s.Registry.OpenStore(ctx, s.Entry)
			if err != nil {
				return app.WithCode(app.ExitInactive, err)
			}
			now := counted(s, entry)
			if f.JSON {
				return f.PrintJSON(now)
			}
			f.Say("Mounted at %s%s", f.ShortPath(entry.Root), now.volumeText())
			return nil
		}),

		ValidArgsFunction: completeStores(f, false),
	}
	cmd.Flags().BoolVar(&all, "all", false, "mount the volumes of all open stores")
	return cmd
}

// openAll mounts the volumes of all open stores.
func openAll(ctx context.Context, f *Command) error {
	if err := registry.OpenPool(ctx, f.Registry()); err != nil {
		return app.WithCode(app.ExitInactive, err)
	}
	entries, err := f.Registry().List(ctx)
	if err != nil {
		return err
	}
	list, failed := make([]storeJSON, 0, len(entries)), false
	for _, e := range entries {
		if e.Driver == "" || !e.Active() {
			continue
		}
		one := *f
		one.Store = e.Dir
		s, err := one.Selected(ctx)
		if err == nil {
			err = OpenVolume(ctx, s)
			s.Close()
		}
		if err != nil {
			failed = true
			f.Streams.Notef("store '%s': %v", e.Name, err)
			continue
		}
		now := newStoreJSON(e)
		list = append(list, now)
		f.Say("Mounted '%s' at %s%s", e.Name, f.ShortPath(e.Root), now.volumeText())
	}
	if f.JSON {
		if err := f.PrintBareList(ui.JSONList{Key: "stores", Entries: ui.JSONEntries(list)}); err != nil {
			return err
		}
	}
	if failed {
		return app.WithCode(app.ExitInactive, app.ErrFailed)
	}
	return nil
}

func newFSCloseCmd(f *Command) *cobra.Command {
	return &cobra.Command{
		Use:   "close [name]",
		Short: "Stop checkpoints of a store",
		Long: `Closes a store, by default the selected one: no checkpoints are taken until "open".
Files and checkpoints are kept. A volume with the driver pool, image or sparsebundle
is unmounted; it stays mounted while processes use it, which are listed, unless
--force is given: they then keep using files that nobody else sees.` + ExitStatus,
		Example: "  " + f.Program + " close",
		Args:    cobra.MaximumNArgs(1),
		RunE: f.Run(func(ctx context.Context, args []string) error {
			s, err := selectedOr(ctx, f, args)
			if err != nil {
				return err
			}
			defer s.Close()
			if err := s.RequireTree(); err != nil {
				return err
			}
			if err := CloseVolume(ctx, s, f.Force); err != nil {
				if errors.Is(err, volume.ErrInUse) {
					nameUsers(f, s.Options.Root)
					return app.WithHint(err, "stop these processes, or leave the folder in shells; --force unmounts it anyway")
				}
				return err
			}
			entry, err := s.Registry.CloseStore(ctx, s.Entry)
			if err != nil {
				return app.WithCode(app.ExitInactive, err)
			}
			now := counted(s, entry)
			if f.JSON {
				return f.PrintJSON(now)
			}
			f.Say("Unmounted '%s'%s", entry.Name, now.volumeText())
			return nil
		}),

		ValidArgsFunction: completeStores(f, false),
	}
}

// selectedOr returns the store that the argument names, or the selected one.
func selectedOr(ctx context.Context, f *Command, args []string) (*Selection, error) {
	if len(args) > 0 {
		if f.Store != "" && f.Store != args[0] {
			return nil, app.Usagef("--store %s and %s are different stores", f.Store, args[0])
		}
		f.Store = args[0]
	}
	return f.Selected(ctx)
}

// counted returns the JSON of a store, with the number of its checkpoints.
func counted(s *Selection, entry registry.Entry) storeJSON {
	if versions, err := s.Versions(); err == nil {
		entry.Checkpoints = len(versions)
	}
	return newStoreJSON(entry)
}
