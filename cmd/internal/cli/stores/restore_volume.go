package stores

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/app"
	"github.com/seed-3aff656d/entire/cmd/internal/cli/format"
	"github.com/seed-3aff656d/entire/cmd/internal/ui"
	"github.com/seed-3aff656d/entire/internal/proc"
)

// runVolumeRestore replaces a volume, or paths in it, by a copy of a checkpoint.
func runVolumeRestore(ctx context.Context, f *Command, s *Selection, opts fsRestoreOptions, target bands.Snapshot) error {
	if opts.nested || opts.busy || len(opts.paths) > 0 && opts.keepGit != nil {
		return app.Usagef("store '%s' has a volume: --nested and --force-busy don't apply, nor does --keep-git with paths", s.Entry.Name)
	}
	driver, err := s.Driver()
	if err != nil {
		return err
	}
	if err := driver.Check(s.Options.Root); err != nil {
		return err
	}
	v := volumeRestore{Selection: s, driver: driver, target: target}
	if v.paths, err = s.TreePaths(opts.paths...); err != nil {
		return err
	}
	if len(v.paths) > 0 || opts.dryRun {
		if v.steps, err = v.plan(ctx); err != nil {
			return err
		}
	}
	if opts.dryRun {
		return v.dryRun()
	}
	if err := s.WarnOperation(ctx); err != nil {
		return err
	}
	next, err := s.Next()
	if err != nil {
		return err
	}
	what := ui.Plural(len(v.steps), "path")
	if len(v.paths) == 0 {
		what = f.ShortPath(s.Options.Root)
		if nameUsers(f, s.Options.Root) > 0 {
			they := "These continue to use"
			if s.Entry.Driver == (volume.Sparsebundle{}).Name() {
				they = "They lose"
			}
			f.Streams.Notef("%s the current files, which become %s. In a shell, `cd \"$PWD\"` changes to the restored folder.", they, next)
		}
	}
	question := fmt.Sprintf("Restore %s to %s? Current state will be saved as %s.", what, target.Version, next)
	if yes, err := sure(ctx, f, question); err != nil || !yes {
		return err
	}
	if opts.keepGit == nil && s.IsRecorded() || opts.keepGit != nil && *opts.keepGit {
		v.keep = volume.ExistingNames(s.Options.Root, volume.Hidden()...)
	}
	return v.run(ctx)
}

// volumeRestore is one restore of a volume.
type volumeRestore struct {
	*Selection

	driver volume.Driver
	target bands.Snapshot
	paths  []string // none: the whole volume
	steps  []format.StepJSON
	keep   []string
}

// plan returns the changes that a restore would make.
func (v *volumeRestore) plan(ctx context.Context) (steps []format.StepJSON, err error) {
	from, err := volume.Open(v.Store, v.target)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	isIn := func(dir, path string) bool {
		_, err := os.Lstat(filepath.Join(dir, path))
		return err == nil
	}
	missing := slices.DeleteFunc(slices.Clone(v.paths), func(path string) bool { return isIn(from.Dir, path) || isIn(v.Options.Root, path) })
	if len(missing) > 0 {
		return nil, app.Unmatched(missing, v.target.Version.String(), v.Command.ShortPath(v.Options.Root))
	}
	var differing []string
	err = v.Command.Streams.Count("Comparing", func(tick func(done, total int64)) (err error) {
		from.Progress = func(done int64) { tick(done, 0) }
		differing, err = volume.Differing(ctx, from, volume.Live(v.driver, v.Options.Root), v.paths, v.Options.Hidden)
		return err
	})
	for _, path := range differing {
		kind := restore.StepReplace
		switch {
		case !isIn(from.Dir, path):
			kind = restore.StepDelete
		case !isIn(v.Options.Root, path):
			kind = restore.StepCreate
		}
		steps = append(steps, format.StepJSON{Path: path, Bytes: format.PathBytes(path), Kind: kind.String()})
	}
	return steps, err
}

// dryRun prints the changes that a restore would make.
func (v *volumeRestore) dryRun() error {
	f := v.Command
	if f.JSON {
		p := format.NewPlanJSON(restore.Plan{}, v.target)
		p.Changes = append(p.Changes, v.steps...)
		return f.PrintJSON(p)
	}
	f.PageText(func(w ui.Streams) {
		for _, step := range v.steps {
			w.Printf("%-*s %s\n", len("Attributes:"), format.Capitalize(step.Kind)+":", format.Path(step.Path))
		}
		if len(v.steps) == 0 {
			w.Printf("Nothing would change.\n")
		}
	})
	return nil
}

// nameUsers prints notes on the processes that use the folder, and returns their number.
func nameUsers(f *Command, root string) int {
	const most = 10
	users := proc.UsersOf(root)
	for i, user := range users {
		if i == most {
			f.Streams.Notef("... and %d more", len(users)-most)
			break
		}
		f.Streams.Notef("in use by %s (%d): %s", ui.Line(user.Name, format.MessageWidth), user.PID, format.Path(user.Path))
	}
	return len(users)
}

// run performs the restore.
func (v *volumeRestore) run(ctx context.Context) error {
	f, began := v.Command, v.Command.Now()
	held, err := v.HoldLock(ctx, LockWait)
	if err != nil {
		return err
	}
	next, err := v.Next() // the one in the question is from before the lock
	if err != nil {
		return errors.Join(err, held.Release())
	}
	f.Say("Creating %s %s %q...", f.noun(), next, preRestore)
	options := volume.RestoreOptions{
		Options: v.Options, Message: preRestore, Keep: v.keep,
		Progress: func(stage volume.Stage) {
			switch stage {
			case volume.Cloning:
				f.Say("Restoring from %s...", v.target.Version)
			case volume.Replacing:
				if len(v.paths) == 0 {
					f.Say("Mounting...")
				}
			}
		},
	}
	var done volume.Restored
	if len(v.paths) > 0 {
		err = f.Streams.Count("Restoring", func(tick func(done, total int64)) (err error) {
			options.Placed = tick
			done, err = volume.RestorePaths(ctx, held, v.driver, v.target.Version, v.paths, options)
			return err
		})
	} else {
		f.Say("Unmounting...")
		done, err = volume.Restore(held, v.driver, v.target.Version, options)
	}
	err = errors.Join(err, held.Release())
	if done.Rescue.Version != 0 {
		v.Record(ctx, done.Rescue)
	}
	if err != nil {
		return err
	}
	took := f.Now().Sub(began)
	if f.JSON {
		return f.PrintJSON(volumeRestoredJSON{
			Version: v.target.Version.String(), Message: v.target.Message, CreatedAt: format.UTC(v.target.Created),
			Changes: format.NotNil(v.steps), Rescue: done.Rescue.Version.String(), Milliseconds: took.Milliseconds(),
		})
	}
	f.Streams.Printf("Restored%s to %s%s (%s)\n", elsewhere(f, v.Selection), v.target.Version, format.Quoted(v.target.Message), format.Took(took))
	return nil
}

// volumeRestoredJSON is the output of `restore --json` for a volume.
type volumeRestoredJSON struct {
	Version   string    `json:"version"`
	Message   string    `json:"message"`
	CreatedAt time.Time `json:"created_at"`
	// Changes holds the restored paths, if paths were given.
	Changes      []format.StepJSON `json:"changes"`
	Rescue       string            `json:"rescue"`
	Milliseconds int64             `json:"duration_ms"`
}
