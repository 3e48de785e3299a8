package bands

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/seed-3aff656d/entire/internal/catalog"
)

// Compare returns the rows of snapshots that are gone, a line each: Doctor removes
// them. A snapshot without a row is none of them, as its row is written when
// somebody lists it. A catalog that can't be read is an error, one that isn't
// there agrees with everything. Nothing of ours is written: what is opened is a
// copy, as SQLite writes beside a database even to read it.
func (r *Registry) Compare(ctx context.Context, s *Store) (differs []string, err error) {
	if isMissing(r.CatalogPath()) {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "entire-catalog-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, ending := range []string{"", "-wal"} {
		data, err := os.ReadFile(r.CatalogPath() + ending)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "copy.db"+ending), data, 0o600) //nolint:gosec // the folder was made above
		}
		if err != nil {
			return nil, fmt.Errorf("copy catalog: %w", err)
		}
	}
	c, err := catalog.Open(ctx, filepath.Join(dir, "copy.db"))
	if err != nil {
		return nil, err
	}
	differs, err = compare(ctx, c, s)
	return differs, errors.Join(err, c.Close())
}

func compare(ctx context.Context, c *catalog.Catalog, s *Store) ([]string, error) {
	if err := c.Check(ctx); err != nil {
		return nil, err
	}
	rows, err := c.Checkpoints(ctx, storeID(s.Dir()), 0)
	if err != nil {
		return nil, err
	}
	versions, err := s.Versions()
	if err != nil {
		return nil, err
	}
	known := make(map[Version]bool, len(rows))
	for _, row := range rows {
		known[Version(row.Version)] = true
	}
	for _, v := range versions {
		delete(known, v)
	}
	var differs []string
	for _, row := range rows {
		if v := Version(row.Version); known[v] {
			differs = append(differs, "snapshot "+v.String()+" is in it and gone")
		}
	}
	return differs, nil
}

// Describe answers the snapshots that can't be used at all: whose description
// can't be read, or whose bands are missing or cut short. What the bands hold is
// for Verify to read.
func (s *Store) Describe() ([]BadVersion, error) {
	versions, err := s.Versions()
	if err != nil {
		return nil, err
	}
	var bad []BadVersion
	for _, v := range versions {
		if _, err := s.described(v); err != nil && !errors.Is(err, ErrNoSnapshot) {
			bad = append(bad, BadVersion{v, err})
		}
	}
	return bad, nil
}
