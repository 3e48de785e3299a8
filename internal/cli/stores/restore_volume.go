package stores

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/cli/app"
	"github.com/seed-3aff656d/entire/internal/cli/format"
	"github.com/seed-3aff656d/entire/internal/cli/stores/access"
	"github.com/seed-3aff656d/entire/internal/proc"
	"github.com/seed-3aff656d/entire/internal/ui"
)

// runVolumeRestore replaces a volume by a copy of a checkpoint.
func runVolumeRestore(ctx context.Context, f *access.Command, s *access.Selection, opts fsRestoreOptions, target bands.Snapshot) error {
	if len(opts.paths) > 0 || opts.nested || opts.busy || opts.dryRun {
		return app.WithHint(app.Usagef("store '%s' is one of a volume, which is restored as a whole: "+
			"without paths, --nested, --force-busy and --dry-run", s.Entry.Name),
			fmt.Sprintf("`%s diff %s` lists what is different; the files of %s are in %s",
				f.Program, target.Version, target.Version, f.ShortPath(s.VolumeDir(target.Version))))
	}
	driver, err := s.Driver()
	if err != nil {
		return err
	}
	if err := driver.Check(s.Options.Root); err != nil {
		return err
	}
	if err := s.WarnOperation(ctx); err != nil {
		return err
	}
	next, err := s.Next()
	if err != nil {
		return err
	}
	noteUsers(f, s, next)
	question := fmt.Sprintf("Restore %s to %s? Current state will be saved as %s.", f.ShortPath(s.Options.Root), target.Version, next)
	if yes, err := sure(ctx, f, question); err != nil || !yes {
		return err
	}
	var keep []string
	if opts.keepGit == nil && s.Recorded() || opts.keepGit != nil && *opts.keepGit {
		keep = volume.Present(s.Options.Root, ".git", ".entire")
	}
	return replaceVolume(ctx, f, s, driver, target, keep)
}

// noteUsers names the processes that go on with the former volume.
func noteUsers(f *access.Command, s *access.Selection, next bands.Version) {
	const most = 10
	users := proc.UsersOf(s.Options.Root)
	for i, user := range users {
		if i == most {
			f.Streams.Notef("... and %d more", len(users)-most)
			break
		}
		f.Streams.Notef("in use by %s (%d): %s", ui.Line(user.Name, format.MessageWidth), user.PID, format.Path(user.Path))
	}
	if len(users) > 0 {
		f.Streams.Notef("These go on with what is there now, which becomes %s. In a shell, `cd \"$PWD\"` changes to what is restored.", next)
	}
}

func replaceVolume(ctx context.Context, f *access.Command, s *access.Selection, driver volume.Driver, target bands.Snapshot, keep []string) error {
	began := f.Now()
	held, err := s.HoldLock(ctx, access.RestoreWait)
	if err != nil {
		return err
	}
	next, err := s.Next() // what was asked may be of before the lock
	if err != nil {
		return errors.Join(err, held.Release())
	}
	f.Say("Creating checkpoint %s %q...", next, preRestore)
	f.Say("Unmounting...")
	done, err := volume.Restore(held, driver, target.Version, volume.RestoreOptions{
		Options: s.Options, Message: preRestore, Keep: keep,
		Progress: func(stage volume.Stage) {
			switch stage {
			case volume.Cloning:
				f.Say("Restoring from %s...", target.Version)
			case volume.Replacing:
				f.Say("Mounting...")
			}
		},
	})
	err = errors.Join(err, held.Release())
	if done.Rescue.Version != 0 {
		s.Record(ctx, done.Rescue)
	}
	if err != nil {
		return err
	}
	took := f.Now().Sub(began)
	if f.JSON {
		return f.PrintJSON(volumeRestoredJSON{
			Version: target.Version.String(), Message: target.Message, CreatedAt: format.UTC(target.Created),
			Rescue: done.Rescue.Version.String(), Milliseconds: took.Milliseconds(),
		})
	}
	f.Streams.Printf("Restored%s to %s%s (%s)\n", elsewhere(f, s), target.Version, format.Quoted(target.Message), format.Took(took))
	return nil
}

// volumeRestoredJSON is what `restore --json` prints of a volume.
type volumeRestoredJSON struct {
	Version      string    `json:"version"`
	Message      string    `json:"message"`
	CreatedAt    time.Time `json:"created_at"`
	Rescue       string    `json:"rescue"`
	Milliseconds int64     `json:"duration_ms"`
}
