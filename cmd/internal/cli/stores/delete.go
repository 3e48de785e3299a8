package stores

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
)

func newFSDeleteCmd(f *Command) *cobra.Command {
	files := false
	cmd := &cobra.Command{
		Use:   "delete <name>",
		Short: "Delete a store and its checkpoints",
		Long: `Deletes a store and all its checkpoints. Its folder is kept, with all files except
.agentfs. It asks first, unless --force is given.

The files of a volume of the driver pool, image or sparsebundle are in the store,
which is deleted only with --files, unless it has none.` + ExitStatus,
		Example: "  " + f.Program + " delete myapp",
		Args:    cobra.ExactArgs(1),
		RunE: f.Run(func(ctx context.Context, args []string) error {
			known := f.Registry()
			entry, err := known.Find(ctx, f.Named(args[0]))
			if errors.Is(err, bands.ErrNoStore) {
				if done, failed := known.EndDelete(ctx, f.Named(args[0])); done || failed != nil {
					return errors.Join(failed, deleted(ctx, f, registry.Entry{Name: args[0]}))
				}
			}
			if err != nil {
				return err
			}
			if volume.Contained(entry.Driver) && !files && !hasNoFiles(entry) {
				return app.WithCode(app.ExitInactive, app.WithHint(fmt.Errorf("the files in %s are in store '%s', and would be deleted, too", f.ShortPath(entry.Root), entry.Name),
					"copy them to another folder, then add --files"))
			}
			question := deletion(f, entry)
			if files {
				question = fmt.Sprintf("Delete store '%s', %s and all files in %s?", entry.Name, allCheckpoints(entry), f.ShortPath(entry.Root))
			}
			if yes, err := sure(ctx, f, question); err != nil || !yes {
				return err
			}
			if err := known.DeleteStore(ctx, entry); err != nil {
				return err
			}
			return deleted(ctx, f, entry)
		}),

		ValidArgsFunction: completeStores(f, false),
	}
	cmd.Flags().BoolVar(&files, "files", false, "also delete the files of a mounted volume")
	return cmd
}

func deleted(ctx context.Context, f *Command, entry registry.Entry) error {
	if err := removeClaudeHooks(ctx, f); err != nil {
		return err
	}
	if f.JSON {
		return f.PrintJSON(deletedStoreJSON{entry.Name, entry.Root})
	}
	f.Say("Deleted '%s'", entry.Name)
	return nil
}

// hasNoFiles reports whether the volume of a store is open and has no files except the one that
// init made.
func hasNoFiles(entry registry.Entry) bool {
	d, ok := volume.Named(entry.Driver, volume.Place{Store: entry.Dir})
	if !ok || d.Check(entry.Root) != nil {
		return false
	}
	entries, err := os.ReadDir(entry.Root)
	return err == nil && len(entries) <= 1 && (len(entries) == 0 || entries[0].Name() == registry.ContextFile)
}

// deletion returns the question before the deletion of a store.
func deletion(f *Command, entry registry.Entry) string {
	return fmt.Sprintf("Delete store '%s' of %s and %s?", entry.Name, f.ShortPath(entry.Root), allCheckpoints(entry))
}

// allCheckpoints describes the checkpoints that are deleted with a store. An unreadable store can
// be deleted, too.
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

// deletedStoreJSON is the output of `delete --json`.
type deletedStoreJSON struct {
	Deleted   string `json:"deleted"`
	MountPath string `json:"mount_path"`
}
