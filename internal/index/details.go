package index

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
)

// Detail holds the data of a turn besides its row.
type Detail struct {
	// Calls are all tool calls in order, Files the changed files by path.
	Calls []Call
	Files []ChangedFile
	// Spent are the tokens by model and by whether subagents used them.
	Spent []Spent
	// Texts are indexed by kind.
	Texts [kinds]string
}

// TurnsOf returns the turns of the checkpoints, the oldest first.
func (r *Reader) TurnsOf(ctx context.Context, checkpoints []string) ([]Row, error) {
	const from = ` FROM turns t JOIN sessions s ON s.id = t.session WHERE ` + notCopied + ` AND t.id IN
    (SELECT p.turn FROM parts p JOIN checkpoints c ON c.id = p.checkpoint WHERE c.name IN (SELECT value FROM json_each(?)))
ORDER BY t.at, t.id`
	return r.rows(ctx, "SELECT "+rowColumns()+from, []any{jsonArray(checkpoints)})
}

// jsonArray returns values as an argument for json_each.
func jsonArray[T int64 | string](values []T) string {
	text, err := json.Marshal(values)
	if err != nil {
		return "[]" // numbers and texts can be encoded
	}
	return string(text)
}

// Details returns the details of turns, in the order of rows.
func (r *Reader) Details(ctx context.Context, rows []Row) (details []Detail, err error) {
	details = make([]Detail, len(rows))
	of := make(map[int64]*Detail, len(rows))
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
		of[rows[i].ID] = &details[i]
	}
	const chosen = " IN (SELECT value FROM json_each(?))"
	args := []any{jsonArray(ids)}
	query := "SELECT turn, line, at, tool, text, command, outcome, status, agent FROM calls WHERE turn" + chosen + " ORDER BY id"
	err = each(ctx, r.conn, query, args, func(rows scanner) error {
		var c Call
		var turn, at int64
		if err := rows.Scan(&turn, &c.Line, &at, &c.Tool, &c.Text, &c.Command, &c.Outcome, &c.Status, &c.Agent); err != nil {
			return err
		}
		c.At = fromMillis(at)
		of[turn].Calls = append(of[turn].Calls, c)
		return nil
	})
	if err != nil {
		return nil, err
	}
	query = "SELECT f.turn, p.path, f.added, f.removed, f.source, " + isReverted + " FROM files f JOIN paths p ON p.id = f.path WHERE f.turn" + chosen + " ORDER BY p.path"
	err = each(ctx, r.conn, query, args, func(rows scanner) error {
		var f ChangedFile
		var turn int64
		source := 0
		if err := rows.Scan(&turn, &f.Path, &f.Added, &f.Removed, &source, &f.Reverted); err != nil {
			return err
		}
		f.Edited, f.Observed, f.Recorded = source&sourceEdit != 0, source&sourceSnapshot != 0, source&sourceRecord != 0
		of[turn].Files = append(of[turn].Files, f)
		return nil
	})
	if err != nil {
		return nil, err
	}
	query = "SELECT u.turn, o.name, u.sub, u.input, u.cache_write, u.cache_read, u.output, u.messages FROM spent u JOIN models o ON o.id = u.model WHERE u.turn" + chosen + " ORDER BY o.name, u.sub"
	err = each(ctx, r.conn, query, args, func(rows scanner) error {
		var s Spent
		var turn int64
		if err := rows.Scan(&turn, &s.Model, &s.Subagent, &s.Input, &s.CacheWrite, &s.CacheRead, &s.Output, &s.Messages); err != nil {
			return err
		}
		of[turn].Spent = append(of[turn].Spent, s)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := r.texts(ctx, args, of); err != nil {
		return nil, err
	}
	return details, nil
}

// texts sets the texts of the turns in of; ids is the argument that selects them. The ids
// of a turn's texts are in one range.
func (r *Reader) texts(ctx context.Context, ids []any, of map[int64]*Detail) error {
	decoder, err := newDecoder()
	if err != nil {
		return err
	}
	defer decoder.Close()
	const query = "SELECT x.id, x.z FROM json_each(?) i JOIN texts x ON x.id >= i.value * ? AND x.id < i.value * ? + ?"
	return each(ctx, r.conn, query, slices.Concat(ids, []any{textIDs, textIDs, int(kinds)}), func(rows scanner) error {
		var id int64
		var z []byte
		if err := rows.Scan(&id, &z); err != nil {
			return err
		}
		text, err := decompress(decoder, z)
		if errors.Is(err, ErrLost) {
			return err
		}
		of[id/textIDs].Texts[id%textIDs] = text
		return err
	})
}
