package cli

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/ui"
)

func newFSStatusCmd(f *fsApp) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the selected store",
		Long: `Shows the selected store: its folder, whether it is open, how many checkpoints it
has and the last one; how unchanged content is shared between checkpoints
(reflinks, hard links or copies); and what keeps it from taking checkpoints.

With --json it prints one object; docs/formats/agentfs.md describes it.` + fsExitStatus,
		Args: cobra.NoArgs,
		RunE: f.run(func(ctx context.Context, _ []string) error { return runFSStatus(ctx, f) }),
	}
}

// fsStatusJSON is what `status --json` prints.
type fsStatusJSON struct {
	Store       string          `json:"store"`
	Mount       string          `json:"mount"`
	Mounted     bool            `json:"mounted"`
	Checkpoints int             `json:"checkpoints"`
	Latest      *checkpointJSON `json:"latest"`
	Linking     string          `json:"linking"`
	Bundle      string          `json:"bundle_path"`
	Size        int64           `json:"size_bytes"`
	LeftOut     []string        `json:"left_out"`
	Notes       []note          `json:"notes"`
}

func runFSStatus(ctx context.Context, f *fsApp) error {
	s, err := f.selected(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	versions, err := s.Versions()
	if err != nil {
		return err
	}
	report := &fsStatusJSON{
		Store: s.entry.Name, Mount: s.options.Root, Mounted: s.entry.Active() && s.there() == nil, Checkpoints: len(versions),
		Linking: string(s.Linking()), Bundle: s.Dir(), Size: s.cap(), LeftOut: []string{}, Notes: []note{},
	}
	last, ok, err := s.Latest(s.options.Lineage)
	if err != nil {
		report.Notes = append(report.Notes, note{
			Code: "damaged", Message: "The last checkpoint can't be read: " + err.Error(), Hint: "run `" + f.program + " verify`",
		})
	}
	if ok {
		latest := newCheckpointJSON(last)
		report.Latest, report.LeftOut = &latest, notNil(last.LeftOut)
	}
	if bad, err := s.Damaged(); err == nil && len(bad) > 0 {
		report.Notes = append(report.Notes, note{
			Code: "damaged", Message: damageText(len(bad)), Hint: f.repairHint(),
		})
	}
	report.Notes = append(report.Notes, s.notes()...)
	if f.json {
		return f.compact(report)
	}
	f.printStatus(report, last)
	return nil
}

// damageText describes, for status, the records that are known to be damaged.
func damageText(n int) string {
	return ui.Plural(n, "record") + " of the store can't be read; `verify` names the files that are lost by that."
}

// notes are what keeps the store from taking checkpoints.
func (s *selection) notes() []note {
	var notes []note
	if err := s.there(); err != nil {
		notes = append(notes, note{Code: "no-folder", Message: err.Error(), Hint: hintOf(err)})
	}
	if space, err := disk.SpaceAt(s.Dir()); err == nil {
		floor := s.options.Floor
		if floor == 0 {
			floor = bands.DefaultFloor(space.Total)
		}
		if space.Free < floor {
			notes = append(notes, note{
				Code:    "floor",
				Message: fmt.Sprintf("No automatic checkpoints are taken: %s are free, and %s shall stay so.", shortSize(space.Free), shortSize(floor)),
				Hint:    "make room on the disk, or set bands.free_floor",
			})
		}
	}
	if _, err := s.known.Config(); err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			notes = append(notes, note{Code: "bad-config", Message: line})
		}
	}
	return notes
}

func (f *fsApp) printStatus(r *fsStatusJSON, last bands.Snapshot) {
	line := func(name, value string) { f.Streams.Printf("%-12s %s\n", name+":", value) }
	line("Store", r.Store)
	line("Mount", f.shortPath(r.Mount))
	line("Mounted", yesNoWord(r.Mounted))
	line("Checkpoints", strconv.Itoa(r.Checkpoints))
	latest := "none"
	switch {
	case r.Latest == nil && r.Checkpoints > 0:
		latest = "none of this worktree"
	case r.Latest != nil:
		latest = fmt.Sprintf("%s%s (%s)", r.Latest.Version, quoteMessage(r.Latest.Message), ui.Ago(f.Now(), last.Created))
	}
	line("Latest", latest)
	if text := pairText(last); text != "" {
		line("Commit", text)
	}
	line("Bands", linkingText(r.Linking))
	for _, path := range r.LeftOut {
		line("Left out", showPath(path)+" (no room)")
	}
	if r.Latest != nil && r.Latest.Unknown > 0 {
		line("Not held", ui.Plural(int(r.Latest.Unknown), "path"))
	}
	for _, n := range r.Notes {
		f.Streams.Printf("\n%s %s\n", f.Streams.Paint(ui.Yellow, "!"), n.Message)
		if n.Hint != "" {
			f.Streams.Printf("  hint: %s\n", n.Hint)
		}
	}
}

// linkingText says how checkpoints share content.
func linkingText(how string) string {
	switch disk.Linking(how) {
	case disk.Reflink:
		return "reflinks"
	case disk.Hardlink:
		return "hard links"
	default:
		return "copies (the file system has neither reflinks nor hard links)"
	}
}
