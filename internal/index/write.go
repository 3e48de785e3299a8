package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/filelock"
)

// Writer fills the index. There is one at a time; it is not safe for concurrent use.
type Writer struct {
	*statements

	Turns       TurnRows
	Checkpoints CheckpointRows

	files Files
	lock  *filelock.Lock
	db    *sql.DB
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
	s := &statements{}
	w := &Writer{statements: s, Turns: TurnRows{statements: s}, Checkpoints: CheckpointRows{s}, files: f, lock: lock}
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
		err := w.connect(ctx)
		// It needs the tables of now and, where a writer was killed, to be whole.
		version, result := 0, "ok"
		if err == nil {
			err = w.conn.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version)
		}
		if err == nil && stamp == writing {
			err = w.conn.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&result)
		}
		if err == nil && version == schemaVersion && result == "ok" {
			return nil
		} else if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return w.Anew(ctx)
}

func (w *Writer) connect(ctx context.Context) error {
	if err := disk.Step("write", w.files.stamp()); err != nil {
		return err
	}
	if err := w.files.writeStamp(writing); err != nil {
		return err
	}
	db, conn, err := w.files.connect(ctx, "rwc")
	if err != nil {
		return err
	}
	w.db, w.conn = db, conn
	w.prepared, w.ids = map[string]*sql.Stmt{}, map[string]map[string]int64{}
	return nil
}

// disconnect closes the statements and the connection; what is not committed is rolled back.
func (w *Writer) disconnect() error {
	var failed []error
	for _, p := range w.prepared {
		failed = append(failed, p.Close())
	}
	if w.conn != nil {
		failed = append(failed, w.conn.Close())
	}
	w.conn, w.open, w.prepared = nil, false, nil
	if w.db != nil {
		failed = append(failed, w.db.Close())
		w.db = nil
	}
	return errors.Join(failed...)
}

// Anew makes an empty database in the place of what is there.
func (w *Writer) Anew(ctx context.Context) error {
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
	return err
}

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
