// Package index implements the index of the work of sessions: turns, commands, files,
// tokens, commits, and the words of all of them, in an SQLite database per repository. It
// is derived from the record and may be lost at any time; see docs/formats/index.md.
//
// One [Writer] at a time fills it; a [Reader] runs queries. The package does not depend on
// transcripts, checkpoints and git.
package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/database"
	"github.com/seed-3aff656d/entire/internal/disk"
)

// ErrLost means that the index is missing or unusable and must be rebuilt from the record.
var ErrLost = errors.New("there is no usable index")

// ErrBusy means that other processes held the index until the deadline.
var ErrBusy = errors.New("the index is in use by other processes")

// patience is the time that SQLite waits for another process's transaction, in
// milliseconds.
const patience = "2000"

// Files locates the files of a repository's index.
type Files struct{ dir string }

// At returns the files of the index in dir, which is <git common dir>/entire.
func At(dir string) Files { return Files{dir} }

func (f Files) database() string { return filepath.Join(f.dir, "index.db") }
func (f Files) stamp() string    { return filepath.Join(f.dir, "index.stamp") }
func (f Files) lock() string     { return filepath.Join(f.dir, "index.lock") }

// Exist reports whether there is a database, in any state.
func (f Files) Exist() bool {
	_, err := os.Lstat(f.database())
	return err == nil
}

// Version returns a string that changes whenever the database does, empty if there is none.
func (f Files) Version() string {
	version, _ := f.state()
	return version
}

// writing is the stamp while a writer is active.
const writing = "writing"

// state returns the stamp for the current state of the database.
func (f Files) state() (string, error) {
	info, err := os.Lstat(f.database())
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s: not a regular file", f.database())
	}
	return fmt.Sprintf("%d %d %d %d %s", schemaVersion, info.Size(), info.ModTime().UnixNano(), disk.Changed(info).UnixNano(), disk.Inode(info)), nil
}

// readStamp returns the stored stamp, "" if there is none.
func (f Files) readStamp() string {
	data, _ := disk.ReadFile(f.stamp())
	return strings.TrimSuffix(string(data), "\n")
}

func (f Files) writeStamp(stamp string) error {
	return disk.WriteCache(f.stamp(), []byte(stamp+"\n"), 0o600)
}

// remove removes all files of the index except the lock. It removes the stamp first, so
// that no stamp matches an incomplete rest.
func (f Files) remove() error {
	for _, path := range []string{f.stamp(), f.database() + "-journal", f.database()} {
		if err := disk.Remove(path); err != nil {
			return fmt.Errorf("remove the index: %w", err)
		}
	}
	return nil
}

// connect opens the database with one connection. mode is SQLite's: ro, or rwc.
func (f Files) connect(ctx context.Context, mode string) (*sql.DB, *sql.Conn, error) {
	slashed := filepath.ToSlash(f.database())
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	query := url.Values{"mode": {mode}, "_pragma": {"busy_timeout(" + patience + ")", "cache_size(-16000)"}} // KiB
	if mode != "ro" {
		query["_pragma"] = []string{"busy_timeout(" + patience + ")", "cache_size(-24000)", "page_size(8192)", "journal_mode(truncate)", "synchronous(off)", "temp_store(memory)"}
	}
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: query.Encode()}
	db, err := database.Open(u.String())
	if err != nil {
		return nil, nil, err
	}
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return db, conn, nil
}

// explain joins err with ErrBusy or ErrLost if SQLite's code means one of them.
func explain(err error) error {
	switch database.Code(err) {
	case database.CodeBusy, database.CodeLocked:
		return errors.Join(ErrBusy, err)
	case database.CodeCorrupt, database.CodeNotADB, database.CodeCantOpen, database.CodeReadOnly, database.CodeSchema, database.CodeIOError, database.CodeFormat:
		return errors.Join(ErrLost, err)
	}
	return err
}

// Reader reads the index in one transaction, so all its results are from the same moment.
// While it is open no writer can commit. It is not safe for concurrent use.
type Reader struct {
	db   *sql.DB
	conn *sql.Conn
	// Writing is set if a writer is active or was killed.
	Writing bool
	// TakenBack reports whether a rewind took a snapshot back; nil if that isn't known.
	TakenBack func(snapshot int) bool
}

// Open opens the index for reading. It returns ErrLost if there is no usable index.
func Open(ctx context.Context, f Files) (*Reader, error) {
	if _, err := os.Lstat(f.database()); err != nil {
		return nil, errors.Join(ErrLost, err)
	}
	db, conn, err := f.connect(ctx, "ro")
	if err != nil {
		return nil, explain(err)
	}
	r := &Reader{db: db, conn: conn}
	if err := r.begin(ctx, f); err != nil {
		return nil, errors.Join(explain(err), r.Close())
	}
	return r, nil
}

// begin begins the transaction, and checks that the database is unchanged since its last
// writer finished.
func (r *Reader) begin(ctx context.Context, f Files) error {
	if _, err := r.conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	version := 0
	if err := r.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return err
	}
	var tables int
	if err := r.conn.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
		return err
	}
	stamp := f.readStamp()
	if r.Writing = stamp == writing; r.Writing && version == schemaVersion {
		return nil
	}
	state, err := f.state()
	switch {
	case err != nil:
		return errors.Join(ErrLost, err)
	case version != schemaVersion || stamp != state:
		return ErrLost
	}
	return nil
}

// Close ends the transaction.
func (r *Reader) Close() error { return errors.Join(r.conn.Close(), r.db.Close()) }

// Meta returns the value of a key, "" if it is not set.
func (r *Reader) Meta(ctx context.Context, key string) (value string, err error) {
	err = r.conn.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = ?", key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, explain(err)
}

// each runs a query and calls scan for each row.
func each(ctx context.Context, conn *sql.Conn, query string, args []any, scan func(scanner) error) error {
	rows, err := conn.QueryContext(ctx, query, args...)
	if err != nil {
		return explain(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return explain(err)
		}
	}
	return explain(rows.Err())
}

// collect returns the values that scan reads from the rows of a query.
func collect[T any](ctx context.Context, conn *sql.Conn, query string, args []any, scan func(row scanner, to *T) error) (all []T, err error) {
	err = each(ctx, conn, query, args, func(row scanner) error {
		var one T
		if err := scan(row, &one); err != nil {
			return err
		}
		all = append(all, one)
		return nil
	})
	return all, err
}

// scanName reads a row of one text.
func scanName(row scanner, to *string) error { return row.Scan(to) }

// millis returns a time in the form of the index: milliseconds since 1970, 0 for none.
func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

func fromMillis(n int64) time.Time {
	if n == 0 {
		return time.Time{}
	}
	return time.UnixMilli(n).UTC()
}
