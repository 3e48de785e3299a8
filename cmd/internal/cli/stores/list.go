package stores

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

func newFSListCmd(f *Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List all stores",
		Long: `Lists all stores: the size limit, whether the store is open, and the number of
checkpoints; with volumes, also the driver, the space on disk, how much of it is
shared with checkpoints, and where the files are.

With --json it prints a list; docs/formats/agentfs.md describes it.` + ExitStatus,
		Example: "  " + f.Program + " list",
		Args:    cobra.NoArgs,
		RunE: f.Run(func(ctx context.Context, _ []string) error {
			entries, err := f.Registry().List(ctx)
			if err != nil {
				return err
			}
			list := make([]storeJSON, 0, len(entries))
			for _, e := range entries {
				list = append(list, newStoreJSON(e))
			}
			if f.JSON {
				return f.PrintBareList(ui.JSONList{Key: "stores", Entries: ui.JSONEntries(list)})
			}
			poolClosed := registry.PoolClosed(f.Registry())
			if poolClosed {
				f.Streams.Notef("Stores with the driver pool are not listed: their file system isn't mounted.")
				f.Streams.Hint(fmt.Sprintf("`%s open --all` mounts it", f.Program))
			}
			if len(list) == 0 {
				if !poolClosed {
					f.Streams.Notef("No stores yet. Create one with `%s init <name>`.", f.Program)
				}
				return nil
			}
			table := NewTable("")
			// Scripts rely on the first four columns; the others are shown if there is a volume.
			columns := 4
			if slices.ContainsFunc(list, func(s storeJSON) bool { return s.Driver != driverTree }) {
				columns = 8
			}
			row := func(cells ...string) { table.AddRow(cells[:columns]...) }
			row("NAME", "SIZE", "MOUNTED", "CHECKPOINTS", "DRIVER", "USED", "SHARED", "MOUNT")
			for _, s := range list {
				row(s.Name, s.Size, YesNoWord(s.Mounted), strconv.Itoa(s.Checkpoints),
					s.Driver, sizeOrNone(s.Used), sizeOrNone(s.Shared), f.ShortPath(s.MountPath))
			}
			f.Page(table.String())
			return nil
		}),
	}
	setup.JSONLinesFlag(f.App, cmd.Flags(), &f.JSON)
	return cmd
}

// sizeOrNone returns the text of a size, noSize for 0.
func sizeOrNone(n int64) string {
	if n == 0 {
		return noSize
	}
	return format.Size(n)
}
