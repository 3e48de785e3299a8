// Package catalog is the index of stores and their snapshots: an SQLite
// database, by default ~/.agentfs/agentfs.db. It is derived: everything in it
// is also in the stores' own folders, and deleting it loses nothing. It is
// the only package with SQL. The format is in docs/formats/catalog.md.
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
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// The errors that callers distinguish; they come wrapped.
var (
	// ErrNotFound means that the catalog has no such store.
	ErrNotFound = errors.New("not in the catalog")
	// ErrNameTaken means that another store has the name.
	ErrNameTaken = errors.New("the name is taken by another store")
	// ErrDamaged means that the file is no database, or a damaged one.
	ErrDamaged = errors.New("the catalog is damaged")
	// ErrNewer means that a newer version of the program made the database.
	ErrNewer = errors.New("the catalog was made by a newer version")
	// ErrBusy means that other processes held the database until the deadline.
	ErrBusy = errors.New("the catalog is in use by other processes")
)

const (
	// patience is how long another process's transaction is waited for, if the
	// context doesn't end before.
	patience = 2 * time.Second
	// slice is how long SQLite waits by itself: it doesn't know the context.
	slice = "20"
)

// Catalog is an open database. Its methods may be called from many goroutines;
// many processes may have it open.
type Catalog struct {
	db   *sql.DB
	path string
}

// Open opens the database at path, made if it isn't there, and brings its
// tables up to date. It waits for other processes no longer than ctx allows,
// at most two seconds.
func Open(ctx context.Context, path string) (*Catalog, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = disk.Step("create", path); err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			// It and what SQLite puts beside it can be read by nobody else: prompts are in it.
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
	// Nothing is synced: hooks write here while the user waits, and a database
	// that a power cut damages is made anew from the stores.
	pragmas := url.Values{
		"_pragma": {"busy_timeout(" + slice + ")", "journal_mode(wal)", "synchronous(off)", "foreign_keys(1)"},
		"_txlock": {"immediate"},
	}
	source := url.URL{Scheme: "file", Path: slashed, RawQuery: pragmas.Encode()} // any byte may be in a path
	db, err := sql.Open("sqlite", source.String())
	if err != nil {
		return nil, fmt.Errorf("open catalog %s: %w", path, err)
	}
	// One connection: with more, this process would wait for itself.
	db.SetMaxOpenConns(1)
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

// Check checks the whole database: ErrDamaged if something is wrong.
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

// write runs work in a transaction that no other writer runs beside; as often
// as it takes while others write.
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

// retry runs work, a few queries, as often as it takes while others write.
func (c *Catalog) retry(ctx context.Context, what string, work func(ctx context.Context) error) error {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		err := work(ctx)
		switch {
		case err == nil:
			return nil
		case isBusy(err) && waiting.Err() == nil:
			continue // SQLite has waited
		case isBusy(err), errors.Is(err, context.DeadlineExceeded), isCode(err, sqlite3.SQLITE_INTERRUPT):
			return fmt.Errorf("%s: %w", what, errors.Join(ErrBusy, ctx.Err()))
		case isCode(err, sqlite3.SQLITE_CORRUPT), isCode(err, sqlite3.SQLITE_NOTADB), isCode(err, sqlite3.SQLITE_ERROR):
			return fmt.Errorf("%s: %w: %w", what, ErrDamaged, err)
		default:
			return fmt.Errorf("%s: %w", what, err)
		}
	}
}

func isBusy(err error) bool {
	return isCode(err, sqlite3.SQLITE_BUSY) || isCode(err, sqlite3.SQLITE_LOCKED)
}

// isCode compares the primary code, which is in the low byte.
func isCode(err error, code int) bool {
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && e.Code()&0xff == code
}

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

// SetAside moves the database away, with what SQLite keeps beside it, and returns
// where to. The name has suffix in it. The next Open makes an empty one.
func SetAside(path, suffix string) (string, error) {
	to := path + ".damaged-" + suffix
	for _, ending := range []string{"-wal", "-shm", ""} {
		if err := disk.Step("rename", path+ending); err != nil {
			return "", err
		}
		if err := os.Rename(path+ending, to+ending); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("set the catalog aside: %w", err)
		}
	}
	return to, nil
}

// Compact writes the database anew, so that its files have nothing of rows that
// were deleted or changed.
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
