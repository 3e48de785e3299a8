package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
)

func newFSOpenCmd(f *fsApp) *cobra.Command {
	return &cobra.Command{
		Use:   "open [name]",
		Short: "Open a store, so that it takes checkpoints",
		Long: `Opens a store that was closed. Without a name it is the selected one. A store
whose folder isn't there can't be opened.` + fsExitStatus,
		Example: "  " + f.program + " open myapp",
		Args:    cobra.MaximumNArgs(1),
		RunE:    f.run(func(ctx context.Context, args []string) error { return runFSOpen(ctx, f, args) }),
	}
}

func runFSOpen(ctx context.Context, f *fsApp, args []string) error {
	s, err := f.selectedOr(ctx, args)
	if err != nil {
		return err
	}
	defer s.close()
	if err := errors.Join(s.inTree(), s.there()); err != nil {
		return err
	}
	entry, err := s.known.OpenStore(ctx, s.entry)
	if err != nil {
		return coded(exitInactive, err)
	}
	if f.json {
		return f.compact(f.counted(s, entry))
	}
	f.say("Mounted at %s", f.shortPath(entry.Root))
	return nil
}

func newFSCloseCmd(f *fsApp) *cobra.Command {
	return &cobra.Command{
		Use:   "close [name]",
		Short: "Close a store, so that it takes no checkpoints",
		Long: `Closes a store: the folder and its files stay as they are, checkpoints stay, and
none is taken until "open". Without a name it is the selected one.` + fsExitStatus,
		Example: "  " + f.program + " close",
		Args:    cobra.MaximumNArgs(1),
		RunE:    f.run(func(ctx context.Context, args []string) error { return runFSClose(ctx, f, args) }),
	}
}

func runFSClose(ctx context.Context, f *fsApp, args []string) error {
	s, err := f.selectedOr(ctx, args)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.inTree(); err != nil {
		return err
	}
	entry, err := s.known.CloseStore(ctx, s.entry)
	if err != nil {
		return coded(exitInactive, err)
	}
	if f.json {
		return f.compact(f.counted(s, entry))
	}
	f.say("Unmounted '%s'", entry.Name)
	return nil
}

// selectedOr is the store that the argument names, or the selected one.
func (f *fsApp) selectedOr(ctx context.Context, args []string) (*selection, error) {
	if len(args) > 0 {
		if f.store != "" && f.store != args[0] {
			return nil, usagef("--store %s and %s are two stores", f.store, args[0])
		}
		f.store = args[0]
	}
	return f.selected(ctx)
}

// counted is a store in JSON, with the number of its checkpoints.
func (f *fsApp) counted(s *selection, entry bands.Entry) storeJSON {
	if versions, err := s.Versions(); err == nil {
		entry.Checkpoints = len(versions)
	}
	return f.newStoreJSON(entry)
}
