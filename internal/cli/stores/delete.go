package stores

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/internal/cli/stores/access"
)

func newFSDeleteCmd(f *access.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "delete <name>",
		Short: "Delete a store and its checkpoints",
		Long: `Deletes a store and all its checkpoints. The folder that belongs to it stays,
with all its files but .agentfs. It asks first, unless --force is given.` + access.ExitStatus,
		Example: "  " + f.Program + " delete myapp",
		Args:    cobra.ExactArgs(1),
		RunE:    f.Run(func(ctx context.Context, args []string) error { return runFSDelete(ctx, f, args[0]) }),

		ValidArgsFunction: completeStores(f, false),
	}
}

func runFSDelete(ctx context.Context, f *access.Command, name string) error {
	known := f.Registry()
	entry, err := known.Find(ctx, f.Named(name))
	if err != nil {
		return err
	}
	question := deletion(f, entry)
	if yes, err := sure(ctx, f, question); err != nil || !yes {
		return err
	}
	if err := known.DeleteStore(ctx, entry); err != nil {
		return err
	}
	return deleted(ctx, f, entry)
}

func deleted(ctx context.Context, f *access.Command, entry registry.Entry) error {
	if err := removeClaudeHooks(ctx, f); err != nil {
		return err
	}
	if f.JSON {
		return f.PrintJSON(map[string]string{"deleted": entry.Name, "mount_path": entry.Root})
	}
	f.Say("Deleted '%s'", entry.Name)
	return nil
}

// deletion asks whether a store goes.
func deletion(f *access.Command, entry registry.Entry) string {
	return fmt.Sprintf("Delete store '%s' of %s and %s?", entry.Name, f.ShortPath(entry.Root), allCheckpoints(entry))
}

// allCheckpoints names what goes with a store. A store that can't be read can
// still be deleted.
func allCheckpoints(entry registry.Entry) string {
	store, err := bands.Open(entry.Dir)
	if err != nil {
		return "all its checkpoints"
	}
	versions, err := store.Versions()
	switch {
	case err != nil:
		return "all its checkpoints"
	case len(versions) == 1:
		return "its checkpoint"
	default:
		return fmt.Sprintf("all %d checkpoints", len(versions))
	}
}
