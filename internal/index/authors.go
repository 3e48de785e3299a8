package index

import (
	"context"
	"slices"
	"time"
)

// Recorded is the author of a session's part of a checkpoint.
type Recorded struct {
	// Session is the id of the session, empty if the record doesn't name it.
	Checkpoint, Session string
	At                  time.Time
	// Name and Email are empty if they aren't known.
	Name, Email string
}

// PutAuthor writes the author of a part of a checkpoint, unless an earlier record of it is known.
func (r *CheckpointRows) PutAuthor(ctx context.Context, a Recorded) error {
	_, err := r.exec(ctx, `INSERT INTO authors(checkpoint, session, at, name, email) VALUES (?, ?, ?, ?, ?) ON CONFLICT (checkpoint, session) DO UPDATE SET
    at = excluded.at, name = excluded.name, email = excluded.email WHERE excluded.at < authors.at`,
		a.Checkpoint, a.Session, millis(a.At), utf8Of(a.Name), utf8Of(a.Email))
	return err
}

// AuthorsOf returns the first authors of checkpoints. A checkpoint is left out if its author isn't known.
func (r *Reader) AuthorsOf(ctx context.Context, checkpoints []string) ([]Recorded, error) {
	const query = `SELECT checkpoint, session, min(at), name, email FROM authors
WHERE checkpoint IN (SELECT value FROM json_each(?)) GROUP BY checkpoint`
	list, err := collect(ctx, r.conn, query, []any{jsonArray(checkpoints)}, func(row scanner, a *Recorded) error {
		var at int64
		err := row.Scan(&a.Checkpoint, &a.Session, &at, &a.Name, &a.Email)
		a.At = fromMillis(at)
		return err
	})
	return slices.DeleteFunc(list, func(a Recorded) bool { return a.Name+a.Email == "" }), err
}

// DropAuthors removes the authors of all checkpoints.
func (r *CheckpointRows) DropAuthors(ctx context.Context) error {
	_, err := r.exec(ctx, "DELETE FROM authors")
	return err
}

// authorName is the SQL expression for the name by which an author a is shown.
const authorName = "CASE a.name WHEN '' THEN a.email ELSE a.name END"

// isAuthor is the SQL condition that the name or the address of an author a contains a text, which
// is an argument twice. SQLite's lower() leaves letters that aren't ASCII unchanged.
const isAuthor = "(instr(lower(a.name), lower(?)) > 0 OR instr(lower(a.email), lower(?)) > 0)"

// ofTurn returns the SQL expression for a value of the author a of a turn t of a session s, NULL if
// the turn is in no checkpoint or its author isn't recorded. The author of a turn is that of its
// first checkpoint: a later one may be another person's, who continued the session.
func ofTurn(value string) string {
	return "(SELECT " + value + ` FROM parts ap JOIN checkpoints ak ON ak.id = ap.checkpoint LEFT JOIN authors a ON a.checkpoint = ak.name
    WHERE ap.turn = t.id ORDER BY ak.at, ak.name, a.session <> s.name, a.at LIMIT 1)`
}

// ofSession selects the authors a of the parts of checkpoints of sessions s, whose slots are x.
const ofSession = ` FROM slots x JOIN sessions s ON s.id = x.session JOIN checkpoints k ON k.id = x.checkpoint
    JOIN authors a ON a.checkpoint = k.name AND (a.session = s.name OR a.session = '')`

// SessionsOf returns the ids of the sessions with a checkpoint whose author's name or address
// contains a text.
func (r *Reader) SessionsOf(ctx context.Context, author string) ([]string, error) {
	return collect(ctx, r.conn, "SELECT DISTINCT s.name"+ofSession+" WHERE "+isAuthor, []any{author, author}, scanName)
}
