package contents

import (
	"fmt"

	"github.com/seed-3aff656d/entire/bands"
)

// Open opens a snapshot for reading files; the caller closes its reader.
func Open(s *bands.Store, v bands.Snapshot) (*Reader, error) {
	if _, ok := v.Tree.Ref(); !ok {
		return nil, fmt.Errorf("snapshot %s: %w", v.Version, bands.ErrDamaged)
	}
	records, reader := s.Loader(v)
	return &Reader{Bands: reader, Records: records}, nil
}
