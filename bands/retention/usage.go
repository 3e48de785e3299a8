package retention

import (
	"context"
	"errors"

	"github.com/seed-3aff656d/entire/bands"
)

// SnapshotUsage is the room that one snapshot takes.
type SnapshotUsage struct {
	Version bands.Version `json:"version"`
	// Own is the number of bytes of the bands that no other snapshot needs, Total the number of
	// bytes of its files.
	Own   int64 `json:"own"`
	Total int64 `json:"total"`
}

// Usage is the room that a store takes.
type Usage struct {
	Snapshots []SnapshotUsage `json:"snapshots"` // ascending
	// Live is the number of bytes of the bands that some snapshot needs, Size the number of bytes
	// of the disk that the store takes.
	Live int64 `json:"live"`
	Size int64 `json:"size"`
}

// Measure measures all snapshots in one pass over their shared records, and reports to tick the
// number of measured ones, unless that is nil. Unreadable records are in the joined error and
// aren't counted.
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
