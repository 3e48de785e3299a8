package forget

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/internal/plain"
	"github.com/seed-3aff656d/entire/strategy/tracking"
)

// eraseRequest returns the request to erase the matches from snapshots, or false if there is
// nothing to erase.
func (t *target) eraseRequest() (what retention.EraseRequest, some bool) {
	switch {
	case t.what.File != "":
		return retention.EraseRequest{Path: func(path string) bool { return path == t.what.File }}, true
	case t.text == nil, t.what.RecordsOnly:
		return what, false
	}
	return retention.EraseRequest{
		Content: t.text.Has,
		Overlap: t.text.Longest() - 1,
		Name:    func(name string) string { return string(t.text.MaskInPlace([]byte(name))) },
	}, true
}

// snapshotPlaces returns the files in snapshots that match, and the parts of the snapshots that
// could not be searched.
func (t *target) snapshotPlaces(ctx context.Context) ([]Place, error) {
	what, some := t.eraseRequest()
	if !some {
		return nil, nil
	}
	store, found, err := tracking.FindStore(t.w)
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
		places = append(places, Place{Kind: Snapshot, Name: p.Path, What: "is removed from " + text})
	}
	if damage != nil {
		places = append(places, Place{Kind: Unknown, Name: "snapshots", Stays: true, What: "could not be searched: " + plain.FirstLine(damage.Error())})
	}
	return places, nil
}

// eraseSnapshots erases the matches from the contents of snapshots.
func (t *target) eraseSnapshots(ctx context.Context) (err error) {
	what, some := t.eraseRequest()
	if !some {
		return nil
	}
	held, err := t.holdSnapshots(ctx)
	if held == nil {
		return err
	}
	defer func() { err = errors.Join(err, held.Release()) }()
	return retention.Erase(ctx, held, what)
}

func (t *target) holdSnapshots(ctx context.Context) (*bands.Held, error) {
	store, found, err := tracking.FindStore(t.w)
	if err != nil || !found {
		return nil, err
	}
	return store.Hold(ctx)
}

// oldSnapshots returns the snapshots that were taken before the date.
func (t *target) oldSnapshots() ([]bands.Version, error) {
	if t.what.Before.IsZero() {
		return nil, nil
	}
	store, found, err := tracking.FindStore(t.w)
	if err != nil || !found {
		return nil, err
	}
	snaps, err := store.Snapshots()
	var old []bands.Version
	for _, snap := range snaps {
		if snap.Created.Before(t.what.Before) {
			old = append(old, snap.Version)
		}
	}
	return old, err
}

// deleteOldSnapshots deletes the snapshots that were taken before the date, and punches holes where
// only they had contents. It also completes the deletions of a killed run.
func (t *target) deleteOldSnapshots(ctx context.Context) (err error) {
	if t.what.Before.IsZero() {
		return nil
	}
	old, err := t.oldSnapshots()
	if err != nil {
		return err
	}
	held, err := t.holdSnapshots(ctx)
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
