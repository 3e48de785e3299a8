package bands

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Changes visits the differences between two snapshots, by path.
func (s *Store) Changes(ctx context.Context, from, to Snapshot, visit func(band.Change) error) error {
	before, ok := from.Tree.Ref()
	after, too := to.Tree.Ref()
	if !ok || !too {
		return ErrDamaged
	}
	if before == after {
		return nil
	}
	old, r1 := s.Loader(from)
	fresh, r2 := s.Loader(to)
	err := band.DiffTrees(ctx, old, before, fresh, after, visit)
	return errors.Join(err, r1.Close(), r2.Close())
}

// lateName marks a snapshot that may not represent its moment: Snapshot.Late.
const lateName = "late"

// MarkLate sets Late in an existing snapshot.
func (h *Held) MarkLate(v Version) error {
	return disk.WriteCache(filepath.Join(h.SnapshotDir(v), lateName), nil, 0o600)
}
