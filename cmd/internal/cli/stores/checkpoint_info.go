package stores

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

func newFSInfoCmd(f *Command) *cobra.Command {
	return &cobra.Command{
		Use:   "info <version>",
		Short: "Show a checkpoint's details",
		Long: `Shows a checkpoint: its message and time, the agent and the commits it is
linked to, and the files that are not in it.

With --json it prints one object; docs/formats/agentfs.md describes it.` + ExitStatus,
		Example:           "  " + f.Program + " checkpoint info v4",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completeVersions(f, 1, ""),
		RunE:              f.Run(func(ctx context.Context, args []string) error { return f.describe(ctx, args[0]) }),
	}
}

// describe prints the details of a version.
func (c *Command) describe(ctx context.Context, version string) error {
	s, snapshot, err := c.at(ctx, version)
	if err != nil {
		return err
	}
	defer s.Close()
	if c.JSON {
		return c.PrintJSON(infoJSON{CheckpointJSON: format.NewCheckpointJSON(snapshot), Store: s.Entry.Name, LeftOut: format.NotNil(snapshot.LeftOut)})
	}
	line := func(name, value string) { c.Streams.Printf("%-12s %s\n", name+":", value) }
	line(format.Capitalize(c.noun()), snapshot.Version.String())
	line("Store", s.Entry.Name)
	line("Message", ui.Line(snapshot.Message, 1000))
	line("Created", snapshot.Created.In(c.Now().Location()).Format(time.DateTime))
	add := func(name, value string) {
		if value != "" {
			line(name, ui.Line(value, 1000))
		}
	}
	if snapshot.Cause != bands.Named {
		add("Kind", string(snapshot.Cause))
	}
	if snapshot.Root != s.Options.Root {
		add("Worktree", c.ShortPath(snapshot.Root))
	}
	add("Agent", snapshot.Causality.Agent)
	add("Action", snapshot.Causality.Action)
	add("Session", snapshot.Causality.Session)
	add("Prompt", snapshot.Causality.Prompt)
	for _, key := range slices.Sorted(maps.Keys(snapshot.Causality.Metadata)) {
		add("Metadata", key+"="+snapshot.Causality.Metadata[key])
	}
	add("HEAD", strings.TrimSpace(snapshot.Causality.Commit+" "+snapshot.Causality.Branch))
	for _, p := range snapshot.Pairs {
		late := ""
		if p.Late {
			late = " (late: the tree may have changed since)"
		}
		add("Commit", p.Commit+late)
		add("Linked to", p.Checkpoint)
	}
	if snapshot.Late {
		add("Late", "the tree may have changed before it was taken")
	}
	for _, path := range snapshot.LeftOut {
		add("Left out", format.Path(path))
	}
	if snapshot.Totals.Unknown > 0 {
		add("Not held", strconv.FormatInt(snapshot.Totals.Unknown, 10))
	}
	return nil
}

// infoJSON is the output of `checkpoint info --json`.
type infoJSON struct {
	format.CheckpointJSON

	Store   string   `json:"store"`
	LeftOut []string `json:"left_out"`
}

// at returns a snapshot of the selected store, by the version that an argument has. The caller closes the
// selection.
func (c *Command) at(ctx context.Context, version string) (s *Selection, snapshot bands.Snapshot, err error) {
	v, err := parseVersion(version)
	if err != nil {
		return nil, snapshot, err
	}
	if s, err = c.Selected(ctx); err != nil {
		return nil, snapshot, err
	}
	if snapshot, err = s.Snapshot(v); err != nil {
		s.Close()
		return nil, snapshot, err
	}
	return s, snapshot, nil
}

// parseVersion parses a version given as an argument.
func parseVersion(text string) (bands.Version, error) {
	v, err := bands.ParseVersion(text)
	if err != nil {
		return 0, app.Usagef("%v", err)
	}
	return v, nil
}
