package stores

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

func newFSStatusCmd(f *Command) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the selected store",
		Long: `Shows the selected store: its folder, whether it is open, the number of checkpoints
and the last one, how unchanged content is shared (reflinks, hard links or copies),
and what prevents checkpoints.

With --json it prints one object; docs/formats/agentfs.md describes it.` + ExitStatus,
		Example: "  " + f.Program + " status",
		Args:    cobra.NoArgs,
		RunE: f.Run(func(ctx context.Context, _ []string) error {
			s, err := f.Selected(ctx)
			if err != nil {
				return err
			}
			defer s.Close()
			versions, err := s.Versions()
			if err != nil {
				return err
			}
			report := &fsStatusJSON{
				Store: s.Entry.Name, Driver: driverOf(s.Entry), Mount: s.Options.Root, Mounted: s.Entry.Active() && s.CheckThere() == nil, Checkpoints: len(versions),
				Linking: string(s.Linking()), Bundle: s.Dir(), Size: s.Cap(), LeftOut: []string{}, Notes: []app.Note{},
			}
			if s.IsVolume() {
				report.Linking = ""
				room := Room(s)
				report.Size, report.Used, report.Shared = room.Size, room.Used, SharedRoom(s)
				report.Mounted = report.Mounted && VolumeIsOpen(s)
				// Conditions that prevent snapshots or the replacement of the volume.
				driver, err := s.Driver()
				if err == nil && s.CheckThere() == nil && s.Entry.Active() {
					err = driver.Check(s.Options.Root)
				}
				if err != nil {
					report.Notes = append(report.Notes, app.Note{Code: "no-volume", Message: err.Error()})
				}
			}
			last, ok, err := s.Lineage(s.Options.Lineage).Latest()
			if err != nil {
				report.Notes = append(report.Notes, app.Note{
					Code: "damaged", Message: "Can't read the last checkpoint: " + err.Error(), Hint: "run `" + f.Program + " verify`",
				})
			}
			if ok {
				latest := format.NewCheckpointJSON(last)
				report.Latest, report.LeftOut = &latest, format.NotNil(last.LeftOut)
			}
			if bad, err := s.Damaged(); err == nil && len(bad) > 0 {
				report.Notes = append(report.Notes, app.Note{
					Code: "damaged", Message: format.DamageText(len(bad)), Hint: repairHint(f),
				})
			}
			report.Notes = append(report.Notes, notes(s)...)
			if f.JSON {
				return f.PrintJSON(report)
			}
			printStatus(f, report, last)
			return nil
		}),
	}
}

// fsStatusJSON is the output of `status --json`.
type fsStatusJSON struct {
	Store       string                 `json:"store"`
	Driver      string                 `json:"driver"`
	Mount       string                 `json:"mount"`
	Mounted     bool                   `json:"mounted"`
	Checkpoints int                    `json:"checkpoints"`
	Latest      *format.CheckpointJSON `json:"latest"`
	Linking     string                 `json:"linking"`
	Bundle      string                 `json:"bundle_path"`
	Size        int64                  `json:"size_bytes"`
	// Used is the space that the image of a volume takes on the disk.
	Used int64 `json:"used_bytes,omitempty"`
	// Shared is the part of it that checkpoints share.
	Shared  int64      `json:"shared_bytes,omitempty"`
	LeftOut []string   `json:"left_out"`
	Notes   []app.Note `json:"notes"`
}

// notes returns the conditions that prevent checkpoints, and the former folder of a conversion.
func notes(s *Selection) []app.Note {
	var notes []app.Note
	if err := s.CheckThere(); err != nil {
		notes = append(notes, app.Note{Code: "no-folder", Message: err.Error(), Hint: app.HintOf(err)})
	}
	if err := CheckRoom(s); errors.Is(err, bands.ErrNoRoom) {
		notes = append(notes, app.Note{
			Code: "floor", Message: fmt.Sprintf("No automatic checkpoints are taken: %v.", err), Hint: "free disk space, or lower bands.free_floor",
		})
	}
	if text := format.AutoFailures(s.Store, s.Command.Now()); text != "" {
		notes = append(notes, app.Note{Code: "auto-failed", Message: text, Hint: "`" + s.Command.call("checkpoint --auto") + "` tries again"})
	}
	if former := s.Entry.Former; former != "" {
		notes = append(notes, app.Note{
			Code: "former", Message: "The folder's content before its conversion is kept in " + s.Command.ShortPath(former) + ".",
			Hint: fmt.Sprintf("`%s convert %s --done` removes it", s.Command.Program, ShellWord(s.Entry.Root)),
		})
	}
	if _, err := s.Registry.Config(); err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			notes = append(notes, app.Note{Code: "bad-config", Message: line})
		}
	}
	return notes
}

func printStatus(f *Command, r *fsStatusJSON, last bands.Snapshot) {
	line := func(name, value string) { f.Streams.Printf("%-12s %s\n", name+":", value) }
	line("Store", r.Store)
	line("Mount", f.ShortPath(r.Mount))
	line("Mounted", YesNoWord(r.Mounted))
	line("Checkpoints", strconv.Itoa(r.Checkpoints))
	latest := "none"
	switch {
	case r.Latest == nil && r.Checkpoints > 0:
		latest = "none of this worktree"
	case r.Latest != nil:
		latest = fmt.Sprintf("%s%s (%s)", r.Latest.Version, format.Quoted(r.Latest.Message), ui.Ago(f.Now(), last.Created))
	}
	line("Latest", latest)
	if text := format.PairText(last); text != "" {
		line("Commit", text)
	}
	if r.Linking == "" {
		line("Driver", r.Driver)
		if r.Size > 0 {
			text := format.Size(r.Used) + " of " + format.Size(r.Size)
			if r.Shared > 0 {
				text += ", " + format.Size(r.Shared) + " of it shared with checkpoints"
			}
			line("Room", text)
		}
	} else {
		line("Bands", format.LinkingText(r.Linking))
	}
	for _, path := range r.LeftOut {
		line("Left out", format.Path(path)+" (no room)")
	}
	if last.Totals.Unknown > 0 {
		line("Not held", ui.Plural(int(last.Totals.Unknown), "path"))
	}
	for _, n := range r.Notes {
		f.Streams.Printf("\n%s %s\n", f.Streams.Paint(ui.Yellow, "!"), n.Message)
		if n.Hint != "" {
			f.Streams.Printf("  hint: %s\n", n.Hint)
		}
	}
}
