package forget

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// snapshotRecords are the snapshots of all worktrees of the repository, in one store.
type snapshotRecords struct{ *target }

// request returns the request to erase the matches from snapshots, or false if there is nothing to
// erase.
func (s *snapshotRecords) request() (what retention.EraseRequest, some bool) {
	switch {
	case s.what.File != "":
		return retention.EraseRequest{Path: func(path string) bool { return path == s.what.File }}, true
	case s.text == nil, s.what.RecordsOnly:
		return what, false
	}
	return retention.EraseRequest{
		Content: s.text.Has,
		Overlap: s.text.Longest() - 1,
		Name:    func(name string) string { return string(s.text.MaskInPlace([]byte(name))) },
	}, true
}

// places returns the files in snapshots that match, and the parts of the snapshots that could not
// be searched.
func (s *snapshotRecords) places(ctx context.Context) ([]Place, error) {
	what, some := s.request()
	if !some {
		return nil, nil
	}
	store, found, err := tracking.FindStore(s.w)
	if err != nil || !found {
		return nil, err
	}
	matches, damage, err := retention.FindForgotten(ctx, store, what)
	if err != nil {
		return nil, fmt.Errorf("search snapshots: %w", err)
	}
	places := make([]Place, 0, len(matches)+1)
	for _, p := range matches {
		const most = 3
		names := make([]string, 0, most)
		for _, v := range p.Versions[:min(len(p.Versions), most)] {
			names = append(names, v.String())
		}
		text := strings.Join(names, ", ")
		if n := len(p.Versions) - most; n > 0 {
			text += fmt.Sprintf(" and %d more", n)
		}
		places = append(places, Place{Kind: Snapshot, Name: p.Path, What: "is taken out of " + text})
	}
	if damage != nil {
		places = append(places, Place{Kind: Unknown, Name: "snapshots", Stays: true, What: "could not be searched: " + firstLine(damage)})
	}
	return places, nil
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// clean erases the matches from the contents of snapshots.
func (s *snapshotRecords) clean(ctx context.Context) (err error) {
	what, some := s.request()
	if !some {
		return nil
	}
	held, err := s.hold(ctx)
	if held == nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	return retention.Erase(ctx, held, what)
}

func (s *snapshotRecords) hold(ctx context.Context) (*bands.Held, error) {
	store, found, err := tracking.FindStore(s.w)
	if err != nil || !found {
		return nil, err
	}
	return store.Hold(ctx)
}

// old returns the snapshots that were taken before the date.
func (s *snapshotRecords) old() ([]bands.Version, error) {
	if s.what.Before.IsZero() {
		return nil, nil
	}
	store, found, err := tracking.FindStore(s.w)
	if err != nil || !found {
		return nil, err
	}
	snaps, err := store.Snapshots()
	var old []bands.Version
	for _, snap := range snaps {
		if snap.Created.Before(s.what.Before) {
			old = append(old, snap.Version)
		}
	}
	return old, err
}

// deleteOld deletes the snapshots that were taken before the date, and punches holes where only
// they had contents. It also completes the deletions of a killed run.
func (s *snapshotRecords) deleteOld(ctx context.Context) (err error) {
	if s.what.Before.IsZero() {
		return nil
	}
	old, err := s.old()
	if err != nil {
		return err
	}
	held, err := s.hold(ctx)
	if held == nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	if err := held.Sweep(); err != nil {
		return err
	}
	if err := retention.Delete(held, old...); err != nil {
		return err
	}
	_, err = retention.Compact(ctx, held)
	return err
}
