package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"
)

func newFSListCmd(f *fsApp) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List all stores",
		Long: `Lists all stores: how much room their checkpoints may take, whether they are
open, and how many checkpoints they have.

With --json it prints a list; docs/formats/agentfs.md describes it.` + fsExitStatus,
		Args: cobra.NoArgs,
		RunE: f.run(func(ctx context.Context, _ []string) error { return runFSList(ctx, f) }),
	}
}

func runFSList(ctx context.Context, f *fsApp) error {
	entries, err := f.registry().List(ctx)
	if err != nil {
		return err
	}
	list := make([]storeJSON, 0, len(entries))
	for _, e := range entries {
		list = append(list, f.newStoreJSON(e))
	}
	if f.json {
		return f.compact(list)
	}
	if len(list) == 0 {
		f.Streams.Notef("No stores yet. Make one with `%s init <name>`.", f.program)
		return nil
	}
	var table fsTable
	table.row("NAME", "SIZE", "MOUNTED", "CHECKPOINTS")
	for _, s := range list {
		table.row(s.Name, s.Size, yesNoWord(s.Mounted), strconv.Itoa(s.Checkpoints))
	}
	f.Streams.Printf("%s", table.String())
	return nil
}
