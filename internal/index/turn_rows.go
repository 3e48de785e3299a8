package index

import (
	"context"
	"database/sql"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"github.com/seed-3aff656d/entire/internal/plain"
)

// TurnRows writes turns with their calls, files, messages and texts.
type TurnRows struct {
	*statements

	zip   *zstd.Encoder
	unzip *zstd.Decoder
}

// Put writes a turn of a session and returns the id of its row. It replaces an earlier
// version of the turn, unless that has more lines.
func (r *TurnRows) Put(ctx context.Context, session int64, t *Turn) (id int64, err error) {
	var line, end int
	found, err := r.row(ctx, "SELECT id, line, ending FROM turns WHERE session = ? AND key = ?", []any{session, t.Key}, &id, &line, &end)
	if err != nil || found && end-line > t.End-t.Line {
		return id, err
	}
	branch := utf8Of(t.Branch)
	if found {
		_, err = r.exec(ctx, "UPDATE turns SET line = ?, ending = ?, at = ?, ended = ?, branch = ?, prompt = ?, marked = ? WHERE id = ?",
			t.Line, t.End, millis(t.At), millis(t.Ended), branch, utf8Of(t.Prompt), t.Marked, id)
	} else {
		var result sql.Result
		result, err = r.exec(ctx, `INSERT INTO turns(session, key, line, ending, at, ended, branch, prompt, context, commands, failed, files, added, removed, marked)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0, ?)`, session, t.Key, t.Line, t.End, millis(t.At), millis(t.Ended), branch, utf8Of(t.Prompt), t.Context, t.Marked)
		if err == nil {
			id, err = result.LastInsertId()
		}
		if err == nil {
			err = r.shareKey(ctx, t.Key, id)
		}
	}
	if err != nil {
		return 0, err
	}
	if found {
		// Keep the data of subagents and the changes found by snapshots and in checkpoints.
		err := r.execAll(ctx, []string{
			"DELETE FROM calls WHERE turn = ? AND agent = ''", "DELETE FROM files WHERE turn = ? AND source = 1",
			"UPDATE files SET source = source & 6 WHERE turn = ?", "DELETE FROM messages WHERE turn = ? AND NOT sub", "DELETE FROM copies WHERE turn = ? AND NOT sub",
		}, id)
		if err != nil {
			return 0, err
		}
	}
	if err := r.addCalls(ctx, id, t.Calls, ""); err != nil {
		return 0, err
	}
	if err := r.putFiles(ctx, id, t.Files); err != nil {
		return 0, err
	}
	if err := r.addMessages(ctx, id, t.Messages); err != nil {
		return 0, err
	}
	if err := r.sum(ctx, id); err != nil {
		return 0, err
	}
	texts := t.Texts
	if found {
		if texts[Subagent], err = r.textOf(ctx, id, Subagent); err != nil {
			return 0, err
		}
	}
	return id, r.putTexts(ctx, id, texts, found)
}

func utf8Of(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

func (r *TurnRows) addCalls(ctx context.Context, turn int64, calls []Call, agent string) error {
	for _, c := range calls {
		_, err := r.exec(ctx, "INSERT INTO calls(turn, line, at, tool, text, command, outcome, status, agent) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			turn, c.Line, millis(c.At), utf8Of(c.Tool), utf8Of(c.Text), c.Command, int(c.Outcome), c.Status, agent)
		if err != nil {
			return err
		}
	}
	return nil
}

// putFiles adds files to a turn. The line counts of snapshots take precedence over those of
// edits, and these over those of checkpoints, which have only the lines that were committed.
func (r *TurnRows) putFiles(ctx context.Context, turn int64, files []FileChange) error {
	for i := range files {
		f := &files[i]
		path, err := r.idOf(ctx, "paths", "path", utf8Of(f.Path))
		if err != nil {
			return err
		}
		source := 0
		if f.Edited {
			source |= sourceEdit
		}
		if f.Observed {
			source |= sourceSnapshot
		}
		if f.Recorded {
			source |= sourceRecord
		}
		_, err = r.exec(ctx, `INSERT INTO files(turn, path, added, removed, source, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (turn, path) DO UPDATE SET source = source | excluded.source,
    added = CASE WHEN excluded.source & 2 OR source & 3 = 0 OR excluded.source & 1 AND NOT source & 2 THEN excluded.added ELSE added END,
    removed = CASE WHEN excluded.source & 2 OR source & 3 = 0 OR excluded.source & 1 AND NOT source & 2 THEN excluded.removed ELSE removed END,
    before = CASE WHEN excluded.source & 2 THEN excluded.before ELSE before END, after = CASE WHEN excluded.source & 2 THEN excluded.after ELSE after END`,
			turn, path, f.Added, f.Removed, source, notNil(f.Before), notNil(f.After))
		if err != nil {
			return err
		}
	}
	return nil
}

func notNil(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

// AddFiles adds files that differ between snapshots, or that a checkpoint has, to a turn.
func (r *TurnRows) AddFiles(ctx context.Context, turn int64, files []FileChange) error {
	if len(files) == 0 {
		return nil
	}
	const count = "SELECT count(*) FROM files WHERE turn = ?"
	var before, now int
	if _, err := r.row(ctx, count, []any{turn}, &before); err != nil {
		return err
	}
	if err := r.putFiles(ctx, turn, files); err != nil {
		return err
	}
	if err := r.sum(ctx, turn); err != nil {
		return err
	}
	if _, err := r.row(ctx, count, []any{turn}, &now); err != nil || now == before {
		return err // the turn's texts have all paths
	}
	texts, err := r.textsOf(ctx, turn)
	if err != nil {
		return err
	}
	return r.putTexts(ctx, turn, texts, true)
}

// sum updates the counts of a turn.
func (r *TurnRows) sum(ctx context.Context, turn int64) error {
	_, err := r.exec(ctx, `UPDATE turns SET
    (commands, failed) = (SELECT count(*), ifnull(sum(outcome = 2), 0) FROM calls WHERE turn = ?1 AND command),
    (files, added, removed) = (SELECT count(*), ifnull(sum(added), 0), ifnull(sum(removed), 0) FROM files WHERE turn = ?1)
WHERE id = ?1`, turn)
	return err
}

// SubagentTurn is the work of a subagent in a turn.
type SubagentTurn struct {
	// Agent is the subagent's id.
	Agent    string
	Calls    []Call
	Messages []Message
	// Text is its prompt, answers, commands and their output.
	Text string
}

// PutSubagent writes the work of a subagent in a turn, replacing earlier data of that
// subagent.
func (r *TurnRows) PutSubagent(ctx context.Context, turn int64, s SubagentTurn) error {
	texts, err := r.textsOf(ctx, turn)
	if err != nil {
		return err
	}
	var parts []string
	for part := range strings.SplitSeq(texts[Subagent], subagentMark) {
		if id, _, _ := strings.Cut(part, "\n"); part != "" && id != s.Agent {
			parts = append(parts, subagentMark+part)
		}
	}
	if s.Text != "" {
		parts = append(parts, subagentMark+s.Agent+"\n"+strings.ReplaceAll(s.Text, subagentMark, " ")+"\n")
	}
	if all := plain.Head(strings.Join(parts, ""), maxText); all != texts[Subagent] {
		texts[Subagent] = all
		if err := r.putTexts(ctx, turn, texts, true); err != nil {
			return err
		}
	}
	if _, err := r.exec(ctx, "DELETE FROM calls WHERE turn = ? AND agent = ?", turn, s.Agent); err != nil {
		return err
	}
	if err := r.addCalls(ctx, turn, s.Calls, s.Agent); err != nil {
		return err
	}
	if err := r.addMessages(ctx, turn, s.Messages); err != nil {
		return err
	}
	return r.sum(ctx, turn)
}

// subagentMark begins the part of a subagent in the text of kind Subagent. The subagent's
// id and a newline follow.
const subagentMark = "\v"

// addMessages adds the tokens of a turn. A message that belongs to another turn stays with
// that turn until ResolveCopies.
func (r *TurnRows) addMessages(ctx context.Context, turn int64, messages []Message) error {
	touched := map[int64]bool{turn: true}
	for _, m := range messages {
		model, err := r.idOf(ctx, "models", "name", utf8Of(m.Model))
		if err != nil {
			return err
		}
		result, err := r.exec(ctx, "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			m.ID, turn, model, m.Subagent, m.Input, m.CacheWrite, m.CacheRead, m.Output)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n > 0 {
			if err != nil {
				return err
			}
			continue
		}
		if err := r.addCopy(ctx, turn, model, m); err != nil {
			return err
		}
		var owner int64
		if _, err := r.row(ctx, `UPDATE messages SET input = ?, cache_write = ?, cache_read = ?, output = ? WHERE id = ? AND output < ? RETURNING turn`,
			[]any{m.Input, m.CacheWrite, m.CacheRead, m.Output, m.ID, m.Output}, &owner); err != nil {
			return err
		}
		touched[owner] = true
	}
	delete(touched, 0)
	for id := range touched {
		if err := r.sumMessages(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// sumMessages updates the sums of a turn's messages.
func (r *TurnRows) sumMessages(ctx context.Context, turn int64) error {
	return r.execAll(ctx, []string{
		"DELETE FROM spent WHERE turn = ?",
		`INSERT INTO spent SELECT turn, model, sub, sum(input), sum(cache_write), sum(cache_read), sum(output), count(*)
FROM messages WHERE turn = ? GROUP BY model, sub`,
	}, turn)
}

// putTexts writes the texts of a turn and indexes their words.
func (r *TurnRows) putTexts(ctx context.Context, turn int64, texts [kinds]string, replace bool) error {
	var paths sql.NullString
	_, err := r.row(ctx, "SELECT group_concat(p.path, char(10)) FROM files f JOIN paths p ON p.id = f.path WHERE f.turn = ?", []any{turn}, &paths)
	if err != nil {
		return err
	}
	texts[File] = plain.Head(paths.String, maxText)
	if replace {
		err := r.execAll(ctx, []string{
			"DELETE FROM words WHERE rowid = ?1", "DELETE FROM texts WHERE id BETWEEN ?1 * 8 AND ?1 * 8 + 7",
		}, turn)
		if err != nil {
			return err
		}
	}
	if r.zip == nil {
		r.zip, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(128<<10))
		if err != nil {
			return err
		}
	}
	args := []any{turn}
	for kind, text := range texts {
		args = append(args, normal(text))
		if text == "" {
			continue
		}
		if _, err := r.exec(ctx, "INSERT INTO texts VALUES (?, ?)", turn*textIDs+int64(kind), r.zip.EncodeAll([]byte(text), nil)); err != nil {
			return err
		}
	}
	_, err = r.exec(ctx, "INSERT INTO words(rowid, prompt, answer, command, output, file, subagent) VALUES (?, ?, ?, ?, ?, ?, ?)", args...)
	return err
}

// maxText is the maximum size of the text of a turn's paths and of that of its subagents,
// in bytes.
const maxText = 32 << 10

func (r *TurnRows) textsOf(ctx context.Context, turn int64) (texts [kinds]string, err error) {
	for kind := range texts {
		if texts[kind], err = r.textOf(ctx, turn, Kind(kind)); err != nil {
			return texts, err
		}
	}
	return texts, nil
}

// textOf returns a text of a turn, "" if it has none.
func (r *TurnRows) textOf(ctx context.Context, turn int64, kind Kind) (string, error) {
	var z []byte
	found, err := r.row(ctx, "SELECT z FROM texts WHERE id = ?", []any{turn*textIDs + int64(kind)}, &z)
	if err != nil || !found {
		return "", err
	}
	if r.unzip == nil {
		if r.unzip, err = newDecoder(); err != nil {
			return "", err
		}
	}
	return decompress(r.unzip, z)
}

// At returns the turn of a session that contains the last line before end, 0 if there is
// none.
func (r *TurnRows) At(ctx context.Context, session int64, end int) (id int64, err error) {
	_, err = r.row(ctx, "SELECT id FROM turns WHERE session = ? AND line < ? ORDER BY line DESC LIMIT 1", []any{session, end}, &id)
	return id, err
}

// From returns the first turn of a session that begins at a line or after it, 0 if there is none.
// The record of a turn may name a line before that of its prompt.
func (r *TurnRows) From(ctx context.Context, session int64, line int) (id int64, err error) {
	_, err = r.row(ctx, "SELECT id FROM turns WHERE session = ? AND line >= ? ORDER BY line LIMIT 1", []any{session, line}, &id)
	return id, err
}

// By returns the last turn of a session that began at or before a time, 0 if there is none.
func (r *TurnRows) By(ctx context.Context, session int64, at time.Time) (id int64, err error) {
	_, err = r.row(ctx, "SELECT id FROM turns WHERE session = ? AND at <= ? ORDER BY at DESC LIMIT 1", []any{session, millis(at)}, &id)
	return id, err
}

// HasTranscript reports whether a session has turns of a transcript.
func (r *TurnRows) HasTranscript(ctx context.Context, session string) (bool, error) {
	var id int64
	return r.row(ctx, "SELECT t.id FROM turns t JOIN sessions s ON s.id = t.session WHERE s.name = ? AND t.context = '' LIMIT 1", []any{session}, &id)
}

// OfContexts returns the turns made from saved contexts, by the contexts' ids.
func (r *TurnRows) OfContexts(ctx context.Context) (turns map[string]int64, err error) {
	turns = map[string]int64{}
	for after := int64(0); ; {
		var name string
		found, err := r.row(ctx, "SELECT id, context FROM turns WHERE context <> '' AND id > ? ORDER BY id LIMIT 1", []any{after}, &after, &name)
		if err != nil || !found {
			return turns, err
		}
		turns[name] = after
	}
}

// Drop removes a turn and all its data.
func (r *TurnRows) Drop(ctx context.Context, turn int64) error {
	return r.execAll(ctx, []string{
		"DELETE FROM words WHERE rowid = ?", "DELETE FROM calls WHERE turn = ?", "DELETE FROM files WHERE turn = ?", "DELETE FROM messages WHERE turn = ?",
		"DELETE FROM spent WHERE turn = ?", "DELETE FROM snapshots WHERE turn = ?", "DELETE FROM parts WHERE turn = ?", "DELETE FROM turns WHERE id = ?",
		"DELETE FROM copies WHERE turn = ?", "DELETE FROM shared WHERE turn = ?",
		"DELETE FROM texts WHERE id BETWEEN ?1 * 8 AND ?1 * 8 + 7",
	}, turn)
}
