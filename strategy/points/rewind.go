package points

import (
	"github.com/seed-3aff656d/entire/bands"
)

// Target opens the snapshot of a point.
func (r *Points) Target(p Point) (*bands.Store, bands.Snapshot, error) {
	store, err := r.snapshots.Store()
	if err != nil {
		return nil, bands.Snapshot{}, err
	}
	s, err := store.Snapshot(p.Snapshot)
	return store, s, err
}
