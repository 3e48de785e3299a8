package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/seed-3aff656d/entire/internal/disk"
)

// Writer fills the index. Only one exists at a time. It is not safe for concurrent use.
type Writer struct {
	*statements

	Turns       TurnRows
	Checkpoints CheckpointRows

	files Files
	lock  *disk.Lock
	db    *sql.DB
}

// OpenWriter opens the index for writing. It waits for another writer until ctx ends and
// then returns ErrBusy. It continues the index of a killed writer, and creates an empty one
// if there is no usable index.
func OpenWriter(ctx context.Context, f Files) (*Writer, error) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return nil, fmt.Errorf("open index: %w", err)
	}
	lock, err := disk.AcquireLock(ctx, f.lock())
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

// take opens the existing database if it is usable, or creates a new one.
func (w *Writer) take(ctx context.Context) error {
	state, err := w.files.state()
	stamp := w.files.readStamp()
	if err == nil && (stamp == state || stamp == writing) {
		err := w.connect(ctx)
		// It must have the current tables and, after a killed writer, must not be damaged.
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
	return w.Recreate(ctx)
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

// disconnect closes the statements and the connection, which rolls back an open
// transaction.
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

// Recreate replaces the database by an empty one.
func (w *Writer) Recreate(ctx context.Context) error {
	if err := errors.Join(w.disconnect(), w.files.remove()); err != nil {
		return err
	}
	if err := disk.Step("create", w.files.database()); err != nil {
		return err
	}
	file, err := os.OpenFile(w.files.database(), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600) // has prompts
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

// Commit makes all data written so far visible to readers.
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
		select { // COMMIT has already waited for readers
		case <-ctx.Done():
			return errors.Join(ErrBusy, ctx.Err())
		case <-deadline.C:
			return err
		default:
		}
	}
}

// Close commits, unless failed is set, closes the database and releases the lock. After an
// ErrLost it removes the index.
func (w *Writer) Close(ctx context.Context, failed error) error {
	defer func() { _ = w.lock.Unlock() }()
	if failed == nil {
		failed = w.Commit(ctx)
	}
	if err := errors.Join(failed, w.disconnect()); err != nil {
		if errors.Is(err, ErrLost) {
			return errors.Join(err, w.files.remove())
		}
		return err // the stamp stays: the next writer continues from the last commit
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

// Remove removes the index. It waits for an active writer until ctx ends.
func Remove(ctx context.Context, f Files) error {
	if _, err := os.Lstat(f.database()); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	lock, err := disk.AcquireLock(ctx, f.lock())
	if err != nil {
		return fmt.Errorf("remove the index: %w", err)
	}
	defer func() { _ = lock.Unlock() }()
	return f.remove()
}

// Meta returns the value of a key, "" if it is not set.
func (w *Writer) Meta(ctx context.Context, key string) (string, error) {
	var value string
	_, err := w.row(ctx, "SELECT value FROM meta WHERE key = ?", []any{key}, &value)
	return value, err
}

// SetMeta sets the value of a key.
func (w *Writer) SetMeta(ctx context.Context, key, value string) error {
	_, err := w.exec(ctx, "INSERT OR REPLACE INTO meta VALUES (?, ?)", key, value)
	return err
}
