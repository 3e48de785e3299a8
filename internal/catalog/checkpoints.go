package catalog

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/seed-3aff656d/entire/internal/database"
)

// Checkpoint is a row of the table checkpoints: a snapshot.
type Checkpoint struct {
	Version int
	Message string
	// Kind is the reason for the snapshot: named, auto, prompt, commit, rescue.
	Kind    string
	Created time.Time // to the second
	Parent  int
	Lineage string
	Root    string
	Agent   string
	Session string
	Turn    string
	Action  string
	Prompt  string
	Commit  string
	Branch  string
	// Metadata is a JSON object of strings, empty for none.
	Metadata string
	// Tree is the reference to the root directory: its hash, band and offset, separated by colons.
	Tree string
	Late bool
	// Files, Bytes and Bands count the contents of the snapshot.
	Files, Bytes int64
	Bands        int
	// Stamp is the time of the last change of the snapshot's directory, in nanoseconds: the row is
	// valid while they agree.
	Stamp int64
	Pairs []Pair
}

// Pair is a row of the table pairs: a checkpoint of a commit that belongs to a snapshot.
type Pair struct {
	Checkpoint string
	Commit     string
	Created    time.Time // to the second
	Late       bool
}

// AddCheckpoints inserts or updates the rows of snapshots with their pairs. The error is
// ErrNotFound if the store has no row.
func (c *Catalog) AddCheckpoints(ctx context.Context, storeID string, list ...Checkpoint) error {
	return c.write(ctx, "add checkpoints", func(ctx context.Context, tx *sql.Tx) error {
		return putCheckpoints(ctx, tx, storeID, list)
	})
}

const (
	insertCheckpoint = `INSERT INTO checkpoints (store_id, version, message, created_at, kind, parent, lineage, root, agent,
    session_id, turn_id, action, prompt, commit_oid, late, files, bytes, band_count, stamp,
    branch, metadata, tree)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (store_id, version) DO UPDATE SET message = excluded.message, created_at = excluded.created_at, kind = excluded.kind,
    parent = excluded.parent, lineage = excluded.lineage, root = excluded.root, agent = excluded.agent,
    session_id = excluded.session_id, turn_id = excluded.turn_id, action = excluded.action, prompt = excluded.prompt,
    commit_oid = excluded.commit_oid, late = excluded.late, files = excluded.files, bytes = excluded.bytes,
    band_count = excluded.band_count, stamp = excluded.stamp, branch = excluded.branch, metadata = excluded.metadata,
    tree = excluded.tree`
	deletePairs  = `DELETE FROM pairs WHERE store_id = ? AND version = ?`
	raiseVersion = `UPDATE stores SET last_version = max(last_version, ?) WHERE id = ?`
)

// putCheckpoints prepares its statements once: there may be thousands of rows.
func putCheckpoints(ctx context.Context, tx *sql.Tx, storeID string, list []Checkpoint) (err error) {
	insert, err := tx.PrepareContext(ctx, insertCheckpoint)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	unpair, err := tx.PrepareContext(ctx, deletePairs)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unpair.Close()) }()
	last := 0
	for _, p := range list {
		_, err := insert.ExecContext(ctx,
			storeID, p.Version, text(p.Message), p.Created.Unix(), p.Kind,
			sql.NullInt64{Int64: int64(p.Parent), Valid: p.Parent > 0},
			text(p.Lineage), text(p.Root), text(p.Agent), text(p.Session), text(p.Turn), text(p.Action), text(p.Prompt), text(p.Commit),
			p.Late, p.Files, p.Bytes, p.Bands, p.Stamp,
			text(p.Branch), text(p.Metadata), text(p.Tree))
		if isCode(err, database.CodeConstraint) {
			return ErrNotFound
		} else if err != nil {
			return err
		}
		if _, err := unpair.ExecContext(ctx, storeID, p.Version); err != nil {
			return err
		}
		for _, pair := range p.Pairs {
			_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO pairs (store_id, version, checkpoint_id, commit_oid, created_at, late)
VALUES (?, ?, ?, ?, ?, ?)`, storeID, p.Version, pair.Checkpoint, pair.Commit, pair.Created.Unix(), pair.Late)
			if err != nil {
				return err
			}
		}
		last = max(last, p.Version)
	}
	_, err = tx.ExecContext(ctx, raiseVersion, last, storeID)
	return err
}

// text returns NULL for an empty string.
func text(s string) sql.NullString { return sql.NullString{String: s, Valid: s != ""} }

// DeleteCheckpoints removes the rows of the snapshots and their pairs.
func (c *Catalog) DeleteCheckpoints(ctx context.Context, storeID string, versions ...int) error {
	return c.write(ctx, "delete checkpoints", func(ctx context.Context, tx *sql.Tx) error {
		for _, v := range versions { // the foreign key removes their pairs
			if _, err := tx.ExecContext(ctx, "DELETE FROM checkpoints WHERE store_id = ? AND version = ?", storeID, v); err != nil {
				return err
			}
		}
		return nil
	})
}

// ReplaceCheckpoints writes the store's row and replaces all its snapshots with rows. The highest
// known version is preserved.
func (c *Catalog) ReplaceCheckpoints(ctx context.Context, s Store, rows []Checkpoint) error {
	return c.write(ctx, "replace checkpoints", func(ctx context.Context, tx *sql.Tx) error {
		if err := putStore(ctx, tx, s); err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "DELETE FROM checkpoints WHERE store_id = ?", s.ID); err != nil {
			return err
		}
		return putCheckpoints(ctx, tx, s.ID, rows)
	})
}
