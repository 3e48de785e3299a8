package sessionfile

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-3aff656d/entire/internal/database"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/session/transcript/plugintranscript"
)

// isDatabase reports whether a path is that of a database of OpenCode.
func isDatabase(path string) bool { return filepath.Ext(path) == ".db" }

// isRecord reports whether a path is that of a session in the files of an early version of OpenCode:
// storage/session/PROJECT/ID.json.
func isRecord(path string) bool {
	return filepath.Ext(path) == ".json" && filepath.Base(filepath.Dir(filepath.Dir(path))) == "session" && strings.HasPrefix(filepath.Base(path), "ses")
}

// inDatabase calls with with the database path.
func inDatabase(path string, with func(*database.Reader) error) (err error) {
	r, err := database.OpenReader(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return with(r)
}

// databaseSessions returns the sessions in a database that are not subagents'.
func databaseSessions(ctx context.Context, a agent.Agent, path string) (files []File, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	err = inDatabase(path, func(r *database.Reader) error {
		var all int64
		counts := map[string]int64{}
		err := r.Rows(ctx, "SELECT session_id, count(*) FROM part GROUP BY session_id", nil, func(scan func(...any) error) error {
			var id string
			var n int64
			if err := scan(&id, &n); err != nil {
				return err
			}
			counts[id], all = n, all+n
			return nil
		})
		if err != nil {
			return err
		}
		const query = "SELECT id, directory, time_created, time_updated FROM session WHERE coalesce(parent_id, '') = '' ORDER BY id"
		return r.Rows(ctx, query, nil, func(scan func(...any) error) error {
			f, err := row(a, path, scan)
			if parts := counts[f.ID]; parts > 0 {
				f.Size = info.Size() * parts / all
				f.Stamp += strconv.FormatInt(parts, 36)
				files = append(files, f)
			}
			return err
		})
	})
	return files, err
}

// row returns the session in a row with its id, its folder and its times. Its stamp lacks the number of its
// parts.
func row(a agent.Agent, path string, scan func(...any) error, more ...any) (File, error) {
	f := File{Agent: a, Path: path}
	var created, updated int64
	err := scan(append([]any{&f.ID, &f.Dir, &created, &updated}, more...)...)
	f.Start, f.End = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
	f.Stamp = strconv.FormatInt(updated, 36) + "."
	return f, err
}

// subagentRows returns the sessions of the subagents of a session in a database, and of theirs.
func (f File) subagentRows(ctx context.Context) (files []File, err error) {
	err = inDatabase(f.Path, func(r *database.Reader) error {
		const query = `WITH RECURSIVE sub(id) AS (
				SELECT id FROM session WHERE parent_id = ? UNION SELECT s.id FROM session s JOIN sub ON s.parent_id = sub.id
			) SELECT id, directory, time_created, time_updated,
				(SELECT count(*) FROM part p WHERE p.session_id = s.id), (SELECT coalesce(sum(length(data)), 0) FROM part p WHERE p.session_id = s.id)
			FROM session s WHERE id IN (SELECT id FROM sub)`
		return r.Rows(ctx, query, []any{f.ID}, func(scan func(...any) error) error {
			var parts, size int64
			sub, err := row(f.Agent, f.Path, scan, &parts, &size)
			if parts > 0 {
				sub.Size = size
				sub.Stamp += strconv.FormatInt(parts, 36)
				files = append(files, sub)
			}
			return err
		})
	})
	return files, err
}

// databaseLines yields the lines of a session in a database.
func (f File) databaseLines(ctx context.Context, yield func(line []byte) error) error {
	return inDatabase(f.Path, func(r *database.Reader) error {
		parent := func(id string) (parent string, err error) {
			return parent, r.Rows(ctx, "SELECT coalesce(parent_id, '') FROM session WHERE id = ?", []any{id}, func(scan func(...any) error) error {
				return scan(&parent)
			})
		}
		m, err := f.messages(parent)
		if err != nil {
			return err
		}
		c := conversation{messages: m, yield: yield}
		const query = `SELECT m.id, m.data, coalesce(p.id, ''), coalesce(p.data, '') FROM message m LEFT JOIN part p ON p.message_id = m.id
			WHERE m.session_id = ? ORDER BY m.time_created, m.id, p.id`
		err = r.Rows(ctx, query, []any{f.ID}, func(scan func(...any) error) error {
			var id, part string
			var data, partData []byte
			if err := scan(&id, &data, &part, &partData); err != nil {
				return err
			}
			if err := c.message(id, data); err != nil {
				return err
			}
			c.part(part, partData)
			return nil
		})
		if err != nil {
			return err
		}
		return c.end()
	})
}

// messages returns the session to which the messages in this one belong: the first in the line of its
// parents, of which this one is a subagent's. parent returns the parent of a session, "" if it has none.
func (f File) messages(parent func(id string) (string, error)) (plugintranscript.Messages, error) {
	const most = 100 // parents, in case they are damaged
	m := plugintranscript.Messages{Session: f.ID, Dir: f.Dir}
	for range most {
		of, err := parent(m.Session)
		if err != nil || of == "" {
			return m, err
		}
		m.Session, m.Subagent = of, f.ID
	}
	return m, nil
}

// conversation assembles messages of their parts.
type conversation struct {
	messages plugintranscript.Messages
	yield    func(line []byte) error

	id    string
	info  json.RawMessage
	parts []json.RawMessage
}

// message begins a message, unless it is the present one.
func (c *conversation) message(id string, info []byte) error {
	if id == c.id {
		return nil
	}
	if err := c.end(); err != nil {
		return err
	}
	c.id, c.info = id, with(info, "id", id, "sessionID", cmp.Or(c.messages.Subagent, c.messages.Session))
	return nil
}

// part adds a part of the message.
func (c *conversation) part(id string, data []byte) {
	if part := with(data, "id", id, "messageID", c.id, "sessionID", cmp.Or(c.messages.Subagent, c.messages.Session)); id != "" && part != nil {
		c.parts = append(c.parts, part)
	}
}

// end yields the lines of the message. One whose record is damaged is left out.
func (c *conversation) end() error {
	info, parts := c.info, c.parts
	c.info, c.parts = nil, nil
	if info == nil {
		return nil
	}
	message, err := encode(struct {
		Info  json.RawMessage   `json:"info"`
		Parts []json.RawMessage `json:"parts"`
	}{info, parts})
	if err != nil {
		return err
	}
	lines, err := c.messages.Lines(message)
	if err != nil {
		return nil //nolint:nilerr // fields of other types
	}
	for _, line := range lines {
		if err := c.yield(line); err != nil {
			return err
		}
	}
	return nil
}

// with returns an object with the members that pairs of names and texts name, nil if it isn't an object.
func with(object []byte, pairs ...string) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil || members == nil {
		return nil
	}
	for pair := range slices.Chunk(pairs, 2) { //nolint:mnd // a name and a text
		text, err := encode(pair[1])
		if err != nil {
			return nil
		}
		members[pair[0]] = text
	}
	out, err := encode(members)
	if err != nil {
		return nil
	}
	return out
}

// record is a session of an early version of OpenCode.
type record struct {
	ID     string `json:"id"`
	Parent string `json:"parentID"`
	Dir    string `json:"directory"`
	Time   struct {
		Created int64 `json:"created"`
		Updated int64 `json:"updated"`
	} `json:"time"`
}

// maxRecord is the size up to which a file of a record is read.
const maxRecord = 64 << 20

// readRecord reads a file of the store of an early version of OpenCode.
func readRecord(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, disk.ErrNotRegular
	case info.Size() > maxRecord:
		return nil, errLongDocument
	}
	return disk.ReadFile(path)
}

// openRecord returns the session in a file of an early version of OpenCode, and the id of the session of
// which it is a subagent's.
func openRecord(a agent.Agent, path string) (f File, parent string, err error) {
	data, err := readRecord(path)
	if err != nil {
		return File{}, "", err
	}
	if len(data) == 0 {
		return File{}, "", errEmpty
	}
	var r record
	if json.Unmarshal(data, &r) != nil || r.ID == "" || !filepath.IsLocal(r.ID) {
		return File{}, "", errDocument
	}
	f = File{Agent: a, ID: r.ID, Path: path, Dir: r.Dir, Start: time.UnixMilli(r.Time.Created).UTC(), End: time.UnixMilli(r.Time.Updated).UTC()}
	entries, err := os.ReadDir(f.recordDir("message"))
	if err != nil {
		return f, r.Parent, ErrNoSession
	}
	last := ""
	for _, e := range entries {
		if info, err := e.Info(); err == nil {
			f.Size += info.Size()
			last = max(last, strconv.FormatInt(info.ModTime().UnixNano(), 36))
		}
	}
	if len(entries) == 0 {
		return f, r.Parent, ErrNoSession
	}
	f.Stamp = strings.Join([]string{strconv.FormatInt(r.Time.Updated, 36), strconv.Itoa(len(entries)), strconv.FormatInt(f.Size, 36), last}, ".")
	return f, r.Parent, nil
}

// recordDir returns the folder of the session's records of a kind.
func (f File) recordDir(kind string, more ...string) string {
	storage := filepath.Dir(filepath.Dir(filepath.Dir(f.Path)))
	if kind == "message" {
		more = []string{f.ID}
	}
	return filepath.Join(append([]string{storage, kind}, more...)...)
}

// recordLines yields the lines of a session in the files of an early version of OpenCode.
func (f File) recordLines(ctx context.Context, yield func(line []byte) error) error {
	type message struct {
		id      string
		data    []byte
		created int64
	}
	var messages []message
	err := eachRecord(f.recordDir("message"), func(id string, data []byte) error {
		var m struct {
			Time struct {
				Created int64 `json:"created"`
			} `json:"time"`
		}
		_ = json.Unmarshal(data, &m) // a damaged message is left out below
		messages = append(messages, message{id: id, data: data, created: m.Time.Created})
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	slices.SortFunc(messages, func(a, b message) int { return cmp.Or(cmp.Compare(a.created, b.created), cmp.Compare(a.id, b.id)) })
	session, err := f.messages(func(id string) (string, error) {
		_, parent, err := openRecord(f.Agent, filepath.Join(filepath.Dir(f.Path), id+".json"))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNoSession) {
			err = nil
		}
		return parent, err
	})
	if err != nil {
		return err
	}
	c := conversation{messages: session, yield: yield}
	for _, m := range messages {
		if err := c.message(m.id, m.data); err != nil {
			return err
		}
		if err := eachRecord(f.recordDir("part", m.id), func(id string, data []byte) error {
			c.part(id, data)
			return ctx.Err()
		}); err != nil {
			return err
		}
	}
	return c.end()
}

// eachRecord calls yield with the id and the content of each file in a folder, by name. There are none if
// the folder is missing.
func eachRecord(dir string, yield func(id string, data []byte) error) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		id, isJSON := strings.CutSuffix(e.Name(), ".json")
		if !isJSON || !e.Type().IsRegular() {
			continue
		}
		data, err := readRecord(filepath.Join(dir, e.Name()))
		if err != nil {
			return fmt.Errorf("%s: %w", e.Name(), err)
		}
		if err := yield(id, data); err != nil {
			return err
		}
	}
	return nil
}

// listDatabase adds the sessions of a database.
func (s *search) listDatabase(ctx context.Context, a agent.Agent, path string) error {
	files, err := databaseSessions(ctx, a, path)
	if err != nil {
		s.skip(path, err)
		return ctx.Err()
	}
	for _, f := range files {
		s.known[f.ID] = true
		if s.selects(f) {
			s.files = append(s.files, f)
		}
	}
	return nil
}

// listRecords adds the sessions in the files of an early version of OpenCode. It has copied them to its
// database when it was updated.
func (s *search) listRecords(ctx context.Context, a agent.Agent, storage string) error {
	for _, path := range disk.Glob(filepath.Join(storage, "session"), "*", "ses*.json") {
		if err := ctx.Err(); err != nil {
			return err
		}
		f, parent, err := openRecord(a, path)
		switch {
		case errors.Is(err, ErrNoSession):
		case err == nil && parent != "":
			s.near.children[parent] = append(s.near.children[parent], f)
		case s.known[f.ID]:
		case err != nil:
			s.skip(path, err)
		case s.selects(f):
			f.near = s.near
			s.files = append(s.files, f)
		}
	}
	return nil
}

// storedSubagents returns the sessions of the session's subagents in OpenCode, and of theirs.
func (f File) storedSubagents(ctx context.Context) ([]File, error) {
	if isDatabase(f.Path) {
		files, err := f.subagentRows(ctx)
		if err != nil {
			return nil, fmt.Errorf("read %s: %s", f.Path, reasonOf(err))
		}
		return files, nil
	}
	if f.near != nil {
		return descendants(f.near.children, f.ID), nil
	}
	children := map[string][]File{}
	for _, path := range disk.Glob(filepath.Dir(f.Path), "ses*.json") {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if sub, parent, err := openRecord(f.Agent, path); err == nil && parent != "" {
			children[parent] = append(children[parent], sub)
		}
	}
	return descendants(children, f.ID), nil
}
