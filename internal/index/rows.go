package index

import (
	"context"
	"database/sql"
	"time"
	"unicode/utf8"
)

// Session is what the index has of a session.
type Session struct {
	// Name is the agent's id of it.
	Name, Agent, Worktree string
	// Live is the path of its live transcript, empty if there is none, and Cursor how far
	// that is read, in the words of who fills the index.
	Live, Cursor string
}

// Turn is a turn as it is filled in.
type Turn struct {
	// Key distinguishes it in its session.
	Key int64
	// Line is its first line in the transcript, End the line behind its last one.
	Line, End int
	At, Ended time.Time
	Branch    string
	// Prompt is in one line.
	Prompt   string
	Calls    []Call
	Files    []FileChange
	Messages []Message
	// Texts are by kind; that of File is made of Files.
	Texts [kinds]string
}

// Outcome is how a command ended.
type Outcome int

// The outcomes.
const (
	Unknown Outcome = iota
	Passed
	Failed
)

// Call is a use of a tool.
type Call struct {
	Line int
	At   time.Time
	Tool string
	// Text is the command, if it is one, else what describes the use.
	Text    string
	Command bool
	Outcome Outcome
	// Status is the exit status, -1 if it isn't known.
	Status int
	// Agent is the subagent's id, empty for the session's own.
	Agent string
}

// FileChange is a file that a turn changed.
type FileChange struct {
	Path           string
	Added, Removed int
	// Edited reports that an edit tool named it, Observed that snapshots differ in it.
	Edited, Observed bool
	// Before and After are the beginnings of hashes of its contents, empty if they aren't
	// known; a zero byte for no file.
	Before, After []byte
}

const (
	sourceEdit = 1 << iota
	sourceSnapshot
)

func (f *FileChange) source() (bits int) {
	if f.Edited {
		bits |= sourceEdit
	}
	if f.Observed {
		bits |= sourceSnapshot
	}
	return bits
}

// Message is a message of a model.
type Message struct {
	// ID is a hash of its id.
	ID    int64
	Model string
	// Subagent reports that a subagent had it.
	Subagent bool
	Tokens
}

// Tokens counts tokens by kind.
type Tokens struct{ Input, CacheWrite, CacheRead, Output int64 }

// Plus is the sum.
func (t Tokens) Plus(o Tokens) Tokens {
	return Tokens{t.Input + o.Input, t.CacheWrite + o.CacheWrite, t.CacheRead + o.CacheRead, t.Output + o.Output}
}

// Total is the sum of all kinds.
func (t Tokens) Total() int64 { return t.Input + t.CacheWrite + t.CacheRead + t.Output }

// FindSession returns a session and its row's id; 0 if there is none.
func (w *Writer) FindSession(ctx context.Context, name string) (s Session, id int64, err error) {
	_, err = w.row(ctx, "SELECT id, name, agent, worktree, live, cursor FROM sessions WHERE name = ?", []any{name}, &id, &s.Name, &s.Agent, &s.Worktree, &s.Live, &s.Cursor)
	return s, id, err
}

// PutSession writes a session and returns its row's id. What is empty in it stays as it
// was.
func (w *Writer) PutSession(ctx context.Context, s Session) (id int64, err error) {
	_, err = w.exec(ctx, `INSERT INTO sessions(name, agent, worktree, live, cursor) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET
    agent = CASE excluded.agent WHEN '' THEN agent ELSE excluded.agent END, worktree = CASE excluded.worktree WHEN '' THEN worktree ELSE excluded.worktree END,
    live = CASE excluded.live WHEN '' THEN live ELSE excluded.live END, cursor = CASE excluded.cursor WHEN '' THEN cursor ELSE excluded.cursor END`,
		s.Name, s.Agent, s.Worktree, s.Live, s.Cursor)
	if err != nil {
		return 0, err
	}
	_, err = w.row(ctx, "SELECT id FROM sessions WHERE name = ?", []any{s.Name}, &id)
	return id, err
}

// PutTurn writes a turn of a session in the place of what there was of it, unless that had
// more lines, and returns its row's id.
func (w *Writer) PutTurn(ctx context.Context, session int64, t *Turn) (id int64, err error) {
	var line, end int
	found, err := w.row(ctx, "SELECT id, line, ending FROM turns WHERE session = ? AND key = ?", []any{session, t.Key}, &id, &line, &end)
	if err != nil || found && end-line > t.End-t.Line {
		return id, err
	}
	branch := utf8Of(t.Branch)
	if found {
		_, err = w.exec(ctx, "UPDATE turns SET line = ?, ending = ?, at = ?, ended = ?, branch = ?, prompt = ? WHERE id = ?",
			t.Line, t.End, millis(t.At), millis(t.Ended), branch, utf8Of(t.Prompt), id)
	} else {
		var result sql.Result
		result, err = w.exec(ctx, `INSERT INTO turns(session, key, line, ending, at, ended, branch, prompt, commands, failed, files, added, removed)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, 0, 0, 0)`, session, t.Key, t.Line, t.End, millis(t.At), millis(t.Ended), branch, utf8Of(t.Prompt))
		if err == nil {
			id, err = result.LastInsertId()
		}
	}
	if err != nil {
		return 0, err
	}
	for _, put := range []func(context.Context, int64, *Turn, bool) error{w.putCalls, w.putEdits, w.putMessages} {
		if err := put(ctx, id, t, found); err != nil {
			return 0, err
		}
	}
	if err := w.sum(ctx, id); err != nil {
		return 0, err
	}
	return id, w.putTexts(ctx, id, t.Texts, found)
}

func utf8Of(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return string([]rune(text))
}

func (w *Writer) putCalls(ctx context.Context, turn int64, t *Turn, replace bool) error {
	if replace {
		if _, err := w.exec(ctx, "DELETE FROM calls WHERE turn = ? AND agent = ''", turn); err != nil {
			return err
		}
	}
	return w.addCalls(ctx, turn, t.Calls, "")
}

func (w *Writer) addCalls(ctx context.Context, turn int64, calls []Call, agent string) error {
	for _, c := range calls {
		_, err := w.exec(ctx, "INSERT INTO calls(turn, line, at, tool, text, command, outcome, status, agent) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			turn, c.Line, millis(c.At), utf8Of(c.Tool), utf8Of(c.Text), c.Command, int(c.Outcome), c.Status, agent)
		if err != nil {
			return err
		}
	}
	return nil
}

// putEdits writes the files that edit tools named; what snapshots have of files stays.
func (w *Writer) putEdits(ctx context.Context, turn int64, t *Turn, replace bool) error {
	if replace {
		for _, query := range []string{"DELETE FROM files WHERE turn = ? AND source = 1", "UPDATE files SET source = 2 WHERE turn = ?"} {
			if _, err := w.exec(ctx, query, turn); err != nil {
				return err
			}
		}
	}
	return w.putFiles(ctx, turn, t.Files)
}

// putFiles adds files to a turn. The lines that snapshots count stand above those of edits.
func (w *Writer) putFiles(ctx context.Context, turn int64, files []FileChange) error {
	for i := range files {
		f := &files[i]
		path, err := w.idOf(ctx, "paths", "path", utf8Of(f.Path))
		if err != nil {
			return err
		}
		_, err = w.exec(ctx, `INSERT INTO files(turn, path, added, removed, source, before, after) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (turn, path) DO UPDATE SET source = source | excluded.source,
    added = CASE WHEN excluded.source & 2 OR NOT source & 2 THEN excluded.added ELSE added END,
    removed = CASE WHEN excluded.source & 2 OR NOT source & 2 THEN excluded.removed ELSE removed END,
    before = CASE WHEN excluded.source & 2 THEN excluded.before ELSE before END, after = CASE WHEN excluded.source & 2 THEN excluded.after ELSE after END`,
			turn, path, f.Added, f.Removed, f.source(), notNil(f.Before), notNil(f.After))
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

// AddFiles adds to a turn the files in which snapshots differ.
func (w *Writer) AddFiles(ctx context.Context, turn int64, files []FileChange) error {
	if len(files) == 0 {
		return nil
	}
	if err := w.putFiles(ctx, turn, files); err != nil {
		return err
	}
	if err := w.sum(ctx, turn); err != nil {
		return err
	}
	texts, err := w.textsOf(ctx, turn)
	if err != nil {
		return err
	}
	return w.putTexts(ctx, turn, texts, true)
}

// sum writes the counts of a turn.
func (w *Writer) sum(ctx context.Context, turn int64) error {
	_, err := w.exec(ctx, `UPDATE turns SET
    (commands, failed) = (SELECT count(*), ifnull(sum(outcome = 2), 0) FROM calls WHERE turn = ?1 AND command),
    (files, added, removed) = (SELECT count(*), ifnull(sum(added), 0), ifnull(sum(removed), 0) FROM files WHERE turn = ?1)
WHERE id = ?1`, turn)
	return err
}

// putMessages writes the tokens of a turn. A message that another turn has stays that one's.
func (w *Writer) putMessages(ctx context.Context, turn int64, t *Turn, replace bool) error {
	if replace {
		if _, err := w.exec(ctx, "DELETE FROM messages WHERE turn = ? AND NOT sub", turn); err != nil {
			return err
		}
	}
	return w.addMessages(ctx, turn, t.Messages)
}

// PutSubagent writes what a subagent of a turn did and used, in the place of what there was.
func (w *Writer) PutSubagent(ctx context.Context, turn int64, agent string, calls []Call, messages []Message) error {
	if _, err := w.exec(ctx, "DELETE FROM calls WHERE turn = ? AND agent = ?", turn, agent); err != nil {
		return err
	}
	if err := w.addCalls(ctx, turn, calls, agent); err != nil {
		return err
	}
	if err := w.addMessages(ctx, turn, messages); err != nil {
		return err
	}
	return w.sum(ctx, turn)
}

func (w *Writer) addMessages(ctx context.Context, turn int64, messages []Message) error {
	touched := map[int64]bool{turn: true}
	for _, m := range messages {
		model, err := w.idOf(ctx, "models", "name", utf8Of(m.Model))
		if err != nil {
			return err
		}
		result, err := w.exec(ctx, "INSERT INTO messages VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
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
		var owner int64
		if _, err := w.row(ctx, `UPDATE messages SET input = ?, cache_write = ?, cache_read = ?, output = ? WHERE id = ? AND output < ? RETURNING turn`,
			[]any{m.Input, m.CacheWrite, m.CacheRead, m.Output, m.ID, m.Output}, &owner); err != nil {
			return err
		}
		touched[owner] = true
	}
	delete(touched, 0)
	for id := range touched {
		if err := w.sumTokens(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) sumTokens(ctx context.Context, turn int64) error {
	if _, err := w.exec(ctx, "DELETE FROM spent WHERE turn = ?", turn); err != nil {
		return err
	}
	_, err := w.exec(ctx, `INSERT INTO spent SELECT turn, model, sub, sum(input), sum(cache_write), sum(cache_read), sum(output), count(*)
FROM messages WHERE turn = ? GROUP BY model, sub`, turn)
	return err
}

// putTexts writes the texts of a turn, and its words.
func (w *Writer) putTexts(ctx context.Context, turn int64, texts [kinds]string, replace bool) error {
	paths, err := w.pathsOf(ctx, turn)
	if err != nil {
		return err
	}
	texts[File] = paths
	if replace {
		for _, query := range []string{"DELETE FROM words WHERE rowid = ?1", "DELETE FROM texts WHERE id BETWEEN ?1 * 8 AND ?1 * 8 + 7"} {
			if _, err := w.exec(ctx, query, turn); err != nil {
				return err
			}
		}
	}
	args := []any{turn}
	for kind, text := range texts {
		args = append(args, normal(text))
		if text == "" {
			continue
		}
		if _, err := w.exec(ctx, "INSERT INTO texts VALUES (?, ?)", turn*textIDs+int64(kind), w.compress(text)); err != nil {
			return err
		}
	}
	_, err = w.exec(ctx, "INSERT INTO words(rowid, prompt, answer, command, output, file) VALUES (?, ?, ?, ?, ?, ?)", args...)
	return err
}

func (w *Writer) pathsOf(ctx context.Context, turn int64) (string, error) {
	var paths sql.NullString
	_, err := w.row(ctx, "SELECT group_concat(p.path, char(10)) FROM files f JOIN paths p ON p.id = f.path WHERE f.turn = ?", []any{turn}, &paths)
	return cut(paths.String, maxText), err
}

// maxText is how many bytes of the paths of a turn are searched.
const maxText = 32 << 10

func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

func (w *Writer) textsOf(ctx context.Context, turn int64) (texts [kinds]string, err error) {
	for kind := range texts {
		var z []byte
		found, err := w.row(ctx, "SELECT z FROM texts WHERE id = ?", []any{turn*textIDs + int64(kind)}, &z)
		if err != nil {
			return texts, err
		}
		if !found {
			continue
		}
		if w.unzip == nil {
			if w.unzip, err = newDecoder(); err != nil {
				return texts, err
			}
		}
		if texts[kind], err = decompress(w.unzip, z); err != nil {
			return texts, err
		}
	}
	return texts, nil
}

// Part is what a checkpoint has of a session: its turns.
type Part struct {
	Checkpoint, Branch string
	At                 time.Time
	// Session is the row's id; the part begins at the line From and ends before To, 0 for
	// the end.
	Session  int64
	From, To int
	// Turns are the rows of turns that are in it besides.
	Turns []int64
}

// PutPart writes a part of a checkpoint.
func (w *Writer) PutPart(ctx context.Context, p Part) error {
	checkpoint, err := w.putCheckpoint(ctx, p)
	if err != nil {
		return err
	}
	for _, turn := range p.Turns {
		if _, err := w.exec(ctx, "INSERT OR IGNORE INTO parts VALUES (?, ?)", checkpoint, turn); err != nil {
			return err
		}
	}
	if p.Session == 0 {
		return nil
	}
	if p.To == 0 {
		p.To = 1 << 40
	}
	_, err = w.exec(ctx, "INSERT OR IGNORE INTO parts SELECT ?, id FROM turns WHERE session = ? AND line < ? AND ending > ?", checkpoint, p.Session, p.To, p.From)
	return err
}

func (w *Writer) putCheckpoint(ctx context.Context, p Part) (id int64, err error) {
	_, err = w.exec(ctx, "INSERT INTO checkpoints(name, at, branch) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET at = excluded.at, branch = excluded.branch",
		p.Checkpoint, millis(p.At), utf8Of(p.Branch))
	if err != nil {
		return 0, err
	}
	_, err = w.row(ctx, "SELECT id FROM checkpoints WHERE name = ?", []any{p.Checkpoint}, &id)
	return id, err
}

// DropCheckpoint removes a checkpoint and its parts; turns stay.
func (w *Writer) DropCheckpoint(ctx context.Context, name string) error {
	for _, query := range []string{"DELETE FROM parts WHERE checkpoint = (SELECT id FROM checkpoints WHERE name = ?)", "DELETE FROM checkpoints WHERE name = ?"} {
		if _, err := w.exec(ctx, query, name); err != nil {
			return err
		}
	}
	return nil
}

// Linked returns the turns of a session that are in a checkpoint other than name.
func (w *Writer) Linked(ctx context.Context, session int64, name string) (turns map[int64]bool, err error) {
	s, err := w.prepared(ctx, `SELECT p.turn FROM parts p JOIN turns t ON t.id = p.turn JOIN checkpoints c ON c.id = p.checkpoint WHERE t.session = ? AND c.name <> ?`) //nolint:sqlclosecheck // the Writer closes it
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(ctx, session, name)
	if err != nil {
		return nil, explain(err)
	}
	defer func() { _ = rows.Close() }()
	turns = map[int64]bool{}
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, explain(err)
		}
		turns[id] = true
	}
	return turns, explain(rows.Err())
}

// Commit is a commit that names a checkpoint.
type Commit struct {
	OID, Checkpoint        string
	At                     time.Time
	Author, Email, Subject string
}

// PutCommit writes a commit.
func (w *Writer) PutCommit(ctx context.Context, c Commit) error {
	_, err := w.exec(ctx, "INSERT OR REPLACE INTO commits VALUES (?, ?, ?, ?, ?, ?)", c.OID, c.Checkpoint, millis(c.At), utf8Of(c.Author), utf8Of(c.Email), utf8Of(c.Subject))
	return err
}

// DropCommit removes a commit, all if oid is empty.
func (w *Writer) DropCommit(ctx context.Context, oid string) error {
	if oid == "" {
		_, err := w.exec(ctx, "DELETE FROM commits")
		return err
	}
	_, err := w.exec(ctx, "DELETE FROM commits WHERE oid = ?", oid)
	return err
}

// Snapshot is a snapshot of a turn.
type Snapshot struct {
	Version int
	Cause   string
	At      time.Time
	// Base is the snapshot that the turn began with, 0 if there is none.
	Base int
}

// PutSnapshot writes a snapshot of a turn.
func (w *Writer) PutSnapshot(ctx context.Context, turn int64, s Snapshot) error {
	_, err := w.exec(ctx, "INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?, ?)", s.Version, turn, s.Cause, millis(s.At), s.Base)
	return err
}

// TurnAt returns the turn of a session that a line before end belongs to, 0 if there is none.
func (w *Writer) TurnAt(ctx context.Context, session int64, end int) (id int64, err error) {
	_, err = w.row(ctx, "SELECT id FROM turns WHERE session = ? AND line < ? ORDER BY line DESC LIMIT 1", []any{session, end}, &id)
	return id, err
}

// TurnBy returns the last turn of a session that began by a time, 0 if there is none.
func (w *Writer) TurnBy(ctx context.Context, session int64, at time.Time) (id int64, err error) {
	_, err = w.row(ctx, "SELECT id FROM turns WHERE session = ? AND at <= ? ORDER BY at DESC LIMIT 1", []any{session, millis(at)}, &id)
	return id, err
}

// SeenBlobs reports whether a set of blobs is noted as read, and notes it.
func (w *Writer) SeenBlobs(ctx context.Context, hash int64) (seen bool, err error) {
	result, err := w.exec(ctx, "INSERT OR IGNORE INTO blobs VALUES (?)", hash)
	if err != nil {
		return false, err
	}
	n, err := result.RowsAffected()
	return n == 0, err
}

// DropUnlinked removes the turns of a session that are in no checkpoint: its state is gone.
func (w *Writer) DropUnlinked(ctx context.Context, name string) error {
	_, session, err := w.FindSession(ctx, name)
	if err != nil || session == 0 {
		return err
	}
	var turns []int64
	for {
		var turn int64
		found, err := w.row(ctx, "SELECT id FROM turns WHERE session = ? AND id > ? AND NOT EXISTS (SELECT 1 FROM parts WHERE turn = turns.id) ORDER BY id LIMIT 1",
			[]any{session, lastOf(turns)}, &turn)
		if err != nil {
			return err
		}
		if !found {
			break
		}
		turns = append(turns, turn)
	}
	for _, turn := range turns {
		for _, query := range []string{
			"DELETE FROM words WHERE rowid = ?", "DELETE FROM calls WHERE turn = ?", "DELETE FROM files WHERE turn = ?", "DELETE FROM messages WHERE turn = ?",
			"DELETE FROM spent WHERE turn = ?", "DELETE FROM snapshots WHERE turn = ?", "DELETE FROM turns WHERE id = ?",
			"DELETE FROM texts WHERE id BETWEEN ?1 * 8 AND ?1 * 8 + 7",
		} {
			if _, err := w.exec(ctx, query, turn); err != nil {
				return err
			}
		}
	}
	_, err = w.exec(ctx, "UPDATE sessions SET live = '', cursor = '' WHERE id = ?", session)
	return err
}

func lastOf(turns []int64) int64 {
	if len(turns) == 0 {
		return 0
	}
	return turns[len(turns)-1]
}
