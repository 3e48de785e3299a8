package retention

import (
	"context"
	"errors"

	"github.com/seed-3aff656d/entire/bands"
)

// SnapshotUsage is what one snapshot takes.
type SnapshotUsage struct {
	Version bands.Version `json:"version"`
	// Own is how many bytes of the bands no other snapshot needs, Total how
	// many bytes its files have.
	Own   int64 `json:"own"`
	Total int64 `json:"total"`
}

// Usage is what a store takes.
type Usage struct {
	Snapshots []SnapshotUsage `json:"snapshots"` // ascending
	// Live is how many bytes of the bands some snapshot needs, Size how many
	// bytes of the disk the store takes.
	Live int64 `json:"live"`
	Size int64 `json:"size"`
}

// Measure measures all snapshots in one pass over what they share, and reports to tick how many
// of them are measured, unless that is nil. What can't be read is in the joined error and counts
// nothing.
func Measure(ctx context.Context, s *bands.Store, tick func(done, total int64)) (Usage, error) {
	snaps, bad := s.Snapshots()
	l := newLedger(s, countSharing)
	defer l.close()
	u := Usage{Snapshots: make([]SnapshotUsage, len(snaps))}
	for i, snap := range snaps {
		u.Snapshots[i] = SnapshotUsage{Version: snap.Version, Total: snap.Totals.Bytes}
		if _, err := l.add(ctx, snap); err != nil {
			return Usage{}, err
		}
		if tick != nil {
			tick(int64(i+1), int64(len(snaps)))
		}
	}
	for _, r := range l.records {
		u.Live += r.stored
		if r.holder != shared {
			u.Snapshots[r.holder].Own += r.stored
		}
	}
	size, err := s.Size()
	u.Size = size
	return u, errors.Join(bad, errors.Join(l.bad...), err)
}
