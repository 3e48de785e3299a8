package index

import "context"

// Turns returns at most limit of the turns that a filter selects, the newest first; more
// reports whether there are more.
func (r *Reader) Turns(ctx context.Context, f Filter, limit int) (list []Row, more bool, err error) {
	where, args := f.condition()
	query := "SELECT " + rowColumns() + " FROM turns t JOIN sessions s ON s.id = t.session WHERE " + where + " ORDER BY t.at DESC, t.id DESC LIMIT ?"
	list, err = r.rows(ctx, query, append(args, limit+1))
	if more = len(list) > limit; more {
		list = list[:limit]
	}
	return list, more, err
}

// Numbers returns the number of each turn in its session, by the turn's ID; the first turn has 1. It counts
// the turns that Turns lists for the session.
func (r *Reader) Numbers(ctx context.Context, turns []Row) (map[int64]int, error) {
	sessions := make([]string, len(turns))
	for i := range turns {
		sessions[i] = turns[i].Session
	}
	const query = `SELECT t.id, row_number() OVER (PARTITION BY t.session ORDER BY t.at, t.id)
FROM turns t JOIN sessions s ON s.id = t.session WHERE ` + notCopied + ` AND s.name IN (SELECT value FROM json_each(?))`
	numbers := map[int64]int{}
	err := each(ctx, r.conn, query, []any{jsonArray(sessions)}, func(rows scanner) error {
		var id int64
		var n int
		err := rows.Scan(&id, &n)
		numbers[id] = n
		return err
	})
	return numbers, err
}

// Count returns the number of turns that a filter selects.
func (r *Reader) Count(ctx context.Context, f Filter) (n int, err error) {
	where, args := f.condition()
	err = r.conn.QueryRowContext(ctx, "SELECT count(*) FROM turns t JOIN sessions s ON s.id = t.session WHERE "+where, args...).Scan(&n)
	return n, explain(err)
}

// Linked reports whether there are commits that name checkpoints.
func (r *Reader) Linked(ctx context.Context) (found bool, err error) {
	err = r.conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM commits WHERE NOT imported)").Scan(&found)
	return found, explain(err)
}

// TurnOf returns the turn at whose end a snapshot was taken; found is false if the index
// has none.
func (r *Reader) TurnOf(ctx context.Context, snapshot int) (row Row, found bool, err error) {
	query := "SELECT " + rowColumns() + " FROM snapshots v JOIN turns t ON t.id = v.turn JOIN sessions s ON s.id = t.session WHERE v.version = ?"
	list, err := r.rows(ctx, query, []any{snapshot})
	if err != nil || len(list) == 0 {
		return Row{}, false, err
	}
	return list[0], true, nil
}

// Calls returns the commands of a turn, or all its tool calls if all is set, in order.
func (r *Reader) Calls(ctx context.Context, turn int64, all bool) (list []Call, err error) {
	query := "SELECT line, at, tool, text, command, outcome, status, agent FROM calls WHERE turn = ?"
	if !all {
		query += " AND command"
	}
	return collect(ctx, r.conn, query+" ORDER BY id", []any{turn}, func(rows scanner, c *Call) error {
		var at int64
		err := rows.Scan(&c.Line, &at, &c.Tool, &c.Text, &c.Command, &c.Outcome, &c.Status, &c.Agent)
		c.At = fromMillis(at)
		return err
	})
}

// ChangedFile is a file that a turn changed.
type ChangedFile struct {
	FileChange

	// Reverted is set if a later turn restored the content that the file had before this
	// turn.
	Reverted bool
}

// isReverted is the SQL expression for ChangedFile.Reverted of a row f of files.
const isReverted = `length(f.before) > 0 AND EXISTS (SELECT 1 FROM files o JOIN turns l ON l.id = o.turn JOIN turns t ON t.id = f.turn
    WHERE o.path = f.path AND o.turn <> f.turn AND l.at > t.at AND o.after = f.before)`

// ChangedFiles returns the files of a turn, by path.
func (r *Reader) ChangedFiles(ctx context.Context, turn int64) (list []ChangedFile, err error) {
	query := "SELECT p.path, f.added, f.removed, f.source, f.before, f.after, " + isReverted + " FROM files f JOIN paths p ON p.id = f.path WHERE f.turn = ? ORDER BY p.path"
	return collect(ctx, r.conn, query, []any{turn}, func(rows scanner, f *ChangedFile) error {
		source := 0
		err := rows.Scan(&f.Path, &f.Added, &f.Removed, &source, &f.Before, &f.After, &f.Reverted)
		f.Edited, f.Observed, f.Recorded = source&sourceEdit != 0, source&sourceSnapshot != 0, source&sourceRecord != 0
		return err
	})
}

// Names returns up to 50 values for filters, the most frequent first, or for sessions the
// most recent first.
func (r *Reader) Names(ctx context.Context, what NameKind) (list []string, err error) {
	query := map[NameKind]string{
		Agents:   "SELECT agent FROM sessions WHERE agent <> '' GROUP BY agent ORDER BY count(*) DESC",
		Branches: "SELECT branch FROM turns WHERE branch <> '' GROUP BY branch ORDER BY count(*) DESC",
		Tools:    "SELECT tool FROM calls WHERE tool <> '' GROUP BY tool ORDER BY count(*) DESC",
		Persons:  "SELECT " + authorName + " FROM authors a WHERE a.name <> '' OR a.email <> '' GROUP BY 1 ORDER BY count(*) DESC",
		Sessions: "SELECT s.name FROM sessions s JOIN turns t ON t.session = s.id GROUP BY s.id ORDER BY max(t.at) DESC",
	}[what]
	return collect(ctx, r.conn, query+" LIMIT 50", nil, scanName)
}

// NameKind is the kind of the values that Names returns.
type NameKind int

// The kinds of names.
const (
	Agents NameKind = iota
	Branches
	Tools
	Persons
	Sessions
)
