// Package catalog is the index of stores and their snapshots: an SQLite database, by default
// ~/.agentfs/agentfs.db. It is derived from the stores' own directories, and deleting it loses
// nothing. It is the only package with SQL for this database. The format is in
// docs/formats/catalog.md.
package catalog

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/database"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// Errors that callers distinguish; they are wrapped.
var (
	// ErrNotFound means that the catalog has no such store.
	ErrNotFound = errors.New("not in the catalog")
	// ErrNameTaken means that another store has the name.
	ErrNameTaken = errors.New("the name is taken by another store")
	// ErrDamaged means that the file is not a database, or a damaged one.
	ErrDamaged = errors.New("the catalog is damaged")
	// ErrNewer means that a newer version of the program created the database.
	ErrNewer = errors.New("the catalog was made by a newer version")
	// ErrBusy means that other processes held the database until the deadline.
	ErrBusy = errors.New("the catalog is in use by other processes")
)

const (
	// patience is the maximum wait for another process's transaction, unless the context ends
	// earlier.
	patience = 2 * time.Second
	// slice is the time in ms that SQLite waits by itself, without regard to the context.
	slice = "20"
)

// Catalog is an open database. It is safe for concurrent use, and several processes may have it
// open.
type Catalog struct {
	db   *sql.DB
	path string
}

// Open opens the database at path, which it creates if necessary, and updates its tables. It waits
// for other processes no longer than ctx allows, and at most two seconds.
func Open(ctx context.Context, path string) (*Catalog, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = disk.Step("create", path); err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			// Other users must not read it or SQLite's files beside it: it contains prompts.
			var f *os.File
			if f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err == nil {
				err = f.Close()
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open catalog: %w", err)
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed // C:/...
	}
	// Nothing is synced: hooks write here while the user waits, and a database damaged by a power
	// failure is rebuilt from the stores.
	pragmas := url.Values{
		"_pragma": {"busy_timeout(" + slice + ")", "journal_mode(wal)", "synchronous(off)", "foreign_keys(1)"},
		"_txlock": {"immediate"},
	}
	source := url.URL{Scheme: "file", Path: slashed, RawQuery: pragmas.Encode()} // a path may have any bytes
	db, err := database.Open(source.String())
	if err != nil {
		return nil, fmt.Errorf("open catalog %s: %w", path, err)
	}
	c := &Catalog{db: db, path: path}
	if err := c.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open catalog %s: %w", path, err), db.Close())
	}
	return c, nil
}

// Close closes the database.
func (c *Catalog) Close() error {
	if err := c.db.Close(); err != nil {
		return fmt.Errorf("close catalog %s: %w", c.path, err)
	}
	return nil
}

// Check checks the whole database. The error is ErrDamaged if it is damaged.
func (c *Catalog) Check(ctx context.Context) error {
	var result string
	err := c.retry(ctx, "check", func(ctx context.Context) error {
		return c.db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&result)
	})
	if err == nil && result != "ok" {
		return fmt.Errorf("check %s: %w: %s", c.path, ErrDamaged, result)
	}
	return err
}

// write runs work in a transaction that excludes other writers. It repeats work while other
// processes hold the database.
func (c *Catalog) write(ctx context.Context, what string, work func(ctx context.Context, tx *sql.Tx) error) error {
	if err := disk.Step(what, c.path); err != nil {
		return err
	}
	return c.retry(ctx, what, func(ctx context.Context) error {
		tx, err := c.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		if err := work(ctx, tx); err != nil {
			return errors.Join(err, tx.Rollback())
		}
		return tx.Commit()
	})
}

// retry runs work, a few queries, and repeats it while other processes hold the database.
func (c *Catalog) retry(ctx context.Context, what string, work func(ctx context.Context) error) error {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := work(ctx)
		switch {
		case err == nil:
			return nil
		case isBusy(err) && waiting.Err() == nil:
			continue // SQLite has already waited
		case isBusy(err), errors.Is(err, context.DeadlineExceeded), isCode(err, database.CodeInterrupt):
			return fmt.Errorf("%s: %w", what, errors.Join(ErrBusy, ctx.Err()))
		case isCode(err, database.CodeCorrupt, database.CodeNotADB, database.CodeError):
			return fmt.Errorf("%s: %w: %w", what, ErrDamaged, err)
		default:
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

func isBusy(err error) bool { return isCode(err, database.CodeBusy, database.CodeLocked) }

func isCode(err error, codes ...int) bool { return slices.Contains(codes, database.Code(err)) }

// each calls scan for each row of a query.
func each(ctx context.Context, db *sql.DB, query string, args []any, scan func(*sql.Rows) error) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// SetAside renames the database, with SQLite's files beside it, and returns the new path, which
// contains suffix. The next Open creates an empty database.
func SetAside(path, suffix string) (string, error) {
	to := path + ".damaged-" + suffix
	for _, ending := range []string{"-wal", "-shm", ""} {
		if err := disk.Rename(path+ending, to+ending); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("set the catalog aside: %w", err)
		}
	}
	return to, nil
}

// Compact rewrites the database, so that its files retain no data of deleted or changed rows.
func (c *Catalog) Compact(ctx context.Context) error {
	if err := disk.Step("compact", c.path); err != nil {
		return err
	}
	return c.retry(ctx, "compact", func(ctx context.Context) error {
		for _, query := range []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
			if _, err := c.db.ExecContext(ctx, query); err != nil {
				return err
			}
		}
		return nil
	})
}
