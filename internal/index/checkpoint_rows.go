package index

import (
	"context"
	"strings"
	"time"
)

// hasWork is the condition for parts p whose checkpoint has work of the turn: a file that the turn changed.
// The transcripts of several checkpoints have a turn if its files were committed one after the other. It is
// also true for turns that changed no file, or none of those that its checkpoints have.
const hasWork = "(NOT EXISTS (SELECT 1 FROM files WHERE turn = p.turn) OR " + inSlot + "p.checkpoint) OR NOT EXISTS (SELECT 1 FROM parts o WHERE o.turn = p.turn AND " + inSlot + "o.checkpoint)))"

// inSlot begins the condition that a slot of a checkpoint has a file of the turn of parts p.
const inSlot = `EXISTS (SELECT 1 FROM turns w JOIN files f ON f.turn = w.id JOIN paths g ON g.id = f.path JOIN slots x ON x.session = w.session
    WHERE w.id = p.turn AND instr(char(10) || x.files || char(10), char(10) || g.path || char(10)) > 0 AND x.checkpoint = `

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

// Slot is a session's part of a checkpoint, whether its transcript can be read or not.
type Slot struct {
	Checkpoint, Branch string
	At                 time.Time
	// Session is the id of the session's row.
	Session int64
	// Files are the paths recorded beside the transcript. They count only if the session has
	// no turns.
	Files []string
	// Rules is the version of the redaction rules that masked it.
	Rules int
	// Imported reports that the session was imported, Unlinked that this is the part of it that no commit
	// has.
	Imported, Unlinked bool
}

// PutSlot writes a session's part of a checkpoint.
func (r *CheckpointRows) PutSlot(ctx context.Context, s Slot) error {
	checkpoint, err := r.put(ctx, s.Checkpoint, s.Branch, s.At)
	if err != nil {
		return err
	}
	_, err = r.exec(ctx, "INSERT OR REPLACE INTO slots VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		s.Session, checkpoint, millis(s.At), utf8Of(s.Branch), utf8Of(strings.Join(s.Files, "\n")), s.Rules, s.Imported, s.Unlinked)
	if err != nil {
		return err
	}
	_, err = r.exec(ctx, "UPDATE sessions SET stored = max(1, ?, stored) WHERE id = ?", millis(s.At), s.Session)
	return err
}

// put writes a checkpoint and returns the id of its row.
func (r *CheckpointRows) put(ctx context.Context, name, branch string, at time.Time) (id int64, err error) {
	_, err = r.exec(ctx, "INSERT INTO checkpoints(name, at, branch) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at, branch = excluded.branch",
		name, millis(at), utf8Of(branch))
	if err == nil {
		_, err = r.row(ctx, "SELECT id FROM checkpoints WHERE name = ?", []any{name}, &id)
	}
	return id, err
}

// Put writes a part of a checkpoint.
func (r *CheckpointRows) Put(ctx context.Context, p Part) error {
	checkpoint, err := r.put(ctx, p.Checkpoint, p.Branch, p.At)
	if err != nil {
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
		`UPDATE sessions SET stored = ifnull((SELECT max(1, max(o.at)) FROM slots o WHERE o.session = sessions.id AND o.checkpoint <> c.id), 0)
FROM checkpoints c JOIN slots s ON s.checkpoint = c.id WHERE c.name = ? AND s.session = sessions.id`,
		"DELETE FROM slots WHERE checkpoint = (SELECT id FROM checkpoints WHERE name = ?)",
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

// OnlyTurn returns the turn of a session in a checkpoint, 0 if there is none or more than one.
func (r *CheckpointRows) OnlyTurn(ctx context.Context, session int64, name string) (turn int64, err error) {
	n := 0
	_, err = r.row(ctx, "SELECT count(*), max(t.id) FROM checkpoints c JOIN parts p ON p.checkpoint = c.id JOIN turns t ON t.id = p.turn WHERE c.name = ? AND t.session = ? HAVING count(*) > 0",
		[]any{name, session}, &n, &turn)
	if n != 1 {
		turn = 0
	}
	return turn, err
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

// Refs returns the texts that PutRefs wrote for a purpose, by their keys.
func (r *CheckpointRows) Refs(ctx context.Context, purpose string) (map[string]string, error) {
	s, err := r.prepare(ctx, "SELECT shard, tips FROM refs WHERE purpose = ?") //nolint:sqlclosecheck // Writer.disconnect closes it
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(ctx, purpose)
	if err != nil {
		return nil, explain(err)
	}
	defer func() { _ = rows.Close() }()
	texts := map[string]string{}
	for rows.Next() {
		var shard, tips string
		if err := rows.Scan(&shard, &tips); err != nil {
			return nil, explain(err)
		}
		texts[shard] = tips
	}
	return texts, explain(rows.Err())
}

// PutRefs writes a text about the refs of checkpoints whose names share a shard, or removes it if it is
// empty.
func (r *CheckpointRows) PutRefs(ctx context.Context, purpose, shard, tips string) error {
	if tips == "" {
		_, err := r.exec(ctx, "DELETE FROM refs WHERE purpose = ? AND shard = ?", purpose, shard)
		return err
	}
	_, err := r.exec(ctx, "INSERT OR REPLACE INTO refs VALUES (?, ?, ?)", purpose, shard, tips)
	return err
}
