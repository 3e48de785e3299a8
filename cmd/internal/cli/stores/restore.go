package stores

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
)

// preRestore is the message of the checkpoint that a restore takes first.
const preRestore = "pre-restore"

type fsRestoreOptions struct {
	paths                []string
	nested, busy, dryRun bool
	keepGit              *bool // nil: the default
}

func newFSRestoreCmd(f *Command) *cobra.Command {
	var opts fsRestoreOptions
	var keepGit bool
	cmd := &cobra.Command{
		Use:   "restore <version> [-- path...]",
		Short: "Restore the tree of a checkpoint",
		Long: `Restores the tree to a checkpoint. The current state is saved as a checkpoint first;
to undo, restore that one. Only files that differ are written, and verified against
their hashes. The store takes no other checkpoint meanwhile: that is what
"Unmounting" and "Mounting" mean. Files are replaced in place.

The tree's own .git is never changed. Nested repositories are restored only with
--nested or if named, .claude only if named, and databases that a process has open
only with --force-busy. Paths are relative to the current folder.

A volume (init --driver) is replaced by a copy of the checkpoint, including .git; its
current state becomes a checkpoint. Processes that use the volume keep the old files,
and are listed first. --keep-git keeps the current .git and .entire, which is the
default where entire is enabled. Paths are copied from the checkpoint. --nested and
--force-busy don't apply to volumes.

It asks first, unless --force is given. --dry-run shows what would change.` + ExitStatus,
		Example: "  " + f.Program + " restore v3\n  " + f.Program + " restore v3 --paths src/auth.ts\n  " + f.Program + " restore v3 -- src docs",
		Args: func(cmd *cobra.Command, args []string) error {
			// Paths are allowed only after "--" or with --paths.
			before := len(args)
			if at := cmd.ArgsLenAtDash(); at >= 0 {
				before = at
			}
			switch {
			case before < 1:
				return errors.New("which version? Give one, such as v3")
			case before > 1 && !cmd.Flags().Changed("paths"):
				return fmt.Errorf("unexpected %q; put paths after --", args[1])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			opts.paths = append(opts.paths, args[1:]...)
			if cmd.Flags().Changed("keep-git") {
				opts.keepGit = &keepGit
			}
			return f.Run(func(ctx context.Context, args []string) error { return runFSRestore(ctx, f, opts, args[0]) })(cmd, args)
		},
	}
	cmd.ValidArgsFunction = completeVersions(f, 1, "")
	flags := cmd.Flags()
	flags.StringArrayVar(&opts.paths, "paths", nil, "restore only this file or folder; may be repeated")
	flags.BoolVar(&opts.nested, "nested", false, "also restore nested repositories")
	flags.BoolVar(&opts.busy, "force-busy", false, "also restore databases that a process has open")
	flags.BoolVar(&keepGit, "keep-git", false, "for a volume: keep the current .git and .entire")
	flags.BoolVar(&opts.dryRun, "dry-run", false, "only show what would change")
	return cmd
}

func runFSRestore(ctx context.Context, f *Command, opts fsRestoreOptions, version string) error {
	v, err := parseVersion(version)
	if err != nil {
		return err
	}
	s, err := f.Mounted(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.RequireTree(); err != nil {
		return err
	}
	target, err := s.Own(v)
	if err != nil {
		return err
	}
	if s.IsVolume() {
		return runVolumeRestore(ctx, f, s, opts, target)
	}
	scope := restore.Scope{Nested: opts.nested, Force: opts.busy}
	if scope.Paths, err = s.TreePaths(opts.paths...); err != nil {
		return err
	}
	err = restore.CheckPaths(s.Store, target, restore.Scope{Root: s.Options.Root, Paths: scope.Paths})
	if missing, ok := errors.AsType[*restore.PathsError](err); ok {
		return app.Unmatched(missing.Paths, v.String(), f.ShortPath(s.Options.Root))
	}
	if err != nil {
		return err
	}
	if err := s.WarnOperation(ctx); err != nil {
		return err
	}
	if opts.dryRun {
		present, err := s.ScanTree(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = present.Close() }() // only read
		planned, err := restore.NewPlan(ctx, s.Store, present, target, scope)
		if err != nil {
			return err
		}
		if f.JSON {
			return f.PrintJSON(format.NewPlanJSON(planned, target))
		}
		f.PageText(func(w ui.Streams) {
			for step := range planned.Steps() {
				w.Printf("%s\n", format.StepLine(w, step.Kind, step.Path))
			}
			if planned.Empty() {
				w.Printf("Nothing would change.\n")
			}
		})
		noteLeft(f, planned)
		notePaths(f, "can't be restored, a file that is kept is in its place", planned.Blocked)
		notePaths(f, "can't be restored, lost from the store", planned.Damaged)
		return nil
	}
	next, err := s.Next()
	if err != nil {
		return err
	}
	question := fmt.Sprintf("Restore %s to %s? Current state will be saved as %s.", f.ShortPath(s.Options.Root), v, next)
	if yes, err := sure(ctx, f, question); err != nil || !yes {
		return err
	}
	return restoreTree(ctx, f, s, target, scope)
}

func restoreTree(ctx context.Context, f *Command, s *Selection, target bands.Snapshot, scope restore.Scope) error {
	began := f.Now()
	held, err := s.HoldLock(ctx, LockWait)
	if err != nil {
		return err
	}
	next, err := s.Next() // the one in the question is from before the lock
	if err != nil {
		return errors.Join(err, held.Release())
	}
	f.Say("Creating %s %s %q...", f.noun(), next, preRestore)
	// Each stage after the checkpoint is printed once, when it or a later one starts.
	stages := []string{"Unmounting...", "Restoring from " + target.Version.String() + "...", "Mounting..."}
	reach := func(n int) {
		for ; len(stages) > n; stages = stages[1:] {
			f.Streams.ClearProgress()
			f.Say("%s", stages[0])
		}
	}
	var done restore.Result
	err = f.Streams.Sized("Restoring "+target.Version.String(), func(amount func(string, ui.Amount)) (err error) {
		shown := format.Progress(amount)
		done, err = restore.Run(ctx, held, target.Version, restore.Options{
			Options: s.Options, Scope: scope, Message: preRestore, Progress: func(p bands.Progress) {
				if p.Stage == "restore" { // files are written
					reach(1)
				}
				shown(p)
			},
		})
		return err
	})
	err = errors.Join(err, held.Release())
	if done.Rescue.Version != 0 {
		s.Record(ctx, done.Rescue)
	}
	if err != nil && !errors.Is(err, restore.ErrIncomplete) {
		if done.Rescue.Version == 0 {
			return err
		}
		hint := s.Advice(done.Target.Version, done.Rescue.Version, scope)
		if ctx.Err() != nil && !f.JSON {
			f.Streams.Hint(hint)
		}
		return app.WithHint(err, hint)
	}
	reach(0)
	if !f.JSON {
		noteLeft(f, done.Plan)
		unset := make([]string, 0, len(done.Unset))
		for _, failure := range done.Unset {
			unset = append(unset, failure.Path)
		}
		notePaths(f, "restored without its owner or an attribute, which you may not set", slices.Compact(unset))
		for _, failure := range done.Failed {
			f.Streams.Notef("not restored: %s: %v", format.Path(failure.Path), failure.Err)
		}
	}
	if f.JSON {
		if err := f.PrintJSON(format.NewRestoredJSON(done, f.Now().Sub(began))); err != nil {
			return err
		}
	} else if len(done.Failed) == 0 {
		f.Streams.Printf("Restored%s to %s%s (%s)\n", elsewhere(f, s), target.Version, format.Quoted(target.Message), format.Took(f.Now().Sub(began)))
	}
	if len(done.Failed) == 0 {
		return nil
	}
	err = fmt.Errorf("%s could not be restored; everything else is as in %s",
		ui.Plural(len(done.Failed), "path"), done.Target.Version)
	if f.JSON {
		f.Streams.Notef("%v", err)
		return app.ErrFailed
	}
	return app.WithHint(err, fmt.Sprintf("`%s` restores the previous state", f.call("restore "+done.Rescue.Version.String())))
}

// elsewhere returns the tree's path after a space, or "" if it is the working directory.
func elsewhere(f *Command, s *Selection) string {
	if app.SameFile(f.Dir, s.Options.Root) {
		return ""
	}
	return " " + f.ShortPath(s.Options.Root)
}

// noteLeft prints notes on the paths that a plan leaves unchanged.
func noteLeft(f *Command, p restore.Plan) {
	notePaths(f, "not restored, a process has it open (--force-busy)", p.Busy)
	notePaths(f, "not restored, a nested repository (--nested)", p.Nested)
	notePaths(f, "not restored unless named", p.Unnamed)
	notePaths(f, "not restored, not in the "+f.noun(), p.Unknown)
}
