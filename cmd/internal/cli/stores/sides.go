package stores

import (
	"context"
	"errors"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/bands/volume"
)

// Sides holds the two trees that a diff compares. Close closes them.
type Sides struct {
	Old, Now diff.Side
	// OldName and NowName are their names in messages.
	OldName, NowName string

	scanned []*capture.Present // present trees to close
	views   []volume.View
}

// Close closes both sides.
func (t *Sides) Close() error {
	err := errors.Join(t.Old.Close(), t.Now.Close())
	for _, present := range t.scanned {
		err = errors.Join(err, present.Close())
	}
	for _, view := range t.views {
		err = errors.Join(err, view.Close())
	}
	return err
}

// OpenSides opens two versions, or one version, by default the last, and the present tree. Of a
// volume it reads only these paths.
func OpenSides(ctx context.Context, s *Selection, versions []bands.Version, only []string) (t *Sides, err error) {
	if versions, err = Versions(s, versions); err != nil {
		return nil, err
	}
	t = &Sides{OldName: versions[0].String(), NowName: "the tree"}
	if t.Old, err = t.side(ctx, s, versions[0], only); err != nil {
		return nil, errors.Join(err, t.Close())
	}
	if len(versions) == 2 {
		t.NowName = versions[1].String()
		t.Now, err = t.side(ctx, s, versions[1], only)
	} else if err = s.CheckThere(); err == nil {
		options := s.Options
		options.Only = only
		t.Now, err = t.scan(ctx, s, options)
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// Versions returns the given versions, or the last one if there are none.
func Versions(s *Selection, versions []bands.Version) ([]bands.Version, error) {
	if len(versions) > 0 {
		return versions, nil
	}
	last, ok, err := s.Lineage(s.Options.Lineage).Latest()
	if err == nil && !ok {
		err = s.Command.NoCheckpoints()
	}
	return []bands.Version{last.Version}, err
}

func (t *Sides) side(ctx context.Context, s *Selection, v bands.Version, only []string) (diff.Side, error) {
	snapshot, err := s.Snapshot(v)
	if err != nil {
		return diff.Side{}, err
	}
	if !s.IsVolume() {
		return diff.SnapshotSide(s.Store, snapshot)
	}
	view, err := volume.Open(s.Store, snapshot)
	if err != nil {
		return diff.Side{}, err
	}
	t.views = append(t.views, view)
	options := s.Options
	options.Only, options.Root = only, view.Dir
	return t.scan(ctx, s, options)
}

// scan reads a folder.
func (t *Sides) scan(ctx context.Context, s *Selection, options bands.Options) (diff.Side, error) {
	scanned, err := s.Scan(ctx, options)
	if err != nil {
		return diff.Side{}, err
	}
	t.scanned = append(t.scanned, scanned)
	return diff.PresentSide(scanned, options.Root)
}

// ChangedInVolume returns the paths of a volume that differ between two versions, or between
// one and the volume.
func ChangedInVolume(ctx context.Context, s *Selection, versions []bands.Version) (paths []string, err error) {
	err = s.Command.Streams.Count("Comparing", func(tick func(done, total int64)) (err error) {
		driver, err := s.Driver()
		if err != nil {
			return err
		}
		views := [2]volume.View{1: volume.Live(driver, s.Options.Root)}
		defer func() { err = errors.Join(err, views[0].Close(), views[1].Close()) }()
		for i, v := range versions {
			snapshot, err := s.Snapshot(v)
			if err != nil {
				return err
			}
			if views[i], err = volume.Open(s.Store, snapshot); err != nil {
				return err
			}
		}
		views[0].Progress = func(done int64) { tick(done, 0) }
		paths, err = volume.Changed(ctx, views[0], views[1], s.Options.Hidden...)
		return err
	})
	return paths, err
}
