package stores

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/cli/stores/access"
	"github.com/seed-3aff656d/entire/internal/ui"
)

func newFSInfoCmd(f *access.Command) *cobra.Command {
	return &cobra.Command{
		Use:   "info <version>",
		Short: "Show a checkpoint's details",
		Long: `Shows a checkpoint: its message and time, the agent and the commits it stands
for, and what it doesn't hold.

With --json it prints one object; docs/formats/agentfs.md describes it.` + access.ExitStatus,
		Example:           "  " + f.Program + " checkpoint info v4",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeVersions(f, 1, ""),
		RunE:              f.Run(func(ctx context.Context, args []string) error { return runFSInfo(ctx, f, args[0]) }),
	}
}

// infoJSON is what `checkpoint info --json` prints.
type infoJSON struct {
	format.CheckpointJSON

	Store   string   `json:"store"`
	LeftOut []string `json:"left_out"`
}

func runFSInfo(ctx context.Context, f *access.Command, version string) error {
	v, err := parseVersion(version)
	if err != nil {
		return err
	}
	s, err := f.Selected(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	snapshot, err := s.Snapshot(v)
	if err != nil {
		return err
	}
	if f.JSON {
		return f.PrintJSON(infoJSON{CheckpointJSON: format.NewCheckpointJSON(snapshot), Store: s.Entry.Name, LeftOut: format.NotNil(snapshot.LeftOut)})
	}
	for _, line := range infoLines(f, s, snapshot) {
		f.Streams.Printf("%-12s %s\n", line[0]+":", line[1])
	}
	return nil
}

// infoLines are names and values. Those after Created are left out if
// they are empty.
func infoLines(f *access.Command, s *access.Selection, v bands.Snapshot) [][2]string {
	lines := [][2]string{
		{"Checkpoint", v.Version.String()},
		{"Store", s.Entry.Name},
		{"Message", ui.Line(v.Message, 1000)},
		{"Created", v.Created.In(f.Now().Location()).Format("2006-01-02 15:04:05")},
	}
	add := func(name, value string) {
		if value != "" {
			lines = append(lines, [2]string{name, ui.Line(value, 1000)})
		}
	}
	if v.Cause != bands.Named {
		add("Kind", string(v.Cause))
	}
	if v.Root != s.Options.Root {
		add("Worktree", f.ShortPath(v.Root))
	}
	add("Agent", v.Causality.Agent)
	add("Action", v.Causality.Action)
	add("Session", v.Causality.Session)
	add("Prompt", v.Causality.Prompt)
	for _, key := range slices.Sorted(maps.Keys(v.Causality.Metadata)) {
		add("Metadata", key+"="+v.Causality.Metadata[key])
	}
	add("HEAD", strings.TrimSpace(v.Causality.Commit+" "+v.Causality.Branch))
	for _, p := range v.Pairs {
		late := ""
		if p.Late {
			late = " (late: the tree may have changed since)"
		}
		add("Commit", p.Commit+late)
		add("Linked to", p.Checkpoint)
	}
	if v.Late {
		add("Late", "the tree may have changed before it was taken")
	}
	for _, path := range v.LeftOut {
		add("Left out", format.Path(path))
	}
	if v.Totals.Unknown > 0 {
		add("Not held", strconv.FormatInt(v.Totals.Unknown, 10))
	}
	return lines
}

// parseVersion reads a version as an argument.
func parseVersion(text string) (bands.Version, error) {
	v, err := bands.ParseVersion(text)
	if err != nil {
		return 0, app.Usagef("%v", err)
	}
	return v, nil
}
