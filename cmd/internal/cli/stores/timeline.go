package stores

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// countedFiles is the maximum number of changed files in which lines are counted.
const countedFiles = 500

type timelineOptions struct {
	agent, since string
	limit        int
}

// NewTimelineCmd returns the command timeline.
func NewTimelineCmd(f *Command) *cobra.Command {
	var opts timelineOptions
	cmd := &cobra.Command{
		Use:   "timeline",
		Short: "Show what changed between checkpoints",
		Long: `Shows what changed between checkpoints, newest first: when, lines added and removed,
who did it, and the files with the most changes. Checkpoints without changes are left
out; "log" lists them. Ignored files are included; ` + "`entire log`" + ` lists those
of a turn only if an edit tool wrote them. Lines are counted for up to 500 files.

With --json it prints an object; docs/formats/agentfs.md describes it.` + ExitStatus,
		Example: "  " + f.Program + " timeline --since 1h\n  " + f.Program + " timeline --limit 5 --json",
		Args:    cobra.NoArgs,
		RunE:    f.Run(func(ctx context.Context, _ []string) error { return runTimeline(ctx, f, opts) }),
	}
	setup.JSONLinesFlag(f.App, cmd.Flags(), &f.JSON)
	cmd.Flags().StringVar(&opts.agent, "agent", "", "only from this agent")
	cmd.Flags().StringVar(&opts.since, "since", "", "only since then: 30m, 2h, 3d, 1w or a date")
	cmd.Flags().IntVarP(&opts.limit, "limit", "n", defaultLimit, "list at most this many; 0 lists all")
	return cmd
}

// runTimeline lists the selected checkpoints with their changes.
func runTimeline(ctx context.Context, f *Command, opts timelineOptions) error {
	from, err := since(f.Now(), opts.since)
	if err = errors.Join(err, limited(opts.limit)); err != nil {
		return err
	}
	s, err := f.Selected(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	taken := s.TakenBack()
	if f.JSON {
		return f.PrintJSONList(ui.JSONList{Key: f.noun() + "s", Doing: "Comparing", Entries: entries(func(take func(any) bool) error {
			_, err := timeline(ctx, s, opts, from, unseen, func(m moment) bool {
				j := momentJSON{CheckpointJSON: whole(s, m.snapshot), First: m.first, Changes: format.NewDiffJSON(m.files)}
				j.TakenBack = taken[m.snapshot.Version]
				if m.counted {
					added, removed := m.totals()
					j.Added, j.Removed = &added, &removed
				}
				if m.err != nil {
					j.Error = m.err.Error()
				}
				return take(j)
			})
			return err
		})})
	}
	var list []moment
	same := 0
	err = f.Streams.Count("Comparing", func(tick func(done, total int64)) error {
		same, err = timeline(ctx, s, opts, from, tick, func(m moment) bool {
			list = append(list, m)
			return true
		})
		return err
	})
	if err != nil {
		return err
	}
	var table ui.Table
	for i := range list {
		m := &list[i]
		added, removed, files := m.cells()
		if taken[m.snapshot.Version] {
			files = format.TakenBack + ": " + files
		}
		table.AddRow(clock(f.Now(), m.snapshot.Created), m.snapshot.Version.String(), added, removed, actor(m.snapshot), files)
	}
	f.Page(f.Streams.Table(&table))
	if same > 0 {
		f.Streams.Notef("%s without changes left out.", ui.Plural(same, f.noun()))
	}
	return nil
}

// moment is a checkpoint with the changes since the one before.
type moment struct {
	snapshot bands.Snapshot
	first    bool // there is no checkpoint before it
	counted  bool
	files    []diff.File
	err      error // of the comparison
}

// momentJSON is an element of the output of `timeline --json`.
type momentJSON struct {
	format.CheckpointJSON

	First bool `json:"first,omitempty"`
	// Added and Removed are absent if lines weren't counted.
	Added   *int              `json:"added,omitempty"`
	Removed *int              `json:"removed,omitempty"`
	Changes []format.DiffJSON `json:"changes"`
	Error   string            `json:"compare_error,omitempty"`
}

// timeline passes the selected checkpoints since a time that have changes to take, up to the limit
// and until take returns false. It returns the number of those without changes.
func timeline(ctx context.Context, s *Selection, opts timelineOptions, from time.Time, tick func(done, total int64), take func(moment) bool) (same int, err error) {
	count := 0
	err = eachPair(ctx, s, tick, func(now bands.Snapshot, old *bands.Snapshot) bool {
		if now.Created.Before(from) {
			return false // versions increase with time
		}
		if !isBy(opts.agent, now) {
			return ctx.Err() == nil
		}
		m := moment{snapshot: now, first: old == nil}
		if old != nil {
			m.err = m.compare(ctx, s, *old)
		}
		if m.err == nil && !m.first && len(m.files) == 0 {
			same++
			return ctx.Err() == nil
		}
		count++
		return take(m) && ctx.Err() == nil && (opts.limit == 0 || count < opts.limit)
	})
	return same, errors.Join(err, ctx.Err())
}

func (m *moment) compare(ctx context.Context, s *Selection, old bands.Snapshot) (err error) {
	if m.snapshot.Volume == "" && old.Tree == m.snapshot.Tree {
		m.counted = true
		return nil
	}
	before, now, err := diff.Snapshots(ctx, s.Store, old, m.snapshot, s.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, before.Close(), now.Close()) }()
	if m.files, err = diff.Stat(ctx, before, now, diff.Options{NoCounts: true}); err != nil || len(m.files) > countedFiles {
		return err
	}
	m.counted = true
	m.files, err = diff.Stat(ctx, before, now, diff.Options{})
	return err
}

// totals returns the numbers of lines added and removed.
func (m *moment) totals() (added, removed int) {
	for i := range m.files {
		added += m.files[i].Added
		removed += m.files[i].Removed
	}
	return added, removed
}

// cells returns the columns of lines added, of lines removed, and of files.
func (m *moment) cells() (added, removed, files string) {
	switch {
	case m.err != nil:
		return "", "", "can't be compared: " + m.err.Error()
	case m.first:
		if m.snapshot.Volume != "" {
			return "", "", "the first"
		}
		return "", "", "the first, with " + ui.Plural(int(m.snapshot.Totals.Files), "file")
	}
	if m.counted {
		plus, minus := m.totals()
		added, removed = fmt.Sprintf("+%d", plus), fmt.Sprintf("-%d", minus)
	}
	most := slices.Clone(m.files)
	slices.SortStableFunc(most, func(a, b diff.File) int { return cmp.Compare(b.Added+b.Removed, a.Added+a.Removed) })
	paths := make([]string, len(most))
	for i := range most {
		paths[i] = most[i].Path
	}
	return added, removed, strings.Join(shortPaths(paths), ", ")
}

// clock returns the time of day, with the date if it isn't today.
func clock(now, t time.Time) string {
	t = t.In(now.Location())
	switch {
	case t.Format(time.DateOnly) == now.Format(time.DateOnly):
		return t.Format("15:04")
	case t.Year() == now.Year():
		return t.Format("Jan 2 15:04")
	}
	return t.Format("2006-01-02 15:04")
}
