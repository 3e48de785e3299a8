package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/verify"
	"github.com/seed-3aff656d/entire/internal/catalog"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Compare returns the catalog's rows of snapshots that no longer exist, a line each; Doctor removes
// them. A snapshot without a row is not a difference, as the next listing writes its row. An
// unreadable catalog is an error; a missing one has no differences. Compare writes nothing below
// Home: it opens a copy, as SQLite writes beside a database even to read it.
func (r Rows) Compare(ctx context.Context, s *bands.Store) (differs []string, err error) {
	if isMissing(r.path) {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "entire-catalog-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for _, ending := range []string{"", "-wal"} {
		data, err := disk.ReadFile(r.path + ending)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "copy.db"+ending), data, 0o600)
		}
		if err != nil {
			return nil, fmt.Errorf("copy catalog: %w", err)
		}
	}
	c, err := catalog.Open(ctx, filepath.Join(dir, "copy.db"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.Check(ctx); err != nil {
		return nil, err
	}
	rows, err := c.Checkpoints(ctx, bands.StoreID(s.Dir()), 0)
	if err != nil {
		return nil, err
	}
	versions, err := s.Versions()
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		v := bands.Version(row.Version)
		if _, there := slices.BinarySearch(versions, v); !there { // ascending
			differs = append(differs, "snapshot "+v.String()+" is listed but missing")
		}
	}
	return differs, nil
}

// Describe returns the snapshots that can't be used at all: their description can't be read, or
// their bands are missing or truncated. It doesn't read the contents of the bands; verify.Run does.
func Describe(s *bands.Store) ([]verify.BadVersion, error) {
	versions, err := s.Versions()
	if err != nil {
		return nil, err
	}
	var bad []verify.BadVersion
	for _, v := range versions {
		if _, err := verify.ReadSnapshot(s, v); err != nil && !errors.Is(err, bands.ErrNoSnapshot) {
			bad = append(bad, verify.BadVersion{Version: v, Err: err})
		}
	}
	return bad, nil
}
