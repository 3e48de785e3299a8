package history

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/strategy/query"
	"github.com/seed-3aff656d/entire/strategy/recall"
	"github.com/seed-3aff656d/entire/strategy/recall/contextstore"
)

// listedBranch is the maximum width of a branch's name in a list.
const listedBranch = 30

type recallListOptions struct {
	all          bool
	limit        int
	agent, query string
}

func newRecallListCmd(a *app.App, opts *outputFlags) *cobra.Command {
	var list recallListOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List context checkpoints, newest first",
		Long: `Lists the context checkpoints of this worktree, newest first. Pending ones were saved
without asking, and are kept unless you discard them.` + recallExitStatus,
		Example: `  entire recall list`,
		Args:    cobra.NoArgs,
		RunE:    recallRun(a, opts, func(ctx context.Context, r *recalling, _ []string) error { return r.list(ctx, list) }),
	}
	f := cmd.Flags()
	f.BoolVarP(&list.all, "all", "a", false, "list those of all worktrees")
	list.flags(a, cmd, opts)
	return cmd
}

func newRecallSearchCmd(a *app.App, opts *outputFlags) *cobra.Command {
	list := recallListOptions{all: true}
	cmd := &cobra.Command{
		Use:   "search <word>...",
		Short: "Find context checkpoints by their content",
		Long: `Lists the context checkpoints of all worktrees with all of the words in their summary,
task, next steps, decisions, tags or file names, ignoring case.` + recallExitStatus,
		Example: `  entire recall search login
  entire recall search token refresh --json`,
		Args: cobra.MinimumNArgs(1),
		RunE: recallRun(a, opts, func(ctx context.Context, r *recalling, args []string) error {
			list.query = strings.Join(args, " ")
			return r.list(ctx, list)
		}),
	}
	list.flags(a, cmd, opts)
	return cmd
}

func (o *recallListOptions) flags(a *app.App, cmd *cobra.Command, output *outputFlags) {
	setup.JSONLinesFlag(a, cmd.Flags(), &output.json)
	cmd.Flags().StringVar(&o.agent, "agent", "", "only those of this agent: codex, or part of its name")
	cmd.Flags().IntVarP(&o.limit, "limit", "n", 0, "list at most this many")
}

// recallListJSON is the output of `recall list --json` and `recall search --json`.
type recallListJSON struct {
	Worktree    string               `json:"worktree"`
	Query       string               `json:"query,omitempty"`
	Checkpoints []contextstore.Entry `json:"checkpoints"`
}

func (r *recalling) list(ctx context.Context, opts recallListOptions) error {
	if opts.limit < 0 {
		return app.Usagef("--limit must not be negative")
	}
	filter := contextstore.Filter{Worktree: r.root, Query: opts.query, Limit: opts.limit}
	if opts.all {
		filter.Worktree = ""
	}
	if opts.agent != "" {
		filter.Limit = 0
	}
	list, err := r.store.List(ctx, filter)
	if err != nil {
		return recallError(err, "")
	}
	if opts.agent != "" {
		known, err := r.sessions.List(ctx, query.SessionFilter{Agent: func(name string) bool { return app.MatchesAgent(opts.agent, name) }})
		if err != nil {
			return err
		}
		for _, err := range known.Unread {
			r.Streams.Notef("Not everything was searched: %v", err)
		}
		wanted := map[string]bool{}
		for _, s := range known.Sessions {
			wanted[s.ID] = true
		}
		list = slices.DeleteFunc(list, func(e contextstore.Entry) bool { return !wanted[e.Session] })
		if opts.limit > 0 {
			list = list[:min(len(list), opts.limit)]
		}
	}
	if r.opts.json {
		return r.Streams.JSONOf(recallListJSON{Worktree: r.root, Query: opts.query, Checkpoints: format.NotNil(list)}, "checkpoints")
	}
	switch {
	case len(list) > 0:
		r.opts.show(r.App, r.listText(list))
	case opts.agent != "":
		r.Streams.Notef("No context checkpoint of a session of %s.", ui.Line(opts.agent, format.NameWidth))
	case opts.query != "":
		r.Streams.Notef("No context checkpoint has all of: %s", ui.Line(opts.query, format.NameWidth))
	case opts.all:
		r.Streams.Notef("No context checkpoints yet. Save one with `entire recall save`.")
	default:
		r.Streams.Notef("No context checkpoints of this worktree yet. Save one with `entire recall save`; --all lists those of other worktrees.")
	}
	return nil
}

// listText returns a table. It has a column of worktrees if a context is of another worktree.
func (r *recalling) listText(list []contextstore.Entry) string {
	elsewhere := slices.ContainsFunc(list, func(e contextstore.Entry) bool { return e.Worktree != r.root })
	table := ui.Table{Spare: []string{"FILES", "BRANCH", "WORKTREE"}}
	row := func(id, saved, why, branch, worktree, files, summary string) {
		cells := []string{id, saved, why, branch}
		if elsewhere {
			cells = append(cells, worktree)
		}
		table.AddRow(append(cells, files, summary)...)
	}
	row("ID", "SAVED", "WHY", "BRANCH", "WORKTREE", "FILES", "SUMMARY")
	pending := ""
	for _, e := range list {
		why := causeText(e.Cause)
		if e.Status == recall.Pending {
			why = strings.TrimSpace(why + " (pending)")
			pending = cmp.Or(pending, e.ID)
		}
		branch := cmp.Or(ui.Line(e.Branch, listedBranch), "-")
		row(e.ID, ui.Ago(r.Now(), e.CreatedAt), why, branch, format.Path(filepath.Base(e.Worktree)), strconv.Itoa(e.Files), ui.Line(e.Summary, format.LineWidth))
	}
	text := r.Streams.Table(&table)
	if pending != "" {
		text += "\nPending ones are kept unless you discard them: entire recall discard " + pending + "\n"
	}
	return text
}
