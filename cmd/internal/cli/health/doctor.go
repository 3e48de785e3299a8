package health

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/checkpoint"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/setup"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/strategy/doctor"
	"github.com/seed-3aff656d/entire/strategy/workspace"
)

type doctorOptions struct {
	fix, yes, force, undo, all, json bool
	bugReport                        string
}

// NewDoctor returns the command that finds and repairs faults of the records.
func NewDoctor(a *app.App) *cobra.Command {
	var opts doctorOptions
	cmd := &cobra.Command{
		Use:        "doctor [backup]",
		SuggestFor: []string{"check", "fsck", "repair", "verify"},
		Short:      "Find and repair problems with the records",
		Long: `Finds what prevents sessions from being recorded, and damage in the records of this
repository, in all its worktrees: turns that never ended, commits without their
checkpoint, damaged files, hooks that don't run. It changes nothing.

Of more than 1,000 checkpoints it examines the latest 1,000; --all examines all.

With --fix it repairs what it can, and asks before each kind of repair unless --yes
is given. Whatever a repair may change is copied first; --undo restores the copy of
the last repair, or of the named one. Copies are kept for 30 days. No repair
discards uncommitted work.

With --report it writes a file to attach to a bug report: versions, settings,
problems, events that could not be decoded, the end of the log. Secrets are
replaced, and the home directory is ~. Nothing is sent. Read the file before you
share it.

With --json it prints one object; see docs/formats/doctor.md.

EXIT STATUS
  0    no problems, or all repaired
  1    problems found, or failure
  2    wrong usage, or no terminal to ask on
  130  interrupted`,
		Example: `  entire doctor
  entire doctor --all
  entire doctor --fix --yes
  entire doctor --undo
  entire doctor --report report.txt
  entire doctor --undo 20260127T143000-stuck-session`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runDoctor(cmd.Context(), a, opts, args) },
	}
	f := cmd.Flags()
	f.BoolVar(&opts.fix, "fix", false, "repair problems")
	f.BoolVarP(&opts.yes, "yes", "y", false, "don't ask before repairs")
	f.BoolVarP(&opts.force, "force", "f", false, "the same as --fix --yes; with --undo: also restore what has changed since")
	f.BoolVar(&opts.all, "all", false, "examine all checkpoints")
	f.BoolVar(&opts.undo, "undo", false, "undo a repair")
	f.StringVar(&opts.bugReport, "report", "", "write a file to attach to a bug report; - is standard output")
	setup.JSONFlags(a, f, &opts.json)
	cmd.MarkFlagsMutuallyExclusive("fix", "undo", "report")
	cmd.MarkFlagsMutuallyExclusive("all", "undo")
	cmd.MarkFlagsMutuallyExclusive("report", "json")
	return cmd
}

// consulting is one run of doctor.
type consulting struct {
	*app.App

	opts   doctorOptions
	doctor doctor.Doctor
}

func runDoctor(ctx context.Context, a *app.App, opts doctorOptions, args []string) (err error) {
	if len(args) > 0 && !opts.undo {
		return app.Usagef("a backup can only be named with --undo")
	}
	repo, err := a.Worktree()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	is := a.Settings(repo)
	log := slog.New(slog.DiscardHandler)
	if opts.fix || opts.force {
		log, _ = app.OpenLog(workspace.Runtime(repo, is.Activation.Level), is.LogLevel)
	}
	w := a.WorkspaceOf(repo, is, log.With("component", "doctor"))
	w.Options.LockTimeout = app.ChildLock
	c := &consulting{App: a, opts: opts, doctor: doctor.Doctor{Workspace: w, All: opts.all, More: moreChecks(a, repo, is)}}
	switch {
	case opts.bugReport != "":
		return c.writeBugReport(ctx, repo)
	case opts.undo:
		return c.undo(ctx, args)
	case opts.fix || opts.force:
		return c.fix(ctx)
	}
	list, err := c.look(ctx)
	if err != nil {
		return err
	}
	return c.report(list, nil)
}

func (c *consulting) look(ctx context.Context) (list []doctor.Finding, err error) {
	err = c.Streams.Count("Examining, check", func(tick func(done, total int64)) error {
		c.doctor.Progress = tick
		list, err = c.doctor.Examine(ctx)
		return err
	})
	return list, err
}

// rounds is the maximum number of repair rounds: a repair may reveal other faults.
const rounds = 3

// fix repairs the faults that the user selects, and examines again.
func (c *consulting) fix(ctx context.Context) error {
	list, err := c.look(ctx)
	if err != nil {
		return err
	}
	var all []doctor.Outcome
	for range rounds {
		untried := slices.DeleteFunc(slices.Clone(list), func(f doctor.Finding) bool {
			return slices.ContainsFunc(all, func(o doctor.Outcome) bool { return o.Code == f.Code && o.Subject == f.Subject })
		})
		wanted, err := c.wanted(ctx, doctor.Groups(untried))
		if err != nil {
			return err
		}
		if len(wanted) == 0 {
			break
		}
		err = c.Streams.Count("Repairing", func(tick func(done, total int64)) error {
			c.doctor.Progress = tick
			done, err := c.doctor.Fix(ctx, wanted)
			all = append(all, done...)
			return err
		})
		if err != nil {
			return err
		}
		if list, err = c.look(ctx); err != nil {
			return err
		}
		if !c.opts.yes && !c.opts.force {
			break // ask only once
		}
	}
	return c.report(list, all)
}

// wanted returns the findings to repair: unless the options accept all, it asks for each kind of
// repair. Before that it prints the changes to the branch of the checkpoints, which is shared with
// other clones; with --json to standard error.
func (c *consulting) wanted(ctx context.Context, groups [][]doctor.Finding) ([]doctor.Finding, error) {
	if c.opts.yes || c.opts.force || len(groups) == 0 {
		return slices.Concat(groups...), nil
	}
	show := c.Streams.Printf
	if c.opts.json {
		show = func(format string, args ...any) { c.Streams.Notef(strings.TrimSuffix(format, "\n"), args...) }
	}
	for _, f := range slices.Concat(groups...) {
		if len(f.Repair.Checkpoints) == 0 && !slices.Contains(f.Repair.Refs, checkpoint.MetadataBranch) {
			continue
		}
		show("entire/checkpoints/v1: %s: %s\n", findingTitle(f), ui.Line(f.What, format.LineWidth))
		show("  change: %s\n", ui.Line(f.Fix, format.LineWidth))
		if f.Repair.Preview == nil {
			continue
		}
		lines, err := f.Repair.Preview(ctx)
		if err != nil {
			return nil, err
		}
		for _, line := range lines {
			show("  %s\n", ui.Line(line, format.LineWidth))
		}
	}
	questions := make([]ui.Question, len(groups))
	for i, group := range groups {
		kind := strings.ReplaceAll(group[0].Code, "-", " ")
		title := "Repair " + ui.Plural(len(group), "case") + " of " + kind + "?"
		if len(group) == 1 {
			title = "Repair " + kind + " " + ui.Line(group[0].Subject, format.PromptWidth) + "?"
		}
		questions[i] = ui.Question{Title: title, Help: format.Capitalize(group[0].Fix) + ".", Flag: "--yes"}
	}
	answers, err := c.Prompter.Ask(ctx, questions...)
	if err != nil {
		return nil, err
	}
	var wanted []doctor.Finding
	for i, group := range groups {
		if answers[i] == ui.Yes {
			wanted = append(wanted, group...)
		}
	}
	return wanted, nil
}

func (c *consulting) undo(ctx context.Context, args []string) error {
	o := doctor.UndoOptions{Force: c.opts.force}
	if len(args) > 0 {
		o.Name = args[0]
	}
	b, err := c.doctor.Undo(ctx, o)
	_, changed := errors.AsType[*doctor.ChangedError](err)
	switch {
	case changed:
		return app.WithHint(err, "--force restores it anyway, and keeps a copy of the current files")
	case errors.Is(err, doctor.ErrNoBackup):
		return app.WithHint(err, "`entire doctor --json` lists the backups")
	case err != nil:
		return err
	case c.opts.json:
		return c.Streams.JSON(undoneJSON{Undone: newBackupJSON(&b)})
	}
	c.Streams.Printf("Undid the repair %s.\n", b.Name)
	return nil
}
