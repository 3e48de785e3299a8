// Package rewindcmd has the commands rewind and fork. For rewind these are the choice of a point and
// of its scope, the questions before it, and the report of it. Package strategy/rewind does the work.
package rewindcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/rewind"
	"github.com/seed-3aff656d/entire/strategy/tracking"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

type rewindOptions struct {
	list, json           bool
	to, agent            string
	all, code            bool
	paths                []string
	conversation         bool
	logsOnly, reset      bool
	preview, undo, redo  bool
	nested, exact, force bool
	allRepositories      bool
}

// NewCommand returns the command rewind.
func NewCommand(a *app.App) *cobra.Command {
	var opts rewindOptions
	cmd := &cobra.Command{
		Use:        "rewind [<point>]",
		SuggestFor: []string{"back", "restore", "checkout", "revert", "rollback"},
		Short:      "Go back to an earlier moment",
		Long: `Restores the working tree to an earlier moment: the start or end of a turn, a commit,
or any snapshot. A snapshot has all files, including ignored ones. The current state
is saved first: ` + "`entire undo`" + ` restores it, and ` + "`entire redo`" + ` reverts the undo. They
restore only files that the rewind changed and nobody changed since.

Without a point it lists the moments and asks. A point is
  v12                 a snapshot, as in --list; also 12
  last                the start of the last turn in "entire log"; last:2: of the one
                      before it
  1a2b3c4             a point of --list, or a prefix of one
  a1b2c3d4e5f6        a checkpoint, as in a commit's trailer
  HEAD~2              a commit
  "10 minutes ago"    the last snapshot before a time; also 10m, 14:30, 2026-01-27

It lists the turns that it undoes. If it would change files that were committed after
the point, it asks; without a terminal that needs --force. So do the undo and the redo
of a rewind that is more than ten minutes old, or was followed by a commit.

HEAD, the index and .git are not changed; a merge, rebase or cherry-pick in progress
is only reported. Files that only you changed or created are kept and listed; files
that an agent and you changed are restored and listed. --exact restores everything.
Files of another working session are kept unless --force is given, nested
repositories unless --nested is, and .claude unless it is named with --paths.

Other repositories that the turns changed are listed. --all-repositories, or a yes,
rewinds them, too: all, or none if one fails.

Restored files get the current time, so that build tools notice; with --exact their
original time.

EXIT STATUS
  0    done, or nothing to do
  1    failure, or some paths could not be restored
  2    wrong usage, or no terminal to ask on
  130  interrupted`,
		Example: `  entire rewind last --preview
  entire rewind v12
  entire rewind "10 minutes ago"
  entire rewind HEAD~1 --paths src/auth.ts
  entire undo`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				for _, name := range []string{"to", "list", "undo", "redo"} {
					if cmd.Flags().Changed(name) {
						return app.Usagef("--%s and the point %q can't be combined", name, args[0])
					}
				}
				opts.to = args[0]
			}
			if opts.to != "" && strings.Trim(opts.to, "0123456789") == "" && len(opts.to) < rewind.LeastPointPrefix && !opts.json {
				a.Streams.Notef("%s is the snapshot v%[1]s; \"last\" is the beginning of the last turn, \"last:2\" that of the turn before it.", opts.to)
			}
			err := runRewind(cmd.Context(), a, opts)
			if hint := app.StoreHint(err, "entire snapshot"); hint != "" && app.HintOf(err) == "" {
				err = app.WithHint(err, hint)
			}
			return err
		},
	}
	f := cmd.Flags()
	f.BoolVar(&opts.list, "list", false, "list the points (--all for more than 20); JSON in a pipe and with --json")
	f.StringVar(&opts.agent, "agent", "", "list only points of this agent: codex, or a part of its name")
	f.StringVar(&opts.to, "to", "", "go back to this point; the same as an argument")
	f.BoolVar(&opts.all, "all", false, "restore the whole tree (the default where there is a snapshot); with --list: all points")
	f.BoolVar(&opts.code, "code", false, "restore only files that agents changed and git doesn't ignore")
	f.StringArrayVar(&opts.paths, "paths", nil, "restore only this file or folder; may be given more than once")
	f.BoolVar(&opts.conversation, "conversation", false, "also cut back the agent's transcript; the current one is kept as a copy")
	f.BoolVar(&opts.logsOnly, "logs-only", false, "restore only the stored transcripts of a commit's checkpoint")
	f.BoolVar(&opts.reset, "reset", false, "restore the transcripts, and reset the branch to the commit (git reset --hard)")
	addPreview(f, &opts.preview)
	f.BoolVar(&opts.undo, "undo", false, "undo the last rewind")
	f.BoolVar(&opts.redo, "redo", false, "redo the last undone rewind")
	for _, name := range []string{"undo", "redo"} {
		f.Lookup(name).Hidden = true // commands of their own
	}
	f.BoolVar(&opts.nested, "nested", false, "also restore nested repositories")
	f.BoolVar(&opts.exact, "exact", false, "restore everything, also what no agent changed or created")
	f.BoolVarP(&opts.force, "force", "f", false, "don't ask; also restore files of working sessions, and open databases")
	f.BoolVar(&opts.allRepositories, "all-repositories", false, "also rewind the other repositories that the turns changed: all or none")
	setup.JSONFlags(a, f, &opts.json)
	cmd.MarkFlagsMutuallyExclusive("all", "code", "paths", "logs-only", "reset")
	cmd.MarkFlagsMutuallyExclusive("list", "to", "undo", "redo")
	for _, name := range []string{"list", "undo", "redo", "paths", "logs-only", "reset"} {
		cmd.MarkFlagsMutuallyExclusive("all-repositories", name)
	}
	cmd.ValidArgsFunction = setup.Argument(a, 0, setup.Versions, setup.Checkpoints)
	setup.Flag(cmd, "to", cmd.ValidArgsFunction)
	setup.Flag(cmd, "agent", setup.FlagValue(a, setup.Agents))
	return cmd
}

// addPreview adds --preview, and --dry-run with the same effect.
func addPreview(f *pflag.FlagSet, preview *bool) {
	f.BoolVar(preview, "preview", false, "show what would change, and change nothing")
	f.BoolVarP(preview, "dry-run", "n", false, "the same as --preview")
	f.Lookup("dry-run").Hidden = true
}

// rewinding is one run of rewind.
type rewinding struct {
	*app.App

	opts rewindOptions
	repo *git.Repo
	w    *workspace.Workspace
	// keepBoth and atWork are choices of the user: keep files that a person changed, too, and
	// rewind files that a session at work changed.
	keepBoth, atWork bool
	confirmed        bool // all questions are answered
	plans            map[string]rewind.Plan
	others           []*otherRepository // that the turns of the point changed
}

// reporter returns the reporter of the run.
func (r *rewinding) reporter() *reporter { return &reporter{r} }

func runRewind(ctx context.Context, a *app.App, opts rewindOptions) (err error) {
	if opts.to == "" && !opts.list && !opts.undo && !opts.redo && (opts.preview || opts.reset || opts.logsOnly) {
		return app.Usagef("which point? Type entire rewind <point>")
	}
	if (opts.undo || opts.redo) && (opts.code || opts.logsOnly || opts.reset || opts.exact || opts.conversation) {
		return app.Usagef("--undo and --redo can only be limited with --paths")
	}
	repo, err := a.Worktree()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	there, log := a.LoggingWorkspace(repo, "rewind")
	defer func() { _ = log.Close() }()
	w := &rewinding{App: a, opts: opts, repo: repo, plans: map[string]rewind.Plan{}, w: there}
	defer func() { err = errors.Join(err, w.closeOthers()) }()
	if err := a.EndRewindsTogether(ctx, repo); err != nil {
		return err
	}
	if opts.preview || !opts.list && opts.to == "" && !opts.undo && !opts.redo {
		a.NoteInterruptedRewind(repo)
	}
	if !opts.list && !opts.logsOnly {
		if err := a.WarnOperation(ctx, repo, "rewind"); err != nil {
			return err
		}
	}
	switch {
	case opts.list:
		return (&picker{w}).list(ctx)
	case opts.undo:
		return w.noPaths(w.undo(ctx, bands.OpUndo))
	case opts.redo:
		return w.noPaths(w.undo(ctx, bands.OpRedo))
	case opts.to == "":
		return (&picker{w}).choose(ctx)
	}
	p, err := rewind.FindPoint(ctx, w.w, opts.to)
	if err != nil {
		_, unknown := errors.AsType[*rewind.PointError](err)
		isMissing := unknown || errors.Is(err, bands.ErrNoSnapshot)
		if s := w.Settings(repo); isMissing && s.Configured && !s.Bands.Enabled {
			return app.WithHint(err, app.BandsOffHint)
		}
		if isMissing {
			return app.WithHint(err, "`entire rewind --list` lists the points")
		}
		return err
	}
	if p.Turn != nil && p.Turn.Unchanged && !opts.conversation && !opts.logsOnly && !opts.reset {
		return w.unchanged(p)
	}
	return w.noPaths(w.goTo(ctx, p))
}

// noPaths explains the error for paths given by the user that match no file.
func (r *rewinding) noPaths(err error) error {
	missing, ok := errors.AsType[*restore.PathsError](err)
	if !ok {
		return err
	}
	err = app.Unmatched(missing.Paths, missing.Target.String(), "now")
	if strings.Contains(strings.Join(r.opts.paths, ""), ",") {
		err = app.WithHint(err, "repeat --paths for each path")
	}
	return err
}

// undo undoes the last rewind, or redoes the last one undone.
func (r *rewinding) undo(ctx context.Context, op bands.Operation) error {
	var err error
	if op == bands.OpRedo {
		err = r.step(ctx, op, func(ctx context.Context, o rewind.Options) (restore.Plan, error) {
			return rewind.PreviewRedo(ctx, r.w, o)
		}, func(ctx context.Context, o rewind.Options) (rewind.Rewound, error) {
			return rewind.RedoRewind(ctx, r.w, o)
		})
	} else {
		err = r.step(ctx, op, func(ctx context.Context, o rewind.Options) (restore.Plan, error) {
			return rewind.PreviewUndo(ctx, r.w, o)
		}, func(ctx context.Context, o rewind.Options) (rewind.Rewound, error) {
			return rewind.UndoRewind(ctx, r.w, o)
		})
	}
	if !errors.Is(err, bands.ErrNoHistory) {
		return err
	}
	err = fmt.Errorf("nothing to %s", op)
	former, found := tracking.ReadFormerRewind(r.repo.CommonDir, checkpoint.WorktreeHash(r.repo.WorktreeID))
	if found && op == bands.OpUndo {
		return app.WithHint(fmt.Errorf("%w: the rewind to %s was made by an earlier version", err, former.To.Short()), former.Hint())
	}
	if op == bands.OpUndo {
		return app.WithHint(err, "`entire rewind last` undoes the last turn")
	}
	return err
}

// goTo rewinds to a point in the scope of the flags.
func (r *rewinding) goTo(ctx context.Context, p rewind.Point) error {
	// The point may lack the data that the flags need.
	switch opts := r.opts; {
	case (opts.logsOnly || opts.reset) && p.Checkpoint == "":
		return app.WithHint(fmt.Errorf("%s has no committed checkpoint", format.ID(p.ID)), "--logs-only and --reset need a commit with a checkpoint")
	case opts.reset && p.Commit == "":
		return fmt.Errorf("no commit found for checkpoint %s", p.Checkpoint)
	case (opts.all || len(opts.paths) > 0 || (opts.conversation && p.TaskID == "")) && p.Snapshot == 0:
		return app.WithHint(fmt.Errorf("%s has no snapshot of the whole tree", format.ID(p.ID)), "`entire rewind --list` shows the points with one as \"snapshot\"")
	}
	if err := r.findOthers(ctx, p); err != nil {
		return err
	}
	switch {
	case r.opts.preview && r.onlyLogs(p):
		return (&logsRestore{r}).preview(ctx, p)
	case r.opts.preview:
		return r.preview(ctx, p)
	case r.onlyLogs(p):
		if r.opts.reset && !r.confirmed {
			if err := r.confirm(ctx, p); err != nil {
				return err
			}
		}
		err := (&logsRestore{r}).logs(ctx, p)
		if errors.Is(err, git.ErrTooMuch) {
			return app.WithHint(err, format.TooLargeHint)
		}
		return err
	}
	if !r.confirmed {
		if err := r.confirm(ctx, p); err != nil {
			return err
		}
	}
	if p.Snapshot == 0 {
		return r.goToCode(ctx, p)
	}
	if err := r.confirmOthers(ctx); err != nil {
		return err
	}
	o, err := r.scope(p)
	if err != nil {
		return err
	}
	taken := takenBack{}
	if taken.turns, err = r.turnsBack(p); err != nil {
		return err
	}
	began := r.Now()
	var done rewind.Rewound
	err = r.withProgress("Restoring "+p.Snapshot.String(), &o, func() (err error) {
		done, err = r.rewind(ctx, p, o)
		return err
	})
	if err != nil && !errors.Is(err, restore.ErrIncomplete) {
		return r.stopped(ctx, err, p, done)
	}
	conv, failed := r.rewindConversation(ctx, p, done.Origin)
	if failed != nil {
		return errors.Join(failed, err)
	}
	continued := p.Session
	if conv.Fork != "" { // the conversation continues in another session
		continued = ""
	}
	if taken.committed, failed = r.committed(ctx, p, done.Plan.Steps()); failed != nil { // the files are restored
		r.Streams.Notef("Can't tell which committed files changed: %v", failed)
	}
	r.reporter().report(done, fmt.Sprintf("%s%s (%s).", rewoundTo(p, p.Snapshot.String()), format.Quoted(p.Message), format.Took(r.Now().Sub(began))), "undo", continued, taken)
	r.reporter().reportOthers()
	r.reporter().reportConversation(conv)
	return r.incomplete(err, done)
}

// onlyLogs reports whether a rewind to the point restores only transcripts, and with --reset also
// the branch.
func (r *rewinding) onlyLogs(p rewind.Point) bool {
	return r.opts.logsOnly || r.opts.reset || p.LogsOnly()
}

// withProgress runs do and shows the progress of a rewind.
func (r *rewinding) withProgress(what string, o *rewind.Options, do func() error) error {
	return r.Streams.Sized(what, func(reach func(string, ui.Amount)) error {
		o.Progress = format.Progress(reach)
		return do()
	})
}

// scope returns the options that select the part of the tree to restore.
func (r *rewinding) scope(p rewind.Point) (rewind.Options, error) {
	o := rewind.Options{
		Scope: rewind.RewindAll, Nested: r.opts.nested, Exact: r.opts.exact, Force: r.opts.force,
		Session: p.Session, Conversation: r.opts.conversation, KeepBoth: r.keepBoth, AtWork: r.atWork,
	}
	if states, err := r.turns(); err == nil {
		o.Own = r.own(states)
	}
	switch {
	case r.opts.code:
		o.Scope = rewind.RewindCode
	case len(r.opts.paths) > 0:
		o.Scope = rewind.RewindPaths
		var err error
		if o.Paths, err = app.TreePaths(r.repo.Root, r.Dir, r.opts.paths); err != nil {
			return o, err
		}
		if o.Paths == nil {
			o.Scope = rewind.RewindAll
		}
	}
	return o, nil
}
