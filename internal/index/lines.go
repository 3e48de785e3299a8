package index

import (
	"context"
	"database/sql"
	"time"
)

// CommitLines are the lines that the commit of a checkpoint added to a file.
type CommitLines struct {
	Checkpoint string
	At         time.Time
	// Path and Blob are the commit's file; Blob is empty if it isn't recorded.
	Path, Blob string
	// Added are the numbers of the lines and Prints their fingerprints, as in the checkpoint's record; Own
	// are the lines that sessions wrote. All are empty if the record has none.
	Added, Own, Prints string
}

// DerivedLink is a checkpoint that was found for a commit that names none. Checkpoint is empty if a search
// found none. At is the time of the commit, Lines the number of lines found.
type DerivedLink struct {
	Commit, Checkpoint string
	At                 time.Time
	Lines              int
}

// PutLines writes lines of a checkpoint.
func (r *CheckpointRows) PutLines(ctx context.Context, l CommitLines) error {
	_, err := r.exec(ctx, "INSERT OR REPLACE INTO lines VALUES (?, ?, ?, ?, ?, ?, ?)", l.Checkpoint, utf8Of(l.Path), l.Blob, millis(l.At), l.Added, l.Own, l.Prints)
	return err
}

// DropLines removes the lines of a checkpoint, or those of all if the name is empty.
func (r *CheckpointRows) DropLines(ctx context.Context, name string) (err error) {
	if name == "" {
		_, err = r.exec(ctx, "DELETE FROM lines")
	} else {
		_, err = r.exec(ctx, "DELETE FROM lines WHERE checkpoint = ?", name)
	}
	return err
}

// Lines returns the lines of all checkpoints, the oldest first.
func (r *CheckpointRows) Lines(ctx context.Context) ([]CommitLines, error) {
	return allLines(ctx, r.conn)
}

func allLines(ctx context.Context, conn *sql.Conn) ([]CommitLines, error) {
	const query = "SELECT checkpoint, path, blob, at, added, own, prints FROM lines ORDER BY at, checkpoint, path"
	return collect(ctx, conn, query, nil, func(row scanner, l *CommitLines) error {
		var at int64
		err := row.Scan(&l.Checkpoint, &l.Path, &l.Blob, &at, &l.Added, &l.Own, &l.Prints)
		l.At = fromMillis(at)
		return err
	})
}

// PutDerived writes a link.
func (r *CheckpointRows) PutDerived(ctx context.Context, l DerivedLink) error {
	_, err := r.exec(ctx, "INSERT OR REPLACE INTO derived VALUES (?, ?, ?, ?)", l.Commit, l.Checkpoint, millis(l.At), l.Lines)
	return err
}

// DropDerived removes the links of commits made at or after a time.
func (r *CheckpointRows) DropDerived(ctx context.Context, since time.Time) error {
	return r.execAll(ctx, []string{"DELETE FROM commits WHERE oid IN (SELECT oid FROM derived WHERE at >= ?)", "DELETE FROM derived WHERE at >= ?"}, millis(since))
}

// Derived returns the links of commits, in the order in which the checkpoints were written.
func (r *CheckpointRows) Derived(ctx context.Context, commits []string) ([]DerivedLink, error) {
	return derived(ctx, r.conn, commits)
}

// Lines returns the lines of all checkpoints, the oldest first.
func (r *Reader) Lines(ctx context.Context) ([]CommitLines, error) { return allLines(ctx, r.conn) }

// Derived returns the links of commits, in the order in which the checkpoints were written.
func (r *Reader) Derived(ctx context.Context, commits []string) ([]DerivedLink, error) {
	return derived(ctx, r.conn, commits)
}

func derived(ctx context.Context, conn *sql.Conn, commits []string) ([]DerivedLink, error) {
	const query = `SELECT d.oid, d.checkpoint, d.at, d.lines FROM derived d WHERE d.oid IN (SELECT value FROM json_each(?))
ORDER BY d.oid, (SELECT min(l.at) FROM lines l WHERE l.checkpoint = d.checkpoint), d.checkpoint`
	return collect(ctx, conn, query, []any{jsonArray(commits)}, func(row scanner, l *DerivedLink) error {
		var at int64
		err := row.Scan(&l.Commit, &l.Checkpoint, &at, &l.Lines)
		l.At = fromMillis(at)
		return err
	})
}
