package index

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// Group is the criterion by which tokens are summed.
type Group string

// The groups.
const (
	BySession Group = "session"
	ByBranch  Group = "branch"
	ByCommit  Group = "commit"
	ByDay     Group = "day"
	ByModel   Group = "model"
	ByAgent   Group = "agent"
	ByFile    Group = "file"
	ByPrompt  Group = "prompt"
	ByPerson  Group = "person"
)

// Groups returns all groups.
func Groups() []Group {
	return []Group{BySession, ByBranch, ByCommit, ByDay, ByModel, ByAgent, ByFile, ByPrompt, ByPerson}
}

// Grouping is how Usage groups turns.
type Grouping struct {
	By Group
	// Local is the time zone of days.
	Local *time.Location
	// Persons requests Spent.Persons, which take as long as the sums.
	Persons bool
}

// Spent is the usage of one model by one member of a group.
type Spent struct {
	// Key identifies the member: an id, a name, a path, a day; empty for turns without one.
	// Label describes it: a prompt, the subject of a commit.
	Key, Label string
	// Last is the time of its last turn.
	Last  time.Time
	Model string
	// Subagent is set if subagents used the tokens.
	Subagent bool
	Messages int64
	Tokens
	// Persons are the persons of the turns, sorted, as far as they are known: see Row.Person. They are
	// set only if they are requested.
	Persons []string
}

// shares selects the members of a group among which the tokens x of a turn are divided,
// evenly and without a remainder: member n of m gets x(n+1)/m - xn/m.
const shares = `WITH members AS (SELECT turn, name, label, row_number() OVER (PARTITION BY turn ORDER BY name) - 1 AS n, count(*) OVER (PARTITION BY turn) AS m FROM (`

// Usage returns the usage of the turns that a filter selects, by group, model and whether
// subagents used it. The members of the group are ordered by their last turns, the latest
// first.
func (r *Reader) Usage(ctx context.Context, g Grouping, f Filter) ([]Spent, error) {
	where, args := f.condition()
	return r.usage(ctx, g, where, args)
}

// usage is Usage for the turns t of sessions s that a condition selects.
func (r *Reader) usage(ctx context.Context, g Grouping, where string, args []any) ([]Spent, error) {
	from := " FROM spent u JOIN turns t ON t.id = u.turn JOIN sessions s ON s.id = t.session JOIN models o ON o.id = u.model"
	sums := "sum(u.input), sum(u.cache_write), sum(u.cache_read), sum(u.output), sum(u.messages)"
	prefix, key, label, authors := "", "''", "''", "'[]'"
	if g.Persons {
		authors = "json_group_array(DISTINCT " + ofTurn(authorName) + ")"
	}
	switch g.By {
	case BySession:
		key, label = "s.name", "s.agent"
	case ByBranch:
		key = "t.branch"
	case ByDay:
		key = "t.at / 900000" // quarters of an hour: offsets of time zones are multiples of one
	case ByModel:
		key = "o.name"
	case ByAgent:
		key = "s.agent"
	case ByPerson:
		key = "ifnull(" + ofTurn(authorName) + ", '')"
	case ByPrompt:
		key, label = "t.id", "t.prompt"
	case ByFile:
		prefix = shares + "SELECT f.turn, p.path AS name, '' AS label FROM files f JOIN paths p ON p.id = f.path))\n"
	case ByCommit:
		prefix = shares + `SELECT p.turn, c.oid AS name, c.subject AS label, max(c.at) FROM parts p JOIN checkpoints k ON k.id = p.checkpoint
    JOIN commits c ON c.checkpoint = k.name WHERE ` + hasWork + ` GROUP BY p.turn, k.id))` + "\n"
	}
	if prefix != "" {
		from += " LEFT JOIN members x ON x.turn = t.id"
		key, label = "ifnull(x.name, '')", "ifnull(x.label, '')"
		share := func(column string) string {
			c := "u." + column
			return "sum(CASE WHEN x.m IS NULL THEN " + c + " ELSE " + c + " * (x.n + 1) / x.m - " + c + " * x.n / x.m END)"
		}
		sums = share("input") + ", " + share("cache_write") + ", " + share("cache_read") + ", " + share("output") + ", " + share("messages")
	}
	// The key is grouped by its place: SQLite resolves a name in GROUP BY as a column first.
	query := prefix + "SELECT " + key + ", max(" + label + "), max(t.ended), o.name, u.sub, " + authors + ", " + sums + from + " WHERE " + where + " GROUP BY 1, o.id, u.sub"
	list, err := collect(ctx, r.conn, query, args, func(rows scanner, s *Spent) error {
		var last int64
		var authors string
		if err := rows.Scan(&s.Key, &s.Label, &last, &s.Model, &s.Subagent, &authors, &s.Input, &s.CacheWrite, &s.CacheRead, &s.Output, &s.Messages); err != nil {
			return err
		}
		var names []string // null is that of an unknown author
		if err := json.Unmarshal([]byte(authors), &names); err != nil {
			return err
		}
		s.Persons = union(nil, names)
		s.Last = fromMillis(last)
		if g.By == ByDay {
			if n, err := strconv.ParseInt(s.Key, 10, 64); err == nil {
				s.Key = time.Unix(n*900, 0).In(g.Local).Format(time.DateOnly)
			} else {
				s.Key = ""
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return joined(list), nil
}

// union returns the names in either list, sorted, without empty ones.
func union(a, b []string) []string {
	all := slices.DeleteFunc(slices.Concat(a, b), func(name string) bool { return name == "" })
	slices.Sort(all)
	return slices.Compact(all)
}

// joined sums rows with the same member, model and Subagent, and sorts them.
func joined(list []Spent) []Spent {
	type id struct {
		key, model string
		sub        bool
	}
	at, last := map[id]int{}, map[string]time.Time{}
	out := make([]Spent, 0, len(list))
	for _, s := range list {
		if s.Last.After(last[s.Key]) {
			last[s.Key] = s.Last
		}
		name := id{s.Key, s.Model, s.Subagent}
		i, known := at[name]
		if !known {
			at[name] = len(out)
			out = append(out, s)
			continue
		}
		out[i].Tokens = out[i].Plus(s.Tokens)
		out[i].Messages += s.Messages
		out[i].Persons = union(out[i].Persons, s.Persons)
		if s.Last.After(out[i].Last) {
			out[i].Last = s.Last
		}
	}
	slices.SortStableFunc(out, func(a, b Spent) int {
		return cmp.Or(last[b.Key].Compare(last[a.Key]), cmp.Compare(a.Key, b.Key), cmp.Compare(a.Model, b.Model))
	})
	return out
}
