package catalog

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/seed-3aff656d/entire/internal/database"
)

// Store is a row of the table stores.
type Store struct {
	ID   string
	Name string
	// Dir is the directory of the store (bundle_path), Root that of the project (mount_path).
	Dir, Root string
	// Size is the cap in bytes, 0 for the default.
	Size    int64
	Created time.Time  // to the second
	Mounted *time.Time // nil: inactive
	// Last is the highest version of the store that was ever in the catalog.
	Last int
	// Checkpoints is the number of rows; it is read, never written.
	Checkpoints int
}

const selectStores = `SELECT id, name, bundle_path, mount_path, size_bytes, created_at, mounted_at, last_version,
    (SELECT count(*) FROM checkpoints WHERE store_id = stores.id) FROM stores `

// Stores returns all stores, sorted by name.
func (c *Catalog) Stores(ctx context.Context) ([]Store, error) {
	return c.stores(ctx, "list stores", selectStores+"ORDER BY name")
}

// StoreByName returns the store called name, or ErrNotFound.
func (c *Catalog) StoreByName(ctx context.Context, name string) (Store, error) {
	return one(c.stores(ctx, "find store", selectStores+"WHERE name = ?", name))
}

// StoreByID returns the store with the id, or ErrNotFound.
func (c *Catalog) StoreByID(ctx context.Context, id string) (Store, error) {
	return one(c.stores(ctx, "find store", selectStores+"WHERE id = ?", id))
}

func one(list []Store, err error) (Store, error) {
	switch {
	case err != nil:
		return Store{}, err
	case len(list) == 0:
		return Store{}, ErrNotFound
	}
	return list[0], nil
}

func (c *Catalog) stores(ctx context.Context, what, query string, args ...any) ([]Store, error) {
	var list []Store
	err := c.retry(ctx, what, func(ctx context.Context) error {
		list = nil
		return each(ctx, c.db, query, args, func(rows *sql.Rows) error {
			var s Store
			var created int64
			var mounted sql.NullInt64
			if err := rows.Scan(&s.ID, &s.Name, &s.Dir, &s.Root, &s.Size, &created, &mounted, &s.Last, &s.Checkpoints); err != nil {
				return err
			}
			s.Created = time.Unix(created, 0).UTC()
			if mounted.Valid {
				at := time.Unix(mounted.Int64, 0).UTC()
				s.Mounted = &at
			}
			list = append(list, s)
			return nil
		})
	})
	return list, err
}

// AddStore inserts or updates the row of a store. The error is ErrNameTaken if another store has
// its name.
func (c *Catalog) AddStore(ctx context.Context, s Store) error {
	return c.write(ctx, "add store", func(ctx context.Context, tx *sql.Tx) error { return putStore(ctx, tx, s) })
}

func putStore(ctx context.Context, tx *sql.Tx, s Store) error {
	var mounted sql.NullInt64
	if s.Mounted != nil {
		mounted = sql.NullInt64{Int64: s.Mounted.Unix(), Valid: true}
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO stores (id, name, bundle_path, mount_path, size_bytes, created_at, mounted_at, last_version)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET name = excluded.name, bundle_path = excluded.bundle_path, mount_path = excluded.mount_path,
    size_bytes = excluded.size_bytes, created_at = excluded.created_at, mounted_at = excluded.mounted_at,
    last_version = max(last_version, excluded.last_version)`,
		s.ID, s.Name, s.Dir, s.Root, s.Size, s.Created.Unix(), mounted, s.Last)
	if isCode(err, database.CodeConstraint) {
		return errors.Join(ErrNameTaken, err)
	}
	return err
}

// DeleteStore removes the store's rows. It is not an error if there are none.
func (c *Catalog) DeleteStore(ctx context.Context, id string) error {
	return c.write(ctx, "delete store", func(ctx context.Context, tx *sql.Tx) error {
		for _, query := range []string{
			"DELETE FROM pairs WHERE store_id = ?", "DELETE FROM checkpoints WHERE store_id = ?", "DELETE FROM stores WHERE id = ?",
		} {
			if _, err := tx.ExecContext(ctx, query, id); err != nil {
				return err
			}
		}
		return nil
	})
}
