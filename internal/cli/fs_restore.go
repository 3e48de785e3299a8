package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/internal/ui"
)

// preRestore is the message of the checkpoint that a restore takes first.
const preRestore = "pre-restore"

type fsRestoreOptions struct {
	paths                []string
	nested, busy, dryRun bool
}

func newFSRestoreCmd(f *fsApp) *cobra.Command {
	var opts fsRestoreOptions
	cmd := &cobra.Command{
		Use:   "restore <version> [-- path...]",
		Short: "Make the tree what it was at a checkpoint",
		Long: `Makes the tree what it was at a checkpoint. What is there now is saved as a
checkpoint first, so "restore" of that one takes it back. Only what differs is
rewritten, and what is written is checked against its hash. While it runs, the store takes no other checkpoint: that is what "Unmounting" and
"Mounting" say. Files stay where they are, open ones too.

The tree's own .git is never touched. Nested repositories are left as they are
unless --nested is given or they are named; .claude is restored only if named.
A database that a process has open is left as it is unless --force-busy is
given. Paths are relative to the current folder.

It asks first, unless --force is given. --dry-run shows what would change.` + fsExitStatus,
		Example: "  " + f.program + " restore v3\n  " + f.program + " restore v3 --paths src/auth.ts\n  " + f.program + " restore v3 -- src docs",
		Args:    restoreArgs,
		RunE: f.run(func(ctx context.Context, args []string) error {
			opts.paths = append(opts.paths, args[1:]...)
			return runFSRestore(ctx, f, opts, args[0])
		}),
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&opts.paths, "paths", nil, "restore only this file or folder; may be given more than once")
	flags.BoolVar(&opts.nested, "nested", false, "restore nested repositories too")
	flags.BoolVar(&opts.busy, "force-busy", false, "restore databases that a process has open too")
	flags.BoolVar(&opts.dryRun, "dry-run", false, "only show what would change")
	return cmd
}

// restoreArgs wants a version, and paths only behind "--" or --paths.
func restoreArgs(cmd *cobra.Command, args []string) error {
	before := len(args)
	if at := cmd.ArgsLenAtDash(); at >= 0 {
		before = at
	}
	switch {
	case before < 1:
		return errors.New("which version? Name one, such as v3")
	case before > 1 && !cmd.Flags().Changed("paths"):
		return fmt.Errorf("%q is too much; paths stand behind --", args[1])
	}
	return nil
}

func runFSRestore(ctx context.Context, f *fsApp, opts fsRestoreOptions, version string) error {
	v, err := parseVersion(version)
	if err != nil {
		return err
	}
	s, err := f.mounted(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.inTree(); err != nil {
		return err
	}
	target, err := s.own(v)
	if err != nil {
		return err
	}
	scope := bands.Scope{Nested: opts.nested, Force: opts.busy}
	if scope.Paths, err = s.treePaths(opts.paths...); err != nil {
		return err
	}
	err = s.CheckPaths(target, bands.Scope{Root: s.options.Root, Paths: scope.Paths})
	if missing, ok := errors.AsType[*bands.PathsError](err); ok {
		return unmatched(missing.Paths, v.String(), f.shortPath(s.options.Root))
	}
	if err != nil {
		return err
	}
	if opts.dryRun {
		return f.dryRun(ctx, s, target, scope)
	}
	next, err := s.next()
	if err != nil {
		return err
	}
	question := fmt.Sprintf("Restore %s to %s? Current state will be saved as %s.", f.shortPath(s.options.Root), v, next)
	if yes, err := f.sure(ctx, question); err != nil || !yes {
		return err
	}
	return f.restore(ctx, s, target, scope)
}

func (f *fsApp) restore(ctx context.Context, s *selection, target bands.Snapshot, scope bands.Scope) error {
	began := f.Now()
	held, err := s.hold(ctx, restoreWait)
	if err != nil {
		return err
	}
	next, err := s.next() // what was asked may be of before the lock
	if err != nil {
		return errors.Join(err, held.Release())
	}
	f.say("Creating checkpoint %s %q...", next, preRestore)
	stages := &restoreStages{fsApp: f, target: target.Version}
	done, err := held.Restore(ctx, target.Version, bands.RestoreOptions{
		Options: s.options, Scope: scope, Message: preRestore, Progress: stages.progress,
	})
	err = errors.Join(err, held.Release())
	if done.Rescue.Version != 0 {
		s.record(ctx, done.Rescue)
	}
	if err != nil && !errors.Is(err, bands.ErrIncomplete) {
		return s.stopped(ctx, err, done, scope)
	}
	stages.reach(stageMount)
	f.noteRestored(done)
	if f.json {
		if err := f.compact(newRestoredJSON(done, f.Now().Sub(began))); err != nil {
			return err
		}
	} else if len(done.Failed) == 0 {
		f.Streams.Printf("Restored%s to %s%s (%s)\n", f.elsewhere(s), target.Version, quoteMessage(target.Message), took(f.Now().Sub(began)))
	}
	if len(done.Failed) > 0 {
		return f.incomplete(done)
	}
	return nil
}

// elsewhere names the tree, after a space, unless it is the working directory.
func (f *fsApp) elsewhere(s *selection) string {
	if sameDir(f.Dir, s.options.Root) {
		return ""
	}
	return " " + f.shortPath(s.options.Root)
}

// stopped is the error of a restore that did not end.
func (s *selection) stopped(ctx context.Context, err error, done bands.Restored, scope bands.Scope) error {
	if done.Rescue.Version == 0 {
		return err
	}
	hint := s.wayOut(done.Target.Version, done.Rescue.Version, scope)
	if ctx.Err() != nil && !s.fs.json {
		s.fs.Streams.Hint(hint)
	}
	return hinted(err, hint)
}

// incomplete is the error of a restore that left paths as they were; they have
// been named.
func (f *fsApp) incomplete(done bands.Restored) error {
	err := fmt.Errorf("%s could not be restored; everything else is as in %s",
		ui.Plural(len(done.Failed), "path"), done.Target.Version)
	if f.json {
		f.Streams.Notef("%v", err)
		return errFailed
	}
	return hinted(err, fmt.Sprintf("`%s restore %s` goes back to what was there before", f.program, done.Rescue.Version))
}

// restoreStages prints each stage of a restore once, when it begins.
type restoreStages struct {
	*fsApp

	target  bands.Version
	reached int
}

// stageApply is what bands calls the stage in which files are written.
const stageApply = "restore"

// The stages of a restore after its checkpoint.
const (
	stageUnmount = iota + 1
	stageRestore
	stageMount
)

func (r *restoreStages) progress(stage string, _, _ int) {
	if stage == stageApply {
		r.reach(stageRestore)
	}
}

func (r *restoreStages) reach(stage int) {
	for ; r.reached < stage; r.reached++ {
		switch r.reached + 1 {
		case stageUnmount:
			r.say("Unmounting...")
		case stageRestore:
			r.say("Restoring from %s...", r.target)
		case stageMount:
			r.say("Mounting...")
		}
	}
}

// noteRestored tells what a restore left alone.
func (f *fsApp) noteRestored(done bands.Restored) {
	if f.json {
		return
	}
	f.noteLeft(done.Plan)
	unset := make([]string, 0, len(done.Unset))
	for _, failure := range done.Unset {
		unset = append(unset, failure.Path)
	}
	f.notePaths("restored without its owner or an attribute, which you may not set", slices.Compact(unset))
	for _, failure := range done.Failed {
		f.Streams.Notef("not restored: %s: %v", showPath(failure.Path), failure.Err)
	}
}

// noteLeft tells what a plan leaves alone.
func (f *fsApp) noteLeft(p bands.Plan) {
	f.notePaths("left as it is, a process has it open (--force-busy)", p.Busy)
	f.notePaths("left as it is, a repository of its own (--nested)", p.Nested)
	f.notePaths("left as it is unless named", p.Unnamed)
	f.notePaths("left as it is, the checkpoint doesn't hold it", p.Unknown)
}

// dryRun shows what a restore would change.
func (f *fsApp) dryRun(ctx context.Context, s *selection, target bands.Snapshot, scope bands.Scope) error {
	present, err := s.scan(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = present.Close() }() // it was only read
	plan, err := s.Plan(ctx, present, target, scope)
	if err != nil {
		return err
	}
	if f.json {
		return f.compact(newPlanJSON(plan, target))
	}
	for step := range plan.Steps() {
		f.Streams.Printf("%-10s %s\n", stepWord(step.Kind), showPath(step.Path))
	}
	if plan.Empty() {
		f.Streams.Printf("Nothing would change.\n")
	}
	f.noteLeft(plan)
	f.notePaths("can't be restored, something that stays is in its way", plan.Blocked)
	f.notePaths("can't be restored, the store has lost it", plan.Damaged)
	return nil
}

func stepWord(kind bands.StepKind) string {
	word := kind.String()
	return strings.ToUpper(word[:1]) + word[1:] + ":"
}
