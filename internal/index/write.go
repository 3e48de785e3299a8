package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/filelock"
)

// Writer fills the index. There is one at a time; it is not safe for concurrent use.
type Writer struct {
	files Files
	lock  *filelock.Lock
	db    *sql.DB
	conn  *sql.Conn
	made  bool // by this writer
	open  bool // a transaction is
	stmts map[string]*sql.Stmt
	zip   *zstd.Encoder
	unzip *zstd.Decoder
	ids   map[string]map[string]int64 // of names, by table
}

// OpenWriter takes the index over for writing, waiting for another writer until ctx ends:
// ErrBusy then. It continues what a killed writer left, and makes an empty index where
// there is none that can be used.
func OpenWriter(ctx context.Context, f Files) (*Writer, error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	lock, err := filelock.Acquire(ctx, f.lock())
	if err != nil {
		if ctx.Err() != nil {
			err = errors.Join(ErrBusy, err)
		}
		return nil, fmt.Errorf("open index: %w", err)
	}
	w := &Writer{files: f, lock: lock}
	if err := w.take(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open index: %w", err), w.disconnect(), lock.Unlock())
	}
	return w, nil
}

// take opens the database as it is, or makes it anew.
func (w *Writer) take(ctx context.Context) error {
	state, err := w.files.state()
	stamp := w.files.readStamp()
	if err == nil && (stamp == state || stamp == writing) {
		if err := w.connect(ctx); err == nil && w.usable(ctx, stamp == writing) {
			return nil
		} else if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return w.anew(ctx)
}

// usable reports whether the database has the tables of now and, where a writer was
// killed, is whole.
func (w *Writer) usable(ctx context.Context, check bool) bool {
	version, result := 0, "ok"
	err := w.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
	if err == nil && check {
		err = w.conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&result)
	}
	return err == nil && version == schemaVersion && result == "ok"
}

func (w *Writer) connect(ctx context.Context) (err error) {
	if err := disk.Step("write", w.files.stamp()); err != nil {
		return err
	}
	if err := w.files.writeStamp(writing); err != nil {
		return err
	}
	w.stmts, w.ids = map[string]*sql.Stmt{}, map[string]map[string]int64{}
	w.db, w.conn, err = w.files.connect(ctx, "rwc")
	return err
}

func (w *Writer) disconnect() error {
	var failed []error
	for _, s := range w.stmts {
		failed = append(failed, s.Close())
	}
	w.stmts = nil
	if w.conn != nil {
		failed = append(failed, w.conn.Close(), w.db.Close())
	}
	w.conn, w.db, w.open = nil, nil, false
	return errors.Join(failed...)
}

// anew makes an empty database in the place of what is there.
func (w *Writer) anew(ctx context.Context) error {
	if err := errors.Join(w.disconnect(), w.files.remove()); err != nil {
		return err
	}
	if err := disk.Step("create", w.files.database()); err != nil {
		return err
	}
	file, err := os.OpenFile(w.files.database(), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // prompts are in it
	if err == nil {
		err = file.Close()
	}
	if err == nil {
		err = w.connect(ctx)
	}
	if err == nil {
		_, err = w.conn.ExecContext(ctx, fmt.Sprintf("BEGIN; %s PRAGMA user_version = %d; COMMIT", tables, schemaVersion))
	}
	w.made = err == nil
	return err
}

// Made reports whether the writer made the index anew, so that all of the record is to be
// filled in.
func (w *Writer) Made() bool { return w.made }

// Anew empties the index.
func (w *Writer) Anew(ctx context.Context) error { return w.anew(ctx) }

// Commit makes what was put so far visible to readers.
func (w *Writer) Commit(ctx context.Context) error {
	if !w.open {
		return nil
	}
	if err := disk.Step("commit", w.files.database()); err != nil {
		return err
	}
	deadline := time.NewTimer(10 * time.Second)
	defer deadline.Stop()
	for {
		_, err := w.conn.ExecContext(ctx, "COMMIT")
		if err == nil {
			w.open = false
			return nil
		}
		if err = explain(err); !errors.Is(err, ErrBusy) {
			return fmt.Errorf("commit to the index: %w", err)
		}
		select { // SQLite has waited for readers by itself
		case <-ctx.Done():
			return errors.Join(ErrBusy, ctx.Err())
		case <-deadline.C:
			return err
		default:
		}
	}
}

// Close commits, unless something failed before, and gives the index back.
func (w *Writer) Close(ctx context.Context, failed error) error {
	defer func() { _ = w.lock.Unlock() }()
	if failed == nil {
		failed = w.Commit(ctx)
	}
	if err := errors.Join(failed, w.disconnect()); err != nil {
		if errors.Is(err, ErrLost) {
			return errors.Join(err, w.files.remove())
		}
		return err // the stamp stays: the next writer goes on from the last commit
	}
	if err := disk.SyncFiles([]string{w.files.database()}, nil); err != nil {
		return fmt.Errorf("sync the index: %w", err)
	}
	state, err := w.files.state()
	if err != nil {
		return err
	}
	if err := disk.Step("write", w.files.stamp()); err != nil {
		return err
	}
	return w.files.writeStamp(state)
}

// Remove removes the index. It waits for a writer until ctx ends.
func Remove(ctx context.Context, f Files) error {
	if _, err := os.Lstat(f.database()); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	lock, err := filelock.Acquire(ctx, f.lock())
	if err != nil {
		return fmt.Errorf("remove the index: %w", err)
	}
	defer func() { _ = lock.Unlock() }()
	return f.remove()
}

// prepared returns a prepared statement, in a transaction.
func (w *Writer) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if !w.open {
		if _, err := w.conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
			return nil, explain(err)
		}
		w.open = true
	}
	s := w.stmts[query]
	if s == nil {
		var err error
		if s, err = w.conn.PrepareContext(ctx, query); err != nil {
			return nil, explain(err)
		}
		w.stmts[query] = s
	}
	return s, nil
}

// exec runs a statement that returns no rows.
func (w *Writer) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	s, err := w.prepared(ctx, query) //nolint:sqlclosecheck // Close closes it
	if err != nil {
		return nil, err
	}
	result, err := s.ExecContext(ctx, args...)
	return result, explain(err)
}

// row runs a query of one row; found is false if there is none.
func (w *Writer) row(ctx context.Context, query string, args []any, to ...any) (found bool, err error) {
	s, err := w.prepared(ctx, query) //nolint:sqlclosecheck // Close closes it
	if err != nil {
		return false, err
	}
	err = s.QueryRowContext(ctx, args...).Scan(to...)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, explain(err)
}

// idOf returns the id of a name in a table of names, which has it from then on.
func (w *Writer) idOf(ctx context.Context, table, column, name string) (int64, error) {
	known := w.ids[table]
	if known == nil {
		known = map[string]int64{}
		w.ids[table] = known
	}
	if id, found := known[name]; found {
		return id, nil
	}
	var id int64
	found, err := w.row(ctx, "SELECT id FROM "+table+" WHERE "+column+" = ?", []any{name}, &id)
	if err == nil && !found {
		var result sql.Result
		if result, err = w.exec(ctx, "INSERT INTO "+table+"("+column+") VALUES (?)", name); err == nil {
			id, err = result.LastInsertId()
		}
	}
	if err != nil {
		return 0, err
	}
	const most = 100_000
	if len(known) > most {
		clear(known)
	}
	known[name] = id
	return id, nil
}

// Meta returns a value that was set, empty if there is none.
func (w *Writer) Meta(ctx context.Context, key string) (string, error) {
	var value string
	_, err := w.row(ctx, "SELECT value FROM meta WHERE key = ?", []any{key}, &value)
	return value, err
}

// SetMeta sets a value.
func (w *Writer) SetMeta(ctx context.Context, key, value string) error {
	_, err := w.exec(ctx, "INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value)
	return err
}
