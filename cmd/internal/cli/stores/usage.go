package stores

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

func newFSUsageCmd(f *Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "du",
		Short: "Show the disk usage of checkpoints",
		Long: `Shows for each checkpoint, newest first, the bytes that only it uses, which deleting it
frees, and the size of its files; then the size of the whole store. For a volume
(init --driver) it is what the file system doesn't share, without very small files.

With --json it prints one object; docs/formats/agentfs.md describes it.` + ExitStatus,
		Example: "  " + f.Program + " du",
		Args:    cobra.NoArgs,
		RunE: f.Run(func(ctx context.Context, _ []string) error {
			s, err := f.Selected(ctx)
			if err != nil {
				return err
			}
			defer s.Close()
			var usage retention.Usage
			err = f.Streams.Count("Measuring", func(tick func(done, total int64)) (err error) {
				if s.IsVolume() {
					usage, err = MeasureVolume(ctx, s, tick)
					return err
				}
				usage, err = retention.Measure(ctx, s.Store, tick)
				return err
			})
			if err != nil {
				return err
			}
			report := usageJSON{
				Store: s.Entry.Name, Checkpoints: []snapshotUsageJSON{}, Live: usage.Live, Size: usage.Size, Cap: s.Cap(),
			}
			if s.IsVolume() {
				report.Cap = 0
			}
			for _, u := range slices.Backward(usage.Snapshots) {
				row := snapshotUsageJSON{Version: u.Version.String(), Own: u.Own, Total: u.Total}
				if snapshot, err := s.Snapshot(u.Version); err == nil {
					row.Message, row.title = snapshot.Message, format.TurnText(snapshot)
				}
				report.Checkpoints = append(report.Checkpoints, row)
			}
			if f.JSON {
				return f.PrintJSONOf(report, "checkpoints")
			}
			table := NewTable("MESSAGE")
			table.AddRow("VERSION", "MESSAGE", "OWN", "FILES")
			for _, row := range report.Checkpoints {
				table.AddRow(row.Version, cmp.Or(row.title, ui.Line(row.Message, format.MessageWidth)), format.Size(row.Own), format.Size(row.Total))
			}
			f.Streams.Printf("%s", f.Streams.Table(table))
			if s.IsVolume() {
				f.Streams.Printf("The %ss of '%s' take %s that the folder doesn't\n", f.noun(), report.Store, format.Size(report.Size))
				return nil
			}
			f.Streams.Printf("Store '%s' takes %s of %s\n", report.Store, format.Size(report.Size), format.Size(report.Cap))
			return nil
		}),
	}
	setup.JSONLinesFlag(f.App, cmd.Flags(), &f.JSON)
	return cmd
}

// usageJSON is the output of `du --json`.
type usageJSON struct {
	Store       string              `json:"store"`
	Checkpoints []snapshotUsageJSON `json:"checkpoints"`
	Live        int64               `json:"live_bytes"`
	Size        int64               `json:"size_bytes"`
	Cap         int64               `json:"cap_bytes"`
}

type snapshotUsageJSON struct {
	Version string `json:"version"`
	Message string `json:"message"`
	Own     int64  `json:"own_bytes"`
	Total   int64  `json:"total_bytes"`

	title string // of a turn
}
