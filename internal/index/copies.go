package index

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// The values of the column copied of a turn.
const (
	// isOwn turns are those of their session.
	isOwn = iota
	// isCopy turns are those of another session, whose history was copied into the session's. They are not
	// selected by queries.
	isCopy
	// isContinued turns continue a copied turn: their messages are the session's, their prompt isn't.
	isContinued
)

// notCopied is the SQL condition that a turn t is its session's.
const notCopied = "t.copied <> 1"

// shareKey records that a new turn has the key of turns of other sessions, if there are any.
func (r *TurnRows) shareKey(ctx context.Context, key, turn int64) error {
	var other int64
	found, err := r.row(ctx, "SELECT id FROM turns WHERE key = ? AND id <> ? LIMIT 1", []any{key, turn}, &other)
	if err == nil && found {
		_, err = r.exec(ctx, "INSERT OR IGNORE INTO shared SELECT id FROM turns WHERE key = ?", key)
	}
	return err
}

// addCopy records a message of a turn that another turn has. Only those of different sessions are copies.
func (r *TurnRows) addCopy(ctx context.Context, turn, model int64, m Message) error {
	var holder int64
	found, err := r.row(ctx, `SELECT m.turn FROM messages m JOIN turns o ON o.id = m.turn JOIN turns t ON t.id = ?
WHERE m.id = ? AND o.session <> t.session`, []any{turn, m.ID}, &holder)
	if err != nil || !found {
		return err
	}
	_, err = r.exec(ctx, "INSERT OR REPLACE INTO copies VALUES (?, ?, ?, ?, ?, ?, ?, ?)", m.ID, turn, model, m.Subagent, m.Input, m.CacheWrite, m.CacheRead, m.Output)
	if err == nil {
		_, err = r.exec(ctx, "INSERT OR IGNORE INTO shared VALUES (?), (?)", holder, turn)
	}
	return err
}

// sharedTurn is a turn of which other sessions have the key or messages.
type sharedTurn struct {
	id, session, key, at int64
	prompt, name         string
	copied               int
	// rank is lower the surer it is that the turn was recorded in its session. known is the earliest time at
	// which the session is known to have existed.
	rank  int
	known int64
	// own and lost are the numbers of its own messages, without those of subagents, and of those that are
	// other sessions' turns', from.
	own, lost int
	from      []*sharedTurn
}

// compare orders turns that have something in common: the session of the first one recorded it.
func (t *sharedTurn) compare(o *sharedTurn) int {
	return cmp.Or(t.rank-o.rank, cmp.Compare(t.at, o.at), cmp.Compare(t.known, o.known), cmp.Compare(t.name, o.name), cmp.Compare(t.id, o.id))
}

// state returns the value of the column copied. keyOwner is the first turn with the same key. A message's
// id alone doesn't make a turn a copy: its prompt must be the same too.
func (t *sharedTurn) state(keyOwner *sharedTurn) int {
	isSame := func(o *sharedTurn) bool { return o.session != t.session && (t.prompt == "" || t.prompt == o.prompt) }
	hasMessages := t.lost > 0 && slices.ContainsFunc(t.from, isSame)
	switch {
	case t.own == 0 && (keyOwner.session != t.session || hasMessages):
		return isCopy
	case t.own > 0 && (hasMessages || isSame(keyOwner)):
		return isContinued
	}
	return isOwn
}

// ResolveCopies decides to which session the turns and messages belong that several sessions have, as after
// a history was copied into another transcript. The result does not depend on the order in which they were written.
func (w *Writer) ResolveCopies(ctx context.Context) error {
	var some int64
	if found, err := w.row(ctx, "SELECT turn FROM shared LIMIT 1", nil, &some); err != nil || !found {
		return err
	}
	if _, err := w.exec(ctx, "INSERT OR IGNORE INTO shared SELECT turn FROM messages WHERE id IN (SELECT id FROM copies)"); err != nil {
		return err
	}
	turns, err := w.sharedTurns(ctx)
	if err != nil {
		return err
	}
	changed, err := w.resolveMessages(ctx, turns)
	if err != nil {
		return err
	}
	keys := map[int64]*sharedTurn{}
	for _, t := range turns {
		if o := keys[t.key]; o == nil || t.compare(o) < 0 {
			keys[t.key] = t
		}
	}
	for id, t := range turns {
		if state := t.state(keys[t.key]); state != t.copied {
			if _, err := w.exec(ctx, "UPDATE turns SET copied = ? WHERE id = ?", state, id); err != nil {
				return err
			}
		}
	}
	for id := range changed {
		if err := w.Turns.sumMessages(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// sharedTurns returns the turns in shared by their ids.
func (w *Writer) sharedTurns(ctx context.Context) (map[int64]*sharedTurn, error) {
	turns := map[int64]*sharedTurn{}
	err := w.rows(ctx, `SELECT t.id, t.session, t.key, t.at, t.prompt, t.copied, t.marked, s.name, s.started, (SELECT min(x.at) FROM slots x WHERE x.session = s.id),
    (SELECT count(*) FROM messages m WHERE m.turn = t.id AND NOT m.sub)
FROM shared h JOIN turns t ON t.id = h.turn JOIN sessions s ON s.id = t.session`, func(row scanner) error {
		t := &sharedTurn{known: math.MaxInt64}
		var isMarked bool
		var started int64
		var stored *int64
		if err := row.Scan(&t.id, &t.session, &t.key, &t.at, &t.prompt, &t.copied, &isMarked, &t.name, &started, &stored, &t.own); err != nil {
			return err
		}
		if isMarked {
			t.rank += 2 // the transcript itself shows it
		}
		if started != 0 {
			t.known = started
			if started > t.at {
				t.rank++ // or the recording began later
			}
		}
		if stored != nil {
			t.known = min(t.known, *stored)
		}
		turns[t.id] = t
		return nil
	})
	return turns, err
}

// resolveMessages moves each message that several turns have to the first of them. It returns the turns that
// got or lost one.
func (w *Writer) resolveMessages(ctx context.Context, turns map[int64]*sharedTurn) (changed map[int64]bool, err error) {
	type held struct {
		owner, holder *sharedTurn // the first turn, and the one in messages
		isSub         bool
		copies        []*sharedTurn
	}
	all := map[int64]*held{}
	err = w.rows(ctx, "SELECT id, turn, sub, 0 FROM copies UNION ALL SELECT id, turn, sub, 1 FROM messages WHERE id IN (SELECT id FROM copies)", func(row scanner) error {
		var id, turn int64
		var isSub, isHolder bool
		if err := row.Scan(&id, &turn, &isSub, &isHolder); err != nil {
			return err
		}
		m, t := all[id], turns[turn]
		if m == nil {
			m = &held{isSub: isSub}
			all[id] = m
		}
		if isHolder {
			m.holder = t
		} else {
			m.copies = append(m.copies, t)
		}
		if m.owner == nil || t.compare(m.owner) < 0 {
			m.owner = t
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	changed = map[int64]bool{}
	for id, m := range all {
		if m.holder != m.owner {
			if err := w.moveMessage(ctx, id, m.owner.id); err != nil {
				return nil, err
			}
			changed[m.owner.id] = true
			if m.holder != nil {
				changed[m.holder.id] = true
				m.copies = append(m.copies, m.holder)
			}
		}
		if m.isSub {
			continue
		}
		if m.holder != m.owner {
			m.owner.own++
			if m.holder != nil {
				m.holder.own--
			}
		}
		for _, t := range m.copies {
			if t != m.owner {
				t.lost++
				t.from = append(t.from, m.owner)
			}
		}
	}
	return changed, nil
}

// moveMessage makes a turn that has a copy of a message its owner. The message counts by its record with
// the most output.
func (w *Writer) moveMessage(ctx context.Context, id, turn int64) error {
	return w.execAll(ctx, []string{
		"INSERT OR IGNORE INTO copies SELECT * FROM messages WHERE id = ?1 AND turn <> ?2",
		`INSERT INTO messages SELECT id, ?2, model, sub, input, cache_write, cache_read, output FROM copies WHERE id = ?1 ORDER BY output DESC, turn <> ?2, turn LIMIT 1
ON CONFLICT (id) DO UPDATE SET turn = excluded.turn, model = excluded.model, sub = excluded.sub, input = excluded.input,
    cache_write = excluded.cache_write, cache_read = excluded.cache_read, output = excluded.output`,
		"DELETE FROM copies WHERE id = ?1 AND turn = ?2",
	}, id, turn)
}
