package catalog

import (
	"context"
	"database/sql"
	"fmt"
)

// migrations returns the statements that update a database from the version of their index to the
// next; PRAGMA user_version is the number already applied. A released one never changes.
func migrations() []string {
	return []string{
		// The original tables of agentfs; a database created by it is at version 0 and has them.
		`CREATE TABLE IF NOT EXISTS stores (
    id TEXT PRIMARY KEY,
    name TEXT UNIQUE NOT NULL,
    bundle_path TEXT NOT NULL,
    mount_path TEXT NOT NULL,
    size_bytes INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    mounted_at INTEGER
);
CREATE TABLE IF NOT EXISTS checkpoints (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    store_id TEXT NOT NULL REFERENCES stores(id),
    version INTEGER NOT NULL,
    message TEXT,
    created_at INTEGER NOT NULL,

    UNIQUE(store_id, version)
);
CREATE INDEX IF NOT EXISTS idx_checkpoints_store ON checkpoints(store_id, version DESC);`,
		// The cause of a snapshot, and the checkpoints of commits that it is linked to.
		`ALTER TABLE stores ADD COLUMN kind TEXT NOT NULL DEFAULT 'tree';
ALTER TABLE stores ADD COLUMN last_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE checkpoints ADD COLUMN kind TEXT NOT NULL DEFAULT 'named';
ALTER TABLE checkpoints ADD COLUMN parent INTEGER;
ALTER TABLE checkpoints ADD COLUMN lineage TEXT;
ALTER TABLE checkpoints ADD COLUMN root TEXT;
ALTER TABLE checkpoints ADD COLUMN agent TEXT;
ALTER TABLE checkpoints ADD COLUMN session_id TEXT;
ALTER TABLE checkpoints ADD COLUMN turn_id TEXT;
ALTER TABLE checkpoints ADD COLUMN action TEXT;
ALTER TABLE checkpoints ADD COLUMN prompt TEXT;
ALTER TABLE checkpoints ADD COLUMN commit_oid TEXT;
ALTER TABLE checkpoints ADD COLUMN late INTEGER NOT NULL DEFAULT 0;
ALTER TABLE checkpoints ADD COLUMN files INTEGER;
ALTER TABLE checkpoints ADD COLUMN bytes INTEGER;
ALTER TABLE checkpoints ADD COLUMN band_count INTEGER;
ALTER TABLE checkpoints ADD COLUMN stamp INTEGER;
CREATE TABLE pairs (
    store_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    checkpoint_id TEXT NOT NULL,
    commit_oid TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    late INTEGER NOT NULL DEFAULT 0,

    PRIMARY KEY (store_id, version, checkpoint_id),
    FOREIGN KEY (store_id, version) REFERENCES checkpoints(store_id, version) ON DELETE CASCADE
);
CREATE INDEX idx_pairs_checkpoint ON pairs(checkpoint_id);`,
		// The fields of snapshot.json that searches and comparisons need.
		`ALTER TABLE checkpoints ADD COLUMN branch TEXT;
ALTER TABLE checkpoints ADD COLUMN metadata TEXT;
ALTER TABLE checkpoints ADD COLUMN tree TEXT;`,
	}
}

// migrate updates the tables to the current version. If two processes do it at once, the second
// finds it done.
func (c *Catalog) migrate(ctx context.Context) error {
	steps := migrations()
	at := 0
	ask := func(ctx context.Context) error { return c.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&at) }
	if err := c.retry(ctx, "read its version", ask); err != nil {
		return err
	}
	if at == len(steps) {
		return nil
	}
	return c.write(ctx, "migrate", func(ctx context.Context, tx *sql.Tx) error {
		if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&at); err != nil {
			return err
		}
		if at > len(steps) {
			return fmt.Errorf("%w: version %d, known is %d", ErrNewer, at, len(steps))
		}
		for ; at < len(steps); at++ {
			if _, err := tx.ExecContext(ctx, steps[at]); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", at))
		return err
	})
}
