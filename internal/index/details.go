package index

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
)

// Detail is what the index has of a turn beside its row.
type Detail struct {
	// Calls are all uses of tools, in order, Files what the turn changed, by path.
	Calls []Call
	Files []ChangedFile
	// Spent are the tokens by model, and whether subagents used them.
	Spent []Spent
	// Texts are by kind.
	Texts [kinds]string
}

// TurnsOf returns the turns that the checkpoints have, the oldest first.
func (r *Reader) TurnsOf(ctx context.Context, checkpoints []string) ([]Row, error) {
	names, err := json.Marshal(checkpoints)
	if err != nil {
		return nil, err
	}
	const from = ` FROM turns t JOIN sessions s ON s.id = t.session WHERE t.id IN
    (SELECT p.turn FROM parts p JOIN checkpoints c ON c.id = p.checkpoint WHERE c.name IN (SELECT value FROM json_each(?)))
ORDER BY t.at, t.id`
	return r.rows(ctx, "SELECT "+rowColumns+from, []any{string(names)})
}

// Details returns the details of turns, in the order of rows.
func (r *Reader) Details(ctx context.Context, rows []Row) (details []Detail, err error) {
	d := &detailReader{Reader: r, of: make(map[int64]*Detail, len(rows))}
	details = make([]Detail, len(rows))
	ids := make([]int64, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
		d.of[rows[i].ID] = &details[i]
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, err
	}
	d.ids = []any{string(list)}
	for _, read := range []func(context.Context) error{d.calls, d.files, d.spent, d.texts} {
		if err := read(ctx); err != nil {
			return nil, err
		}
	}
	return details, nil
}

// detailReader reads the details of some turns.
type detailReader struct {
	*Reader

	ids []any // the argument that selects them
	of  map[int64]*Detail
}

const chosen = " IN (SELECT value FROM json_each(?))"

func (d *detailReader) calls(ctx context.Context) error {
	return each(ctx, d.conn, "SELECT turn, line, at, tool, text, command, outcome, status, agent FROM calls WHERE turn"+chosen+" ORDER BY id", d.ids, func(rows scanner) error {
		var c Call
		var turn, at int64
		if err := rows.Scan(&turn, &c.Line, &at, &c.Tool, &c.Text, &c.Command, &c.Outcome, &c.Status, &c.Agent); err != nil {
			return err
		}
		c.At = fromMillis(at)
		d.of[turn].Calls = append(d.of[turn].Calls, c)
		return nil
	})
}

func (d *detailReader) files(ctx context.Context) error {
	return each(ctx, d.conn, "SELECT f.turn, p.path, f.added, f.removed, f.source, "+isReverted+" FROM files f JOIN paths p ON p.id = f.path WHERE f.turn"+chosen+" ORDER BY p.path", d.ids, func(rows scanner) error {
		var f ChangedFile
		var turn int64
		source := 0
		if err := rows.Scan(&turn, &f.Path, &f.Added, &f.Removed, &source, &f.Reverted); err != nil {
			return err
		}
		f.Edited, f.Observed = source&sourceEdit != 0, source&sourceSnapshot != 0
		d.of[turn].Files = append(d.of[turn].Files, f)
		return nil
	})
}

func (d *detailReader) spent(ctx context.Context) error {
	query := "SELECT u.turn, o.name, u.sub, u.input, u.cache_write, u.cache_read, u.output, u.messages FROM spent u JOIN models o ON o.id = u.model WHERE u.turn" + chosen + " ORDER BY o.name, u.sub"
	return each(ctx, d.conn, query, d.ids, func(rows scanner) error {
		var s Spent
		var turn int64
		if err := rows.Scan(&turn, &s.Model, &s.Subagent, &s.Input, &s.CacheWrite, &s.CacheRead, &s.Output, &s.Messages); err != nil {
			return err
		}
		d.of[turn].Spent = append(d.of[turn].Spent, s)
		return nil
	})
}

// texts reads the texts, by their ids, which are in a range for each turn.
func (d *detailReader) texts(ctx context.Context) (err error) {
	decoder, err := newDecoder()
	if err != nil {
		return err
	}
	defer decoder.Close()
	const query = "SELECT x.id, x.z FROM json_each(?) i JOIN texts x ON x.id >= i.value * ? AND x.id < i.value * ? + ?"
	return each(ctx, d.conn, query, slices.Concat(d.ids, []any{textIDs, textIDs, int(kinds)}), func(rows scanner) error {
		var id int64
		var z []byte
		if err := rows.Scan(&id, &z); err != nil {
			return err
		}
		text, err := decompress(decoder, z)
		if errors.Is(err, ErrLost) {
			return err
		}
		d.of[id/textIDs].Texts[id%textIDs] = text
		return err
	})
}
