package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
)

func newFSDeleteCmd(f *fsApp) *cobra.Command {
	return &cobra.Command{
		Use:   "delete <name>",
		Short: "Delete a store and its checkpoints",
		Long: `Deletes a store and all its checkpoints. The folder that belongs to it stays,
with all its files but .agentfs. It asks first, unless --force is given.` + fsExitStatus,
		Example: "  " + f.program + " delete myapp",
		Args:    cobra.ExactArgs(1),
		RunE:    f.run(func(ctx context.Context, args []string) error { return runFSDelete(ctx, f, args[0]) }),
	}
}

func runFSDelete(ctx context.Context, f *fsApp, name string) error {
	known := f.registry()
	entry, err := known.Find(ctx, f.named(name))
	if err != nil {
		return err
	}
	question := f.deletion(entry)
	if yes, err := f.sure(ctx, question); err != nil || !yes {
		return err
	}
	if err := known.DeleteStore(ctx, entry); err != nil {
		return err
	}
	return f.deleted(ctx, entry)
}

func (f *fsApp) deleted(ctx context.Context, entry bands.Entry) error {
	if err := f.removeClaudeHooks(ctx); err != nil {
		return err
	}
	if f.json {
		return f.compact(map[string]string{"deleted": entry.Name, "mount_path": entry.Root})
	}
	f.say("Deleted '%s'", entry.Name)
	return nil
}

// deletion asks whether a store goes.
func (f *fsApp) deletion(entry bands.Entry) string {
	return fmt.Sprintf("Delete store '%s' of %s and %s?", entry.Name, f.shortPath(entry.Root), allCheckpoints(entry))
}

// allCheckpoints names what goes with a store. A store that can't be read can
// still be deleted.
func allCheckpoints(entry bands.Entry) string {
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
