package stores

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/session/agent"
)

type logOptions struct {
	agent, action, session, since string
	paths, meta                   []string
	limit                         int
	all                           bool // of all worktrees
}

// NewLogCmd returns the command log.
func NewLogCmd(f *Command) *cobra.Command {
	var opts logOptions
	cmd := &cobra.Command{
		Use:   "log",
		Short: "List checkpoints and who created them",
		Long: `Lists the checkpoints of this tree, newest first, with the agent and its action. All
filters must match. --path selects those in which the file, or a file in the folder,
changed.

With --json it prints an object; docs/formats/agentfs.md describes it.` + ExitStatus,
		Example: "  " + f.Program + " log --agent claude-code --limit 10\n  " + f.Program + " log --path src/auth.ts --since 2d\n  " +
			f.Program + " log --meta ticket=AUTH-1",
		Args: cobra.NoArgs,
		RunE: f.Run(func(ctx context.Context, _ []string) error { return runLog(ctx, f, opts) }),
	}
	addLogFlags(f, cmd, &opts)
	return cmd
}

// addLogFlags adds the flags that select snapshots.
func addLogFlags(f *Command, cmd *cobra.Command, opts *logOptions) {
	flags := cmd.Flags()
	setup.JSONLinesFlag(f.App, flags, &f.JSON)
	flags.StringVar(&opts.agent, "agent", "", "only from this agent")
	flags.StringVar(&opts.action, "action", "", "only with this action, such as Edit")
	flags.StringVar(&opts.session, "session", "", "only from the session with this id, or prefix of one")
	flags.StringArrayVar(&opts.paths, "path", nil, "only those that changed this file or folder; may be repeated")
	flags.StringArrayVar(&opts.meta, "meta", nil, "only those with this `KEY=VALUE`, or KEY; may be repeated")
	flags.StringVar(&opts.since, "since", "", "only since then: 30m, 2h, 3d, 1w or a date")
	flags.IntVarP(&opts.limit, "limit", "n", defaultLimit, "list at most this many; 0 lists all")
	completeCauses(f, cmd)
}

// runLog lists the selected checkpoints.
func runLog(ctx context.Context, f *Command, opts logOptions) error {
	from, err := since(f.Now(), opts.since)
	if err = errors.Join(err, limited(opts.limit)); err != nil {
		return err
	}
	s, err := f.Selected(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	s.allTrees = opts.all
	paths, err := s.TreePaths(opts.paths...)
	if err != nil {
		return err
	}
	taken := s.TakenBack()
	if f.JSON {
		return f.PrintJSONList(ui.JSONList{Key: f.noun() + "s", Entries: entries(func(take func(any) bool) error {
			return eachLogged(ctx, s, paths, opts, from, unseen, func(snap bands.Snapshot) bool {
				j := whole(s, snap)
				j.TakenBack = taken[snap.Version]
				return take(j)
			})
		})})
	}
	var list []bands.Snapshot
	err = f.Streams.Count("Searching", func(tick func(done, total int64)) error {
		return eachLogged(ctx, s, paths, opts, from, tick, func(snap bands.Snapshot) bool {
			list = append(list, snap)
			return true
		})
	})
	if err != nil {
		return err
	}
	var table ui.Table
	if f.Snapshots && len(list) > 0 {
		table.AddRow("VERSION", "WHEN", "BY", "WHAT")
	}
	for _, snap := range list {
		what := about(snap)
		if taken[snap.Version] {
			what = format.TakenBack + ": " + what
		}
		table.AddRow(snap.Version.String(), ui.Ago(f.Now(), snap.Created), actor(snap), what)
	}
	f.Page(f.Streams.Table(&table))
	return nil
}

// eachLogged passes the accepted checkpoints to take, with paths those that changed one of them, up
// to the limit and until take returns false.
func eachLogged(ctx context.Context, s *Selection, paths []string, opts logOptions, from time.Time, tick func(done, total int64), take func(bands.Snapshot) bool) (err error) {
	count := 0
	limited := func(snap bands.Snapshot) bool {
		count++
		return take(snap) && (opts.limit == 0 || count < opts.limit)
	}
	if len(paths) == 0 {
		return each(ctx, s, func(snap bands.Snapshot) bool {
			return !opts.accept(snap) || snap.Created.Before(from) || limited(snap)
		})
	}
	var r *diff.FileHistory
	defer func() {
		if r != nil {
			err = errors.Join(err, r.Close())
		}
	}()
	var failed error
	err = eachPair(ctx, s, tick, func(now bands.Snapshot, old *bands.Snapshot) bool {
		if r == nil {
			r = diff.OpenFileHistory(s.Store, now, s.Options)
		}
		if !opts.accept(now) || now.Created.Before(from) {
			return true
		}
		for _, path := range paths {
			touched, err := r.Touches(ctx, old, now, path)
			if err != nil {
				if failed = ctx.Err(); failed != nil {
					return false
				}
				s.Command.Streams.Notef("%s can't be compared: %v", now.Version, err)
				return true
			}
			if touched {
				return limited(now)
			}
		}
		return true
	})
	return errors.Join(failed, err)
}

// isBy reports whether a snapshot is by the agent with a name or label; an empty name matches any.
func isBy(name string, s bands.Snapshot) bool {
	by := s.Causality.Agent
	a, known := agent.ByName(by)
	return name == "" || strings.EqualFold(name, by) || known && strings.EqualFold(name, a.Label)
}

// accept reports whether a checkpoint passes the filters that need only its row.
func (o *logOptions) accept(s bands.Snapshot) bool {
	by := s.Causality
	if !isBy(o.agent, s) || o.action != "" && !strings.EqualFold(o.action, by.Action) ||
		!strings.HasPrefix(by.Session, o.session) {
		return false
	}
	for _, want := range o.meta {
		key, value, valued := strings.Cut(want, "=")
		if got, ok := by.Metadata[key]; !ok || valued && got != value {
			return false
		}
	}
	return true
}

// completeCauses completes the flags of log with the values of the newest checkpoints, each once.
func completeCauses(f *Command, cmd *cobra.Command) {
	const newest = 200
	one := func(of func(bands.Causality) string) func(bands.Causality) []string {
		return func(c bands.Causality) []string { return []string{of(c)} }
	}
	for name, values := range map[string]func(bands.Causality) []string{
		"agent":   one(func(c bands.Causality) string { return c.Agent }),
		"action":  one(func(c bands.Causality) string { return c.Action }),
		"session": one(func(c bands.Causality) string { return c.Session }),
		"meta": func(c bands.Causality) (pairs []string) {
			for _, key := range slices.Sorted(maps.Keys(c.Metadata)) {
				pairs = append(pairs, key+"="+c.Metadata[key])
			}
			return pairs
		},
	} {
		setup.Flag(cmd, name, func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
			s, err := f.Selected(cmd.Context())
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			defer s.Close()
			versions, err := s.Versions()
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var found []cobra.Completion
			for _, v := range versions[max(0, len(versions)-newest):] {
				snapshot, err := s.Snapshot(v)
				if err != nil {
					continue
				}
				for _, value := range values(snapshot.Causality) {
					if value != "" && ui.Line(value, len(value)) == value && strings.HasPrefix(value, begun) && !slices.Contains(found, value) {
						found = append(found, value)
					}
				}
			}
			return found, cobra.ShellCompDirectiveNoFileComp
		})
	}
	times := []cobra.Completion{"30m", "2h", "1d", "1w"}
	setup.Flag(cmd, "since", cobra.FixedCompletions(times, cobra.ShellCompDirectiveNoFileComp))
}
