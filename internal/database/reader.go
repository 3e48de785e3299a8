package database

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrWritten means that a database was written while it was read as if nothing wrote it.
var ErrWritten = errors.New("the database was written while it was read")

// Reader reads a database of another program, which may have it open.
type Reader struct {
	db   *sql.DB
	path string
	// isQuiet reports that no program had the database open. It is then read without locks, as SQLite
	// would create the files of a write-ahead log for them.
	isQuiet bool
	before  string
}

// OpenReader opens the database path for reading. It returns ErrNoDriver without the driver. The database
// and its write-ahead log are not changed. No file is created, except that SQLite creates the index of a
// log which a killed program has left.
func OpenReader(path string) (*Reader, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	r := &Reader{path: path}
	if r.before, err = r.state(); err != nil {
		return nil, err
	}
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") {
		slashed = "/" + slashed
	}
	query := url.Values{"mode": {"ro"}, "_pragma": {"busy_timeout(2000)", "query_only(true)"}}
	if _, err := os.Lstat(path + "-wal"); errors.Is(err, os.ErrNotExist) {
		r.isQuiet = true
		query.Set("immutable", "1")
	}
	u := url.URL{Scheme: "file", Path: slashed, RawQuery: query.Encode()}
	r.db, err = Open(u.String())
	return r, err
}

// Rows executes a query and calls row with each row of its result. scan copies the row's values, as those
// of [sql.Rows.Scan]. Rows stops at the first error of row and returns it unchanged.
func (r *Reader) Rows(ctx context.Context, query string, args []any, row func(scan func(values ...any) error) error) (err error) {
	rows, err := r.db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Close closes the database. It returns ErrWritten if what was read may be mixed from before and after a
// write.
func (r *Reader) Close() error {
	err := r.db.Close()
	if !r.isQuiet {
		return err
	}
	after, stateErr := r.state()
	if stateErr == nil && after != r.before {
		stateErr = ErrWritten
	}
	return errors.Join(err, stateErr)
}

// state describes the database file.
func (r *Reader) state() (string, error) {
	info, err := os.Stat(r.path)
	if err != nil {
		return "", err
	}
	return info.ModTime().String() + " " + strconv.FormatInt(info.Size(), 10), nil
}
