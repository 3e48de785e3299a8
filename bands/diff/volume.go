package diff

import (
	"context"
	"errors"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/volume"
)

// Snapshots returns two snapshots of one lineage as sides of a diff. For snapshots of a volume it
// reads only paths that may differ, with the options of the lineage's tree. The caller closes
// both.
func Snapshots(ctx context.Context, s *bands.Store, old, now bands.Snapshot, o bands.Options) (before, after Side, err error) {
	if now.Volume == "" || old.Volume == "" {
		if before, err = SnapshotSide(s, old); err != nil {
			return Side{}, Side{}, err
		}
		if after, err = SnapshotSide(s, now); err != nil {
			return Side{}, Side{}, errors.Join(err, before.Close())
		}
		return before, after, nil
	}
	from, err := volume.Open(s, old)
	if err != nil {
		return Side{}, Side{}, err
	}
	to, err := volume.Open(s, now)
	if err != nil {
		return Side{}, Side{}, errors.Join(err, from.Close())
	}
	changed, err := volume.Changed(ctx, from, to, o.Hidden...)
	if err != nil || len(changed) == 0 {
		return Side{}, Side{}, errors.Join(err, from.Close(), to.Close()) // two empty sides
	}
	o.Only = changed
	if before, err = viewSide(ctx, s, from, o); err != nil {
		return Side{}, Side{}, errors.Join(err, to.Close())
	}
	if after, err = viewSide(ctx, s, to, o); err != nil {
		return Side{}, Side{}, errors.Join(err, before.Close())
	}
	return before, after, nil
}

// viewSide returns a view as a side, which closes the view.
func viewSide(ctx context.Context, s *bands.Store, view volume.View, o bands.Options) (Side, error) {
	o.Root = view.Dir
	scanned, err := capture.Scan(ctx, s, o)
	if err != nil {
		return Side{}, errors.Join(err, view.Close())
	}
	side, err := PresentSide(scanned, view.Dir)
	side.close = func() error { return errors.Join(scanned.Close(), view.Close()) }
	return side, err
}

// Between calls do with two snapshots of a working tree, by their versions, as sides of a diff.
func Between(ctx context.Context, s *bands.Store, old, now bands.Version, do func(old, now Side) error) (err error) {
	var snapshots [2]bands.Snapshot
	for i, v := range []bands.Version{old, now} {
		if snapshots[i], err = s.Snapshot(v); err != nil {
			return err
		}
	}
	before, after, err := Snapshots(ctx, s, snapshots[0], snapshots[1], bands.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, before.Close(), after.Close()) }()
	return do(before, after)
}
