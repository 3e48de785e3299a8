package stores

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/cli/stores/access"
)

func newFSOpenCmd(f *access.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "open [name]",
		Short: "Open a store, so that it takes checkpoints",
		Long: `Opens a store that was closed. Without a name it is the selected one. A store
whose folder isn't there can't be opened.` + access.ExitStatus,
		Example: "  " + f.Program + " open myapp",
		Args:    cobra.MaximumNArgs(1),
		RunE:    f.Run(func(ctx context.Context, args []string) error { return runFSOpen(ctx, f, args) }),

		ValidArgsFunction: completeStores(f, false),
	}
}

func runFSOpen(ctx context.Context, f *access.Command, args []string) error {
	s, err := selectedOr(ctx, f, args)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := errors.Join(s.InTree(), s.CheckThere()); err != nil {
		return err
	}
	entry, err := s.Registry.OpenStore(ctx, s.Entry)
	if err != nil {
		return app.WithCode(app.ExitInactive, err)
	}
	if f.JSON {
		return f.PrintJSON(counted(f, s, entry))
	}
	f.Say("Mounted at %s", f.ShortPath(entry.Root))
	return nil
}

func newFSCloseCmd(f *access.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "close [name]",
		Short: "Close a store, so that it takes no checkpoints",
		Long: `Closes a store: the folder and its files stay as they are, checkpoints stay, and
none is taken until "open". Without a name it is the selected one.` + access.ExitStatus,
		Example: "  " + f.Program + " close",
		Args:    cobra.MaximumNArgs(1),
		RunE:    f.Run(func(ctx context.Context, args []string) error { return runFSClose(ctx, f, args) }),

		ValidArgsFunction: completeStores(f, false),
	}
}

func runFSClose(ctx context.Context, f *access.Command, args []string) error {
	s, err := selectedOr(ctx, f, args)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.InTree(); err != nil {
		return err
	}
	entry, err := s.Registry.CloseStore(ctx, s.Entry)
	if err != nil {
		return app.WithCode(app.ExitInactive, err)
	}
	if f.JSON {
		return f.PrintJSON(counted(f, s, entry))
	}
	f.Say("Unmounted '%s'", entry.Name)
	return nil
}

// selectedOr is the store that the argument names, or the selected one.
func selectedOr(ctx context.Context, f *access.Command, args []string) (*access.Selection, error) {
	if len(args) > 0 {
		if f.Store != "" && f.Store != args[0] {
			return nil, app.Usagef("--store %s and %s are two stores", f.Store, args[0])
		}
		f.Store = args[0]
	}
	return f.Selected(ctx)
}

// counted is a store in JSON, with the number of its checkpoints.
func counted(f *access.Command, s *access.Selection, entry registry.Entry) storeJSON {
	if versions, err := s.Versions(); err == nil {
		entry.Checkpoints = len(versions)
	}
	return newStoreJSON(f, entry)
}
