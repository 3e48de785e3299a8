package index

import (
	"context"
	"slices"
	"strings"
	"time"
)

// SessionFilter selects sessions; an empty field selects all.
type SessionFilter struct {
	// Names are whole ids, Without those to leave out; nil for none.
	Names, Without []string
	// Prefix is the beginning of an id.
	Prefix string
	// Agent reports whether sessions of an agent are selected.
	Agent func(name string) bool
	// Stored selects sessions that are in a checkpoint.
	Stored bool
}

// StoredSession is what the index has of a session.
type StoredSession struct {
	Name, Agent string
	// Title is its own title, one line, empty if it has none.
	Title string
	// First and Last are the times of its first and its last checkpoint, Branch is that of the
	// last one; zero without checkpoints.
	First, Last time.Time
	Branch      string
	// Checkpoints are the names of its checkpoints, the newest first. Unlinked is the number of those that
	// are of no commit.
	Checkpoints []string
	Unlinked    int
	// Imported reports that all of them were imported.
	Imported bool
	// Persons are the names, else the addresses, of the persons in whose clones its checkpoints were
	// recorded, in the order of the first checkpoint of each, as far as they are known.
	Persons []string
	// Files are the files that its turns changed, sorted. If the index has no turns of it, they
	// are those that its checkpoints name.
	Files []string
	// Prompts are the first prompts of its turns, each on one line; of a session that has nothing but
	// copies of another's turns those of the copies. Turns is the number of its own turns with a prompt.
	Prompts []string
	Turns   int
	// Copied reports that it has copies of another session's turns.
	Copied bool
	// Spent is its usage by model and by whether subagents used the tokens.
	Spent []Spent
}

// mostPrompts is the maximum number of Prompts of a session.
const mostPrompts = 20

// condition returns the filter as an SQL condition on sessions s.
func (f *SessionFilter) condition(ctx context.Context, r *Reader) (where string, args []any, err error) {
	all := []string{"1"}
	add := func(condition string, values ...any) {
		all = append(all, condition)
		args = append(args, values...)
	}
	if f.Names != nil {
		add("s.name IN (SELECT value FROM json_each(?))", jsonArray(f.Names))
	}
	if len(f.Without) > 0 {
		add("s.name NOT IN (SELECT value FROM json_each(?))", jsonArray(f.Without))
	}
	if f.Prefix != "" {
		add("s.name >= ? AND s.name < ?", f.Prefix, f.Prefix+"\U0010ffff")
	}
	if f.Agent != nil {
		agents, err := collect(ctx, r.conn, "SELECT DISTINCT agent FROM sessions", nil, scanName)
		if err != nil {
			return "", nil, err
		}
		add("s.agent IN (SELECT value FROM json_each(?))", jsonArray(slices.DeleteFunc(agents, func(name string) bool { return !f.Agent(name) })))
	}
	if f.Stored {
		add("s.stored > 0")
	}
	return strings.Join(all, " AND "), args, nil
}

// Sessions returns at most limit of the selected sessions, those with the last checkpoints
// first, and the number of all that are selected. A negative limit is none.
func (r *Reader) Sessions(ctx context.Context, f SessionFilter, limit int) (all []StoredSession, total int, err error) {
	where, args, err := f.condition(ctx, r)
	if err != nil {
		return nil, 0, err
	}
	if err := r.conn.QueryRowContext(ctx, "SELECT count(*) FROM sessions s WHERE "+where, args...).Scan(&total); err != nil {
		return nil, 0, explain(err)
	}
	var ids []int64
	query := "SELECT s.id, s.name, s.agent, s.title FROM sessions s WHERE " + where + " ORDER BY s.stored DESC, s.name LIMIT ?"
	err = each(ctx, r.conn, query, append(args, limit), func(row scanner) error {
		var id int64
		var s StoredSession
		err := row.Scan(&id, &s.Name, &s.Agent, &s.Title)
		ids, all = append(ids, id), append(all, s)
		return err
	})
	if err != nil || len(all) == 0 {
		return all, total, err
	}
	of := make(map[int64]*StoredSession, len(all))
	for i, id := range ids {
		of[id] = &all[i]
	}
	return all, total, r.describe(ctx, ids, of)
}

// describe sets the fields of sessions that are not in their rows.
func (r *Reader) describe(ctx context.Context, ids []int64, of map[int64]*StoredSession) error {
	const chosen = " IN (SELECT value FROM json_each(?))"
	args := []any{jsonArray(ids)}
	named := map[*StoredSession][]string{} // files named by checkpoints
	query := "SELECT x.session, c.name, x.at, x.branch, x.files, x.imported, x.unlinked FROM slots x JOIN checkpoints c ON c.id = x.checkpoint WHERE x.session" + chosen + " ORDER BY x.session, x.at DESC, c.name"
	err := each(ctx, r.conn, query, args, func(row scanner) error {
		var id, at int64
		var name, branch, files string
		var imported, unlinked bool
		if err := row.Scan(&id, &name, &at, &branch, &files, &imported, &unlinked); err != nil {
			return err
		}
		s := of[id]
		s.Imported = imported && (s.Imported || len(s.Checkpoints) == 0)
		if unlinked {
			s.Unlinked++
		}
		if s.First = fromMillis(at); len(s.Checkpoints) == 0 {
			s.Last, s.Branch = s.First, branch
		}
		s.Checkpoints = append(s.Checkpoints, name)
		if files != "" {
			named[s] = append(named[s], strings.Split(files, "\n")...)
		}
		return nil
	})
	if err != nil {
		return err
	}
	query = "SELECT x.session, " + authorName + " AS person" + ofSession + " WHERE x.session" + chosen + " AND person <> '' GROUP BY x.session, person ORDER BY x.session, min(x.at), person"
	err = each(ctx, r.conn, query, args, func(row scanner) error {
		var id int64
		var name string
		err := row.Scan(&id, &name)
		of[id].Persons = append(of[id].Persons, name)
		return err
	})
	if err != nil {
		return err
	}
	read := map[*StoredSession]bool{} // those with turns
	byName := make(map[string]*StoredSession, len(of))
	for _, s := range of {
		byName[s.Name] = s
	}
	err = each(ctx, r.conn, "SELECT session, prompt, copied FROM turns WHERE session"+chosen+" ORDER BY session, copied = 1, at, id", args, func(row scanner) error {
		var id int64
		var prompt string
		copied := isOwn
		if err := row.Scan(&id, &prompt, &copied); err != nil {
			return err
		}
		s := of[id]
		s.Copied = s.Copied || copied != isOwn
		if copied == isCopy {
			if s.Turns == 0 && prompt != "" && len(s.Prompts) < mostPrompts {
				s.Prompts = append(s.Prompts, prompt)
			}
			return nil
		}
		read[s] = true
		if prompt == "" || copied == isContinued {
			return nil
		}
		if s.Turns++; len(s.Prompts) < mostPrompts {
			s.Prompts = append(s.Prompts, prompt)
		}
		return nil
	})
	if err != nil {
		return err
	}
	query = "SELECT DISTINCT t.session, p.path FROM turns t JOIN files f ON f.turn = t.id JOIN paths p ON p.id = f.path WHERE " + notCopied + " AND t.session" + chosen + " ORDER BY p.path"
	err = each(ctx, r.conn, query, args, func(row scanner) error {
		var id int64
		var path string
		err := row.Scan(&id, &path)
		of[id].Files = append(of[id].Files, path)
		return err
	})
	if err != nil {
		return err
	}
	for s, files := range named {
		if !read[s] {
			slices.Sort(files)
			s.Files = slices.Compact(files)
		}
	}
	spent, err := r.usage(ctx, Grouping{By: BySession}, notCopied+" AND t.session"+chosen, args)
	for _, u := range spent {
		byName[u.Key].Spent = append(byName[u.Key].Spent, u)
	}
	return err
}

// MaskedBefore returns the ids of the checkpoints of which a part was masked by a version of the
// redaction rules below the given one.
func (r *Reader) MaskedBefore(ctx context.Context, rules int) ([]string, error) {
	const query = "SELECT DISTINCT c.name FROM slots x JOIN checkpoints c ON c.id = x.checkpoint WHERE x.rules < ?"
	return collect(ctx, r.conn, query, []any{rules}, scanName)
}

// CheckpointsOf returns the ids of the checkpoints that have a part of the session, the newest first.
func (r *Reader) CheckpointsOf(ctx context.Context, session string) ([]string, error) {
	const query = `SELECT c.name FROM slots x JOIN checkpoints c ON c.id = x.checkpoint JOIN sessions s ON s.id = x.session
WHERE s.name = ? ORDER BY x.at DESC, c.name`
	return collect(ctx, r.conn, query, []any{session}, scanName)
}
