package index

import (
	"context"
	"time"
)

// CheckpointRows writes checkpoints and their turns.
type CheckpointRows struct{ *statements }

// Part is the part of a checkpoint that belongs to one session.
type Part struct {
	Checkpoint, Branch string
	At                 time.Time
	// Session is the id of the session's row, 0 for none. The part begins at line From and
	// ends before line To; 0 means the end.
	Session  int64
	From, To int
	// Turns are the ids of additional turns.
	Turns []int64
}

// Put writes a part of a checkpoint.
func (r *CheckpointRows) Put(ctx context.Context, p Part) error {
	_, err := r.exec(ctx, "INSERT INTO checkpoints(name, at, branch) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at, branch = excluded.branch",
		p.Checkpoint, millis(p.At), utf8Of(p.Branch))
	if err != nil {
		return err
	}
	var checkpoint int64
	if _, err := r.row(ctx, "SELECT id FROM checkpoints WHERE name = ?", []any{p.Checkpoint}, &checkpoint); err != nil {
		return err
	}
	for _, turn := range p.Turns {
		if _, err := r.exec(ctx, "INSERT OR IGNORE INTO parts VALUES (?, ?)", checkpoint, turn); err != nil {
			return err
		}
	}
	if p.Session == 0 {
		return nil
	}
	if p.To == 0 {
		p.To = 1 << 40
	}
	_, err = r.exec(ctx, "INSERT OR IGNORE INTO parts SELECT ?, id FROM turns WHERE session = ? AND line < ? AND ending > ?", checkpoint, p.Session, p.To, p.From)
	return err
}

// Drop removes a checkpoint and its parts but not the turns.
func (r *CheckpointRows) Drop(ctx context.Context, name string) error {
	return r.execAll(ctx, []string{
		"DELETE FROM parts WHERE checkpoint = (SELECT id FROM checkpoints WHERE name = ?)", "DELETE FROM checkpoints WHERE name = ?",
	}, name)
}

// Linked returns the turns of a session that are in a checkpoint other than name.
func (r *CheckpointRows) Linked(ctx context.Context, session int64, name string) (turns map[int64]bool, err error) {
	s, err := r.prepare(ctx, `SELECT p.turn FROM parts p JOIN turns t ON t.id = p.turn JOIN checkpoints c ON c.id = p.checkpoint WHERE t.session = ? AND c.name <> ?`) //nolint:sqlclosecheck // Writer.disconnect closes it
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(ctx, session, name)
	if err != nil {
		return nil, explain(err)
	}
	defer func() { _ = rows.Close() }()
	turns = map[int64]bool{}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, explain(err)
		}
		turns[id] = true
	}
	return turns, explain(rows.Err())
}

// SeenBlobs reports whether a set of blobs is recorded as read, and records it.
func (r *CheckpointRows) SeenBlobs(ctx context.Context, hash int64) (seen bool, err error) {
	result, err := r.exec(ctx, "INSERT OR IGNORE INTO blobs VALUES (?)", hash)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 0, err
}
