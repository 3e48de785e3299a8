package index

import (
	"context"
	"path"
	"strings"
	"time"
	"unicode/utf8"
)

// Filter selects turns; an empty field selects all.
type Filter struct {
	// Agent is a part of the agent's name, Session a prefix of an id, Person a part of the
	// name or address of the turn's person: see Row.Person.
	// Worktree is the root of the session's worktree.
	Agent, Session, Person, Branch, Worktree string
	// File is the path of a file or directory, relative to the root of the worktree, or the
	// end of one. Tool is the name of a tool that the turn used.
	File, Tool   string
	Since, Until time.Time
	// Failed selects turns with a failed command, or with a failed call of Tool if that is
	// set. Uncommitted selects turns that changed files and are in no checkpoint.
	Failed, Uncommitted bool
	// Words is the text of a Query. It selects turns with all of its words in texts of any
	// kind.
	Words string
}

// condition returns the filter as an SQL condition on turns t and sessions s.
func (f *Filter) condition() (where string, args []any) {
	all := []string{notCopied}
	add := func(condition string, values ...any) {
		all = append(all, condition)
		args = append(args, values...)
	}
	if f.Agent != "" {
		add("instr(lower(s.agent), ?) > 0", strings.ToLower(f.Agent))
	}
	if f.Session != "" {
		add("substr(s.name, 1, ?) = ?", len(f.Session), f.Session)
	}
	if f.Worktree != "" {
		add("s.worktree = ?", f.Worktree)
	}
	if f.Branch != "" {
		add("t.branch = ?", f.Branch)
	}
	if f.Person != "" {
		add(ofTurn(isAuthor), f.Person, f.Person)
	}
	if f.File != "" {
		name := path.Clean(f.File)
		add(`t.id IN (SELECT turn FROM files WHERE path IN
    (SELECT id FROM paths WHERE path = ? OR substr(path, 1, ?) = ? OR substr(path, -?) = ?))`,
			name, utf8.RuneCountInString(name)+1, name+"/", utf8.RuneCountInString(name)+1, "/"+name)
	}
	if f.Tool != "" {
		failed := ""
		if f.Failed {
			failed = " AND outcome = 2"
		}
		add("t.id IN (SELECT turn FROM calls WHERE tool = ? COLLATE NOCASE"+failed+")", f.Tool)
	} else if f.Failed {
		add("t.failed > 0")
	}
	if !f.Since.IsZero() {
		add("t.ended >= ?", millis(f.Since))
	}
	if !f.Until.IsZero() {
		add("t.at <= ?", millis(f.Until))
	}
	if f.Uncommitted {
		add("t.files > 0 AND NOT EXISTS (SELECT 1 FROM parts WHERE turn = t.id)")
	}
	if terms := parse(f.Words); len(terms) > 0 {
		add("t.id IN (SELECT rowid FROM words WHERE words MATCH ?)", expression(terms, nil))
	}
	return strings.Join(all, " AND "), args
}

// Row is a turn in a result.
type Row struct {
	ID                               int64
	Session, Agent, Worktree, Branch string
	Prompt                           string
	// Context is the id of the saved context that the row was made from, empty for a turn
	// of a transcript.
	Context string
	// Person is the name, else the address, of the person in whose clone the turn's first
	// checkpoint was recorded. It is empty for a turn without one, or if that isn't known.
	Person                string
	At, Ended             time.Time
	Line, End             int
	Commands, Failed      int
	Files, Added, Removed int
	// Tokens are the turn's own tokens, Subagents those of its subagents, not included in
	// Tokens.
	Tokens, Subagents Tokens
	Checkpoints       []string
	Commits           []Commit
	// Imported reports that the session is known by imported checkpoints alone.
	Imported bool
	// Base and Snapshot are the snapshots at its beginning and its end, 0 for none.
	Base, Snapshot int
	// TakenBack reports that a rewind took back what it did.
	TakenBack bool
}

// rowColumns returns the columns of a row, in the order of targets.
func rowColumns() string {
	return `t.id, s.name, s.agent, s.worktree, t.branch, t.prompt, t.context, t.at, t.ended, t.line, t.ending, t.commands, t.failed, t.files, t.added, t.removed, ifnull(` + ofTurn(authorName) + `, '')`
}

func (r *Row) targets(at, ended *int64) []any {
	return []any{
		&r.ID, &r.Session, &r.Agent, &r.Worktree, &r.Branch, &r.Prompt, &r.Context, at, ended, &r.Line, &r.End,
		&r.Commands, &r.Failed, &r.Files, &r.Added, &r.Removed, &r.Person,
	}
}

// complete sets the fields of a row that are not stored in turns.
func (r *Reader) complete(ctx context.Context, row *Row) error {
	err := each(ctx, r.conn, "SELECT sub, sum(input), sum(cache_write), sum(cache_read), sum(output) FROM spent WHERE turn = ? GROUP BY sub", []any{row.ID}, func(rows scanner) error {
		var sub bool
		var t Tokens
		if err := rows.Scan(&sub, &t.Input, &t.CacheWrite, &t.CacheRead, &t.Output); err != nil {
			return err
		}
		if sub {
			row.Subagents = t
		} else {
			row.Tokens = t
		}
		return nil
	})
	if err != nil {
		return err
	}
	const names = "SELECT c.name FROM parts p JOIN checkpoints c ON c.id = p.checkpoint WHERE p.turn = ? AND " + hasWork + " ORDER BY c.at, c.name"
	if row.Checkpoints, err = collect(ctx, r.conn, names, []any{row.ID}, scanName); err != nil {
		return err
	}
	const isImported = "SELECT ifnull(min(x.imported), 0) AND s.live = '' FROM turns t JOIN sessions s ON s.id = t.session LEFT JOIN slots x ON x.session = s.id WHERE t.id = ?"
	if err := r.conn.QueryRowContext(ctx, isImported, row.ID).Scan(&row.Imported); err != nil {
		return explain(err)
	}
	for _, name := range row.Checkpoints {
		const query = "SELECT oid, checkpoint, at, author, email, subject, derived, imported FROM commits WHERE checkpoint = ? ORDER BY at, oid"
		commits, err := collect(ctx, r.conn, query, []any{name}, func(rows scanner, c *Commit) error {
			var at int64
			err := rows.Scan(&c.OID, &c.Checkpoint, &at, &c.Author, &c.Email, &c.Subject, &c.Derived, &c.Imported)
			c.At = fromMillis(at)
			return err
		})
		if err != nil {
			return err
		}
		row.Commits = append(row.Commits, commits...)
	}
	err = each(ctx, r.conn, "SELECT version, base FROM snapshots WHERE turn = ? ORDER BY version", []any{row.ID}, func(rows scanner) error {
		version, base := 0, 0
		if err := rows.Scan(&version, &base); err != nil {
			return err
		}
		if row.Base == 0 {
			row.Base = base
		}
		row.Snapshot = version
		return nil
	})
	row.TakenBack = err == nil && row.Snapshot > 0 && r.TakenBack != nil && r.TakenBack(row.Snapshot)
	return err
}

// scanner reads a row of a query.
type scanner interface{ Scan(to ...any) error }
