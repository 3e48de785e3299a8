package contextstore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/seed-3aff656d/entire/internal/git"
	"github.com/seed-3aff656d/entire/strategy/recall"
)

// Damage is a saved context with unreadable parts.
type Damage struct {
	ID string
	// Err wraps ErrDamaged.
	Err error
}

// Verify checks that all objects of all contexts exist, and reads their metadata and
// trees. It does not read contents.
func (s Store) Verify(ctx context.Context) ([]Damage, error) {
	refs, err := s.commits().all(ctx)
	if err != nil {
		return nil, fmt.Errorf("verify context checkpoints: %w", err)
	}
	var found []Damage
	owners := map[git.OID][]string{} // of objects
	var wanted []git.OID
	for _, id := range slices.Sorted(maps.Keys(refs)) {
		oids, err := s.commits().blobs(ctx, id)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if errors.Is(err, recall.ErrNotFound) {
			continue // discarded meanwhile
		}
		if err != nil {
			found = append(found, Damage{ID: id, Err: err})
			continue
		}
		for _, oid := range oids {
			if owners[oid] == nil {
				wanted = append(wanted, oid)
			}
			owners[oid] = append(owners[oid], id)
		}
	}
	gone, err := git.MissingObjects(ctx, s.Repo, wanted)
	if err != nil {
		return nil, fmt.Errorf("verify context checkpoints: %w", err)
	}
	lost := map[string]int{}
	for _, oid := range gone {
		for _, id := range owners[oid] {
			lost[id]++
		}
	}
	for _, id := range slices.Sorted(maps.Keys(lost)) {
		found = append(found, Damage{ID: id, Err: fmt.Errorf("%w: %d of its files' contents are gone", recall.ErrDamaged, lost[id])})
	}
	return found, nil
}
