package stores

import (
	"context"
	"errors"
	"fmt"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// IsVolume reports whether a driver makes the store's snapshots.
func (s *Selection) IsVolume() bool { return s.Entry.Driver != "" }

// Driver returns the driver of a volume's store.
func (s *Selection) Driver() (volume.Driver, error) { //nolint:ireturn // a driver by its name
	d, ok := volume.Named(s.Entry.Driver, volume.Place{Store: s.Dir()})
	if !ok {
		return nil, fmt.Errorf("store '%s' has the driver %s, which this version doesn't have", s.Entry.Name, s.Entry.Driver)
	}
	return d, nil
}

// Room returns the size of a volume and its use of the disk; zero if they are unknown.
func Room(s *Selection) volume.Room {
	d, err := s.Driver()
	if err != nil {
		return volume.Room{}
	}
	room, _ := d.Room() // commands that use the volume report the error
	return room
}

// CheckRoom returns bands.ErrNoRoom, wrapped, if no automatic snapshot is taken because too little is
// free.
func CheckRoom(s *Selection) error {
	if !s.IsVolume() {
		set, err := s.ResolveOptions(s.Options)
		if err == nil {
			err = set.CheckFloor()
		}
		return err
	}
	d, err := s.Driver()
	if err != nil {
		return err
	}
	return volume.CheckRoom(s.Store, d, s.Options)
}

// SharedRoom returns the number of bytes of a volume's file, or of its bands, that are shared with
// checkpoints; zero if it is unknown.
func SharedRoom(s *Selection) int64 {
	d, err := s.Driver()
	if err != nil {
		return 0
	}
	n, _ := volume.Shared(s.Store, d) // only for display
	return n
}

// VolumeIsOpen reports whether the volume's files are in its folder.
func VolumeIsOpen(s *Selection) bool {
	d, err := s.Driver()
	return err == nil && !errors.Is(d.Check(s.Options.Root), volume.ErrNotOpen)
}

// MeasureVolume is retention.Measure for a volume.
func MeasureVolume(ctx context.Context, s *Selection, tick func(done, total int64)) (retention.Usage, error) {
	d, err := s.Driver()
	if err != nil {
		return retention.Usage{}, err
	}
	return volume.Measure(ctx, s.Store, d, s.Options.Root, tick)
}

// OpenVolume mounts a volume on its folder, unless it is mounted. For a tree it does nothing.
func OpenVolume(ctx context.Context, s *Selection) error {
	return alone(ctx, s, func(d volume.Driver) error { return d.Open(s.Options.Root) })
}

// CloseVolume unmounts a volume from its folder. Unless lazy is set, it returns volume.ErrInUse if
// a process uses the volume.
func CloseVolume(ctx context.Context, s *Selection, lazy bool) error {
	return alone(ctx, s, func(d volume.Driver) error { return d.Close(s.Options.Root, lazy) })
}

// alone calls do with the driver of a volume while it holds the store's lock.
func alone(ctx context.Context, s *Selection, do func(volume.Driver) error) error {
	if !s.IsVolume() {
		return nil
	}
	driver, err := s.Driver()
	if err != nil {
		return err
	}
	held, err := s.HoldLock(ctx, LockWait)
	if err != nil {
		return err
	}
	return errors.Join(do(driver), held.Release())
}

// recover ends an interrupted restore of a volume, and reports the result. A restore that is still
// running holds the lock.
func (c *Command) recover(ctx context.Context, s *Selection) {
	if !volume.Interrupted(s.Store) {
		return
	}
	driver, err := s.Driver()
	if err != nil {
		return // commands that use the volume report the error
	}
	held, err := s.HoldLock(ctx, silentWait)
	if err != nil {
		if !errors.Is(err, disk.ErrLocked) && !c.Quiet {
			c.Streams.Notef("Can't complete an interrupted restore: %v", err)
		}
		return
	}
	_, err = driver.Thaw(s.Options.Root)
	done, was, bad := volume.Recover(held, driver)
	err = errors.Join(err, bad, held.Release())
	if done.Rescue.Version != 0 {
		s.Record(ctx, done.Rescue)
	}
	switch {
	case c.Quiet:
	case err != nil:
		c.Streams.Notef("%v", err)
	case was:
		c.Streams.Notef("Note: %s.", done)
	}
}

// EndConversion ends an interrupted conversion, and reports the result. A conversion that is still
// running holds the lock.
func (c *Command) EndConversion(ctx context.Context, known *registry.Registry) error {
	did, err := registry.Converter{Registry: known}.End(ctx)
	if did != "" && err == nil && !c.Quiet {
		c.Streams.Notef("Note: %s.", did)
	}
	return err
}

// takeVolume is Take for a volume.
func takeVolume(ctx context.Context, s *Selection, o capture.TakeOptions) (taken capture.Taken, err error) {
	driver, err := s.Driver()
	if err != nil {
		return taken, err
	}
	held, err := s.HoldLock(ctx, LockWait)
	if err != nil {
		return taken, err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	options := volume.TakeOptions{
		Options: s.Options, Message: o.Message, Cause: o.Cause, Causality: o.Causality, Force: o.Force, SkipUnchanged: o.SkipUnchanged,
	}
	snap, fresh, err := volume.Take(held, driver, options)
	if errors.Is(err, bands.ErrNoRoom) {
		if err := age(ctx, s, held, o.Cause); err != nil {
			return taken, err
		}
		snap, fresh, err = volume.Take(held, driver, options)
	}
	if err != nil || !fresh {
		return capture.Taken{Snapshot: snap, Unchanged: !fresh}, err
	}
	s.Record(ctx, snap)
	return capture.Taken{Snapshot: snap}, age(ctx, s, held, o.Cause)
}

// age is thin for a volume, where only the age and the number of snapshots matter.
func age(ctx context.Context, s *Selection, held *bands.Held, cause bands.Cause) error {
	config, _ := s.Registry.Config() // a bad value has its default, and status reports it
	if cause != bands.Auto || config.NoPrune {
		return nil
	}
	_, err := PruneVolume(ctx, s, held, s.Policy(config.Keep))
	return err
}

// PruneVolume deletes the snapshots of a volume that the policy doesn't keep.
func PruneVolume(ctx context.Context, s *Selection, held *bands.Held, p retention.Policy) (retention.Pruned, error) {
	snaps, _ := held.Snapshots() // an unreadable one is kept
	gone := retention.Expired(snaps, p)
	if p.DryRun || len(gone) == 0 {
		return retention.Pruned{Versions: gone}, nil
	}
	if err := retention.Delete(held, gone...); err != nil {
		return retention.Pruned{}, err
	}
	s.Forget(ctx, gone)
	return retention.Pruned{Versions: gone}, nil
}
