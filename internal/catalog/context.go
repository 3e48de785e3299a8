package catalog

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"time"
)

// Context is a row of the table contexts: a saved context of a repository.
type Context struct {
	ID string
	// OID is the commit from which the row was made: the row is valid while the checkpoint's ref
	// points at it.
	OID     string
	Summary string
	// Created is to the second; Order sorts within a second.
	Created             time.Time
	Order               int64
	Status, Cause, Mode string
	// Worktree is the root of the worktree, Commit the commit checked out there.
	Worktree, Branch, Commit string
	Session                  string
	Files, Bytes             int64
	// Text is the text for searches.
	Text string
}

// ContextFilter selects rows; an empty field selects all.
type ContextFilter struct {
	Worktree, Branch, Session, Status string
	// Words must all occur in Text, literally. Text is only read if there are Words.
	Words []string
	// Limit is the maximum number of rows, 0 for all.
	Limit int
}

// contextTables are created by the first write of a row. They are not a migration: a program
// without this feature works with the database as before, so user_version stays the same. A
// different schema would need other table names.
const contextTables = `CREATE TABLE IF NOT EXISTS contexts (
    repository TEXT NOT NULL,
    id TEXT NOT NULL,
    ref_oid TEXT NOT NULL,
    summary TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    ordered INTEGER NOT NULL,
    status TEXT NOT NULL,
    cause TEXT NOT NULL,
    mode TEXT NOT NULL,
    worktree TEXT NOT NULL,
    branch TEXT,
    commit_oid TEXT,
    session_id TEXT,
    files INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    searched TEXT NOT NULL,

    PRIMARY KEY (repository, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS idx_contexts_worktree ON contexts(repository, worktree, ordered DESC);
CREATE TABLE IF NOT EXISTS context_stamps (
    repository TEXT PRIMARY KEY,
    stamp TEXT NOT NULL
) WITHOUT ROWID;`

// readContexts is like retry, but does not run work if the tables don't exist.
func (c *Catalog) readContexts(ctx context.Context, what string, work func(ctx context.Context) error) error {
	return c.retry(ctx, what, func(ctx context.Context) error {
		var n int
		err := c.db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('contexts', 'context_stamps')").Scan(&n)
		if err != nil || n != 2 {
			return err
		}
		return work(ctx)
	})
}

// ContextStamp returns the stamp that the rows of a repository last agreed with, as passed to
// SetContexts; empty if it isn't known.
func (c *Catalog) ContextStamp(ctx context.Context, repository string) (string, error) {
	stamp := ""
	err := c.readContexts(ctx, "read stamp", func(ctx context.Context) error {
		err := c.db.QueryRowContext(ctx, "SELECT stamp FROM context_stamps WHERE repository = ?", repository).Scan(&stamp)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		return err
	})
	return stamp, err
}

// ContextOIDs returns the commits of a repository's rows, by id.
func (c *Catalog) ContextOIDs(ctx context.Context, repository string) (map[string]string, error) {
	oids := map[string]string{}
	err := c.readContexts(ctx, "list contexts", func(ctx context.Context) error {
		clear(oids)
		return each(ctx, c.db, "SELECT id, ref_oid FROM contexts WHERE repository = ?", []any{repository}, func(rows *sql.Rows) error {
			var id, oid string
			if err := rows.Scan(&id, &oid); err != nil {
				return err
			}
			oids[id] = oid
			return nil
		})
	})
	return oids, err
}

const selectContexts = `SELECT id, ref_oid, summary, created_at, ordered, status, cause, mode, worktree,
    ifnull(branch, ''), ifnull(commit_oid, ''), ifnull(session_id, ''), files, bytes, `

// Contexts returns the rows of a repository that match the filter, newest first.
func (c *Catalog) Contexts(ctx context.Context, repository string, f ContextFilter) ([]Context, error) {
	var query strings.Builder
	query.WriteString(selectContexts)
	if len(f.Words) > 0 {
		query.WriteString("searched")
	} else {
		query.WriteString("''")
	}
	query.WriteString(" FROM contexts WHERE repository = ?")
	args := []any{repository}
	for _, want := range []struct{ column, value string }{
		{"worktree", f.Worktree}, {"branch", f.Branch}, {"session_id", f.Session}, {"status", f.Status},
	} {
		if want.value != "" {
			query.WriteString(" AND " + want.column + " = ?")
			args = append(args, want.value)
		}
	}
	for _, word := range f.Words {
		query.WriteString(" AND instr(searched, ?) > 0")
		args = append(args, word)
	}
	query.WriteString(" ORDER BY ordered DESC, id DESC LIMIT ?")
	if f.Limit > 0 {
		args = append(args, f.Limit)
	} else {
		args = append(args, -1)
	}
	var list []Context
	err := c.readContexts(ctx, "list contexts", func(ctx context.Context) error {
		list = nil
		return each(ctx, c.db, query.String(), args, func(rows *sql.Rows) error {
			var r Context
			var created int64
			if err := rows.Scan(&r.ID, &r.OID, &r.Summary, &created, &r.Order, &r.Status, &r.Cause, &r.Mode, &r.Worktree,
				&r.Branch, &r.Commit, &r.Session, &r.Files, &r.Bytes, &r.Text); err != nil {
				return err
			}
			r.Created = time.Unix(created, 0).UTC()
			list = append(list, r)
			return nil
		})
	})
	return list, err
}

// ContextChange is a set of changes of a repository's contexts.
type ContextChange struct {
	Put  []Context
	Drop []string // ids
	// Stamp is the stamp that the rows agree with after the change, empty if that isn't known. If
	// After is set, Stamp is stored only if After was the former stamp.
	Stamp, After string
}

// SetContexts inserts or updates rows of a repository, and removes others.
func (c *Catalog) SetContexts(ctx context.Context, repository string, change ContextChange) error {
	return c.write(ctx, "set contexts", func(ctx context.Context, tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, contextTables); err != nil {
			return err
		}
		for _, id := range change.Drop {
			if _, err := tx.ExecContext(ctx, "DELETE FROM contexts WHERE repository = ? AND id = ?", repository, id); err != nil {
				return err
			}
		}
		if err := putContexts(ctx, tx, repository, change.Put); err != nil || change.Stamp == "" {
			return err
		}
		query, args := "INSERT OR REPLACE INTO context_stamps (repository, stamp) VALUES (?, ?)", []any{repository, change.Stamp}
		if change.After != "" {
			query, args = "UPDATE context_stamps SET stamp = ? WHERE repository = ? AND stamp = ?", []any{change.Stamp, repository, change.After}
		}
		_, err := tx.ExecContext(ctx, query, args...)
		return err
	})
}

const insertContext = `INSERT OR REPLACE INTO contexts (repository, id, ref_oid, summary, created_at, ordered, status, cause, mode,
    worktree, branch, commit_oid, session_id, files, bytes, searched)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

func putContexts(ctx context.Context, tx *sql.Tx, repository string, list []Context) (err error) {
	if len(list) == 0 {
		return nil
	}
	insert, err := tx.PrepareContext(ctx, insertContext)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()
	for _, r := range list {
		if _, err := insert.ExecContext(ctx, repository, r.ID, r.OID, r.Summary, r.Created.Unix(), r.Order, r.Status, r.Cause, r.Mode,
			r.Worktree, text(r.Branch), text(r.Commit), text(r.Session), r.Files, r.Bytes, r.Text); err != nil {
			return err
		}
	}
	return nil
}

// DropContexts removes all rows of a repository's contexts.
func (c *Catalog) DropContexts(ctx context.Context, repository string) error {
	there := false
	err := c.readContexts(ctx, "look for contexts", func(context.Context) error { there = true; return nil })
	if err != nil || !there {
		return err
	}
	return c.write(ctx, "drop contexts", func(ctx context.Context, tx *sql.Tx) error {
		for _, query := range []string{"DELETE FROM contexts WHERE repository = ?", "DELETE FROM context_stamps WHERE repository = ?"} {
			if _, err := tx.ExecContext(ctx, query, repository); err != nil {
				return err
			}
		}
		return nil
	})
}

// ContextRepositories returns the repositories that have rows.
func (c *Catalog) ContextRepositories(ctx context.Context) ([]string, error) {
	var list []string
	err := c.readContexts(ctx, "list repositories", func(ctx context.Context) error {
		list = nil
		const query = "SELECT DISTINCT repository FROM contexts UNION SELECT repository FROM context_stamps ORDER BY 1"
		return each(ctx, c.db, query, nil, func(rows *sql.Rows) error {
			var one string
			if err := rows.Scan(&one); err != nil {
				return err
			}
			list = append(list, one)
			return nil
		})
	})
	return list, err
}
