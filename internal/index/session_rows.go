package index

import (
	"context"
	"time"
)

// Session is a session in the index.
type Session struct {
	// Name is the agent's session id.
	Name, Agent, Worktree string
	// Title is the session's own title, one line. Titled is its rank: a title replaces those of the
	// same rank and of lower ranks.
	Title  string
	Titled int
	// Started is when its recording began, zero if it wasn't recorded here.
	Started time.Time
	// Live is the path of its live transcript, empty if there is none. Cursor is the
	// position up to which it was read, in a format of the caller.
	Live, Cursor string
}

// FindSession returns a session and the id of its row, 0 if there is none.
func (w *Writer) FindSession(ctx context.Context, name string) (s Session, id int64, err error) {
	_, err = w.row(ctx, "SELECT id, name, agent, worktree, live, cursor FROM sessions WHERE name = ?", []any{name}, &id, &s.Name, &s.Agent, &s.Worktree, &s.Live, &s.Cursor)
	return s, id, err
}

// PutSession writes a session and returns the id of its row. Empty fields keep their stored
// values.
func (w *Writer) PutSession(ctx context.Context, s Session) (id int64, err error) {
	started := int64(0)
	if !s.Started.IsZero() {
		started = millis(s.Started)
	}
	_, err = w.exec(ctx, `INSERT INTO sessions(name, agent, worktree, live, cursor, title, titled, started) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET
    title = CASE WHEN excluded.titled > 0 AND excluded.titled >= titled THEN excluded.title ELSE title END, titled = max(titled, excluded.titled),
    started = CASE excluded.started WHEN 0 THEN started ELSE excluded.started END,
    agent = CASE excluded.agent WHEN '' THEN agent ELSE excluded.agent END, worktree = CASE excluded.worktree WHEN '' THEN worktree ELSE excluded.worktree END,
    live = CASE excluded.live WHEN '' THEN live ELSE excluded.live END, cursor = CASE excluded.cursor WHEN '' THEN cursor ELSE excluded.cursor END`,
		s.Name, s.Agent, s.Worktree, s.Live, s.Cursor, utf8Of(s.Title), s.Titled, started)
	if err != nil {
		return 0, err
	}
	_, err = w.row(ctx, "SELECT id FROM sessions WHERE name = ?", []any{s.Name}, &id)
	return id, err
}

// DropUnlinked removes the turns of a session that are in no checkpoint, and clears Live,
// Cursor and Started. It is called after the session's state was removed.
func (w *Writer) DropUnlinked(ctx context.Context, name string) error {
	_, session, err := w.FindSession(ctx, name)
	if err != nil || session == 0 {
		return err
	}
	var turns []int64
	for turn := int64(0); ; {
		found, err := w.row(ctx, "SELECT id FROM turns WHERE session = ? AND id > ? AND NOT EXISTS (SELECT 1 FROM parts WHERE turn = turns.id) ORDER BY id LIMIT 1",
			[]any{session, turn}, &turn)
		if err != nil {
			return err
		}
		if !found {
			break
		}
		turns = append(turns, turn)
	}
	for _, turn := range turns {
		if err := w.Turns.Drop(ctx, turn); err != nil {
			return err
		}
	}
	_, err = w.exec(ctx, "UPDATE sessions SET live = '', cursor = '', started = 0 WHERE id = ?", session)
	return err
}

// Commit is a commit that names a checkpoint.
type Commit struct {
	OID, Checkpoint        string
	At                     time.Time
	Author, Email, Subject string
	// Derived reports that the commit doesn't name the checkpoint, but has its lines.
	Derived bool
	// Imported reports that the checkpoint was made by an import.
	Imported bool
}

// PutCommit writes a commit.
func (w *Writer) PutCommit(ctx context.Context, c Commit) error {
	_, err := w.exec(ctx, "INSERT OR REPLACE INTO commits VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		c.OID, c.Checkpoint, millis(c.At), utf8Of(c.Author), utf8Of(c.Email), utf8Of(c.Subject), c.Derived, c.Imported)
	return err
}

// DropCommit removes a commit and its derived links, or all commits if oid is empty.
func (w *Writer) DropCommit(ctx context.Context, oid string) error {
	if oid == "" {
		return w.execAll(ctx, []string{"DELETE FROM commits", "DELETE FROM derived"})
	}
	return w.execAll(ctx, []string{"DELETE FROM commits WHERE oid = ?", "DELETE FROM derived WHERE oid = ?"}, oid)
}

// Snapshot is a snapshot of a turn.
type Snapshot struct {
	Version int
	Cause   string
	At      time.Time
	// Base is the snapshot at the beginning of the turn, 0 if there is none.
	Base int
}

// PutSnapshot writes a snapshot of a turn.
func (w *Writer) PutSnapshot(ctx context.Context, turn int64, s Snapshot) error {
	_, err := w.exec(ctx, "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)", s.Version, turn, s.Cause, millis(s.At), s.Base)
	return err
}
