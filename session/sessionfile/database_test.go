package sessionfile_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	_ "github.com/seed-3aff656d/entire/internal/database/driver"
	"github.com/seed-3aff656d/entire/session/agent"
	"github.com/seed-3aff656d/entire/session/sessionfile"
)

// schema is that of the database of OpenCode 1.18, without the tables and columns that are not read.
const schema = "CREATE TABLE `session` (`id` text PRIMARY KEY, `project_id` text NOT NULL, `parent_id` text, `slug` text NOT NULL, `directory` text NOT NULL, " +
	"`title` text NOT NULL, `version` text NOT NULL, `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `time_archived` integer);" +
	"CREATE TABLE `message` (`id` text PRIMARY KEY, `session_id` text NOT NULL, `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL);" +
	"CREATE TABLE `part` (`id` text PRIMARY KEY, `message_id` text NOT NULL, `session_id` text NOT NULL, `time_created` integer NOT NULL, `time_updated` integer NOT NULL, `data` text NOT NULL);" +
	"CREATE INDEX `message_session_idx` ON `message` (`session_id`);" +
	"CREATE INDEX `part_session_idx` ON `part` (`session_id`);"

// newDatabase creates a database as OpenCode does, with a write-ahead log.
func newDatabase(t *testing.T, path string) *sql.DB {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	execute(t, db, schema)
	return db
}

func execute(t *testing.T, db *sql.DB, query string, args ...any) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query, args...); err != nil {
		t.Fatal(err)
	}
}

func addSession(t *testing.T, db *sql.DB, id, parent, dir string) {
	t.Helper()
	execute(t, db, "INSERT INTO session VALUES (?, 'p', nullif(?, ''), 's', ?, 't', '1', 1795353000000, 1795353060000, NULL)", id, parent, dir)
}

// addMessage adds a message of a role, with a text and the other parts, to a session.
func addMessage(t *testing.T, db *sql.DB, session, id, role string, created int, parts ...string) {
	t.Helper()
	execute(t, db, "INSERT INTO message VALUES (?, ?, ?, ?, ?)", id, session, created, created, fmt.Sprintf(`{"role":%q,"time":{"created":%d,"completed":%d},"tokens":{"input":7,"output":3,"cache":{"read":0,"write":0}}}`, role, created, created+1))
	for i, part := range parts {
		execute(t, db, "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", fmt.Sprintf("prt_%s_%d", id, i), id, session, created, created, part)
	}
}

func addConversation(t *testing.T, db *sql.DB, session, prompt string) {
	t.Helper()
	addMessage(t, db, session, "msg_2_"+session, "assistant", 1795353002000,
		`{"type":"step-start"}`,
		`{"type":"tool","tool":"write","callID":"c1","state":{"status":"completed","input":{"filePath":"/p/new.txt","content":"a\n"},"output":"","metadata":{},"time":{"start":1795353001500,"end":1795353001600}}}`,
		`{"type":"text","text":"Done."}`)
	addMessage(t, db, session, "msg_1_"+session, "user", 1795353001000, fmt.Sprintf(`{"type":"text","text":%q}`, prompt))
}

// content returns the content of the files of a folder by their names, without shared memory.
func content(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(e.Name(), "-shm") { // the locks of readers are in it
			all[e.Name()] = string(data)
		}
	}
	return all
}

const opencode = ".local/share/opencode"

func TestDatabase(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		state func(t *testing.T, db *sql.DB, dir string) string
	}{
		"closed": {func(t *testing.T, db *sql.DB, dir string) string {
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			return dir
		}},
		"open in the agent": {func(t *testing.T, db *sql.DB, dir string) string {
			t.Cleanup(func() { _ = db.Close() })
			return dir
		}},
		"left by a killed agent": {func(t *testing.T, db *sql.DB, dir string) string {
			left := filepath.Join(t.TempDir(), opencode)
			copyTree(t, dir, left)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			if err := os.Remove(filepath.Join(left, "opencode.db-shm")); err != nil {
				t.Fatal(err)
			}
			return left
		}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), opencode)
			db := newDatabase(t, filepath.Join(dir, "opencode.db"))
			addSession(t, db, "ses_1", "", "/p/sub")
			addSession(t, db, "ses_2", "ses_1", "/p/sub")
			addSession(t, db, "ses_3", "ses_2", "/p/sub")
			addSession(t, db, "ses_other", "", "/q")
			addSession(t, db, "ses_empty", "", "/p")
			for _, id := range []string{"ses_1", "ses_2", "ses_3", "ses_other"} {
				addConversation(t, db, id, "Write "+id)
			}
			dir = tt.state(t, db, dir)
			before := content(t, dir)
			home := strings.TrimSuffix(dir, opencode)
			files, skipped, err := sessionfile.Find(t.Context(), query(home, "/p"))
			if err != nil || len(skipped) > 0 || len(files) != 1 {
				t.Fatal(files, skipped, err)
			}
			f := files[0]
			if f.ID != "ses_1" || f.Dir != "/p/sub" || f.Agent.Name != agent.OpenCode().Name || f.Start.UnixMilli() != 1795353000000 || f.End.UnixMilli() != 1795353060000 || f.Size == 0 || f.Stamp == "" {
				t.Errorf("%+v", f)
			}
			if got, want := summary(t, f), `["Write ses_1"], ["new.txt"], 10 tokens, 0 bad`; got != want {
				t.Error(got)
			}
			if got, want := string(linesOf(t, f)[0]), `{"opencode":1,"timestamp":"2026-11-22T13:10:01.001Z","sessionId":"ses_1","cwd":"/p/sub","message":{"info":{"id":"msg_1_ses_1","role":"user","sessionID":"ses_1"`; !strings.HasPrefix(got, want) {
				t.Error(got)
			}
			subs, err := f.Subagents(t.Context())
			if err != nil || len(subs) != 2 || subs[0].ID != "ses_2" || subs[1].ID != "ses_3" {
				t.Fatal(subs, err)
			}
			if got, want := string(linesOf(t, subs[1])[0]), `{"opencode":1,"timestamp":"2026-11-22T13:10:01.001Z","sessionId":"ses_1","agentId":"ses_3","cwd":"/p/sub",`; !strings.HasPrefix(got, want) {
				t.Error(got)
			}
			if d := cmp.Diff(before, content(t, dir)); d != "" {
				t.Error("reading changed the files of the database:", d[:min(len(d), 500)])
			}
		})
	}
}

func TestDamagedDatabase(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no database": "not a database, but a text of some length, longer than the header",
		"empty":       "",
		"cut":         "SQLite format 3\x00\x10\x00\x02\x02",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			path := filepath.Join(home, opencode, "opencode.db")
			write(t, path, text)
			files, skipped, err := sessionfile.Find(t.Context(), query(home, "/p"))
			if err != nil || len(files) > 0 || len(skipped) != 1 || skipped[0].Path != path || skipped[0].Reason == "" {
				t.Error(files, skipped, err)
			}
		})
	}
}

func TestDamagedRow(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	db := newDatabase(t, filepath.Join(home, opencode, "opencode.db"))
	t.Cleanup(func() { _ = db.Close() })
	addSession(t, db, "ses_1", "", "/p")
	addConversation(t, db, "ses_1", "Write it")
	execute(t, db, "INSERT INTO message VALUES ('msg_0', 'ses_1', 1, 1, 'no JSON'), ('msg_9', 'ses_1', 1795353003000, 1, '[]'), ('msg_99', 'ses_1', 1795353004000, 1, '{\"role\":\"user\",\"time\":5}')")
	execute(t, db, "INSERT INTO part VALUES ('prt_0', 'msg_1_ses_1', 'ses_1', 1, 1, 'null')")
	files, _, err := sessionfile.Find(t.Context(), query(home, "/p"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	if got, want := summary(t, files[0]), `["Write it"], ["new.txt"], 10 tokens, 0 bad`; got != want {
		t.Error(got)
	}
}

// TestRecords finds the sessions in the files of an early version of OpenCode, but for those that are in
// the database.
func TestRecords(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	storage := filepath.Join(home, opencode, "storage")
	session := func(id, parent, dir string) {
		write(t, filepath.Join(storage, "session", "project", id+".json"), fmt.Sprintf(`{"id":%q,"parentID":%q,"directory":%q,"time":{"created":1795353000000,"updated":1795353060000}}`, id, parent, dir))
		write(t, filepath.Join(storage, "message", id, "msg_2.json"), `{"id":"msg_2","role":"assistant","sessionID":"`+id+`","modelID":"m","time":{"created":1795353002000,"completed":1795353003000},"tokens":{"input":7,"output":3}}`)
		write(t, filepath.Join(storage, "message", id, "msg_1.json"), `{"id":"msg_1","role":"user","sessionID":"`+id+`","time":{"created":1795353001000}}`)
	}
	write(t, filepath.Join(storage, "part", "msg_1", "prt_1.json"), `{"id":"prt_1","type":"text","text":"Write it"}`)
	write(t, filepath.Join(storage, "part", "msg_2", "prt_1.json"), `{"id":"prt_1","type":"text","text":"I'll do it."}`)
	write(t, filepath.Join(storage, "part", "msg_2", "prt_2.json"), `{"type":"tool","tool":"edit","callID":"c1","state":{"status":"completed","input":{"filePath":"/p/old.txt","oldString":"a","newString":"b"}}}`)
	session("ses_1", "", "/p")
	session("ses_2", "ses_1", "/p")
	session("ses_moved", "", "/p")
	session("ses_other", "", "/q")
	write(t, filepath.Join(storage, "session", "project", "ses_broken.json"), `{"id":`)
	write(t, filepath.Join(storage, "session", "project", "ses_empty.json"), "")
	write(t, filepath.Join(storage, "session", "project", "ses_new.json"), `{"id":"ses_new","directory":"/p","time":{"created":1,"updated":1}}`)
	db := newDatabase(t, filepath.Join(home, opencode, "opencode.db"))
	addSession(t, db, "ses_moved", "", "/p")
	addConversation(t, db, "ses_moved", "In the database")
	t.Cleanup(func() { _ = db.Close() })

	files, skipped, err := sessionfile.Find(t.Context(), query(home, "/p"))
	if err != nil || len(files) != 2 {
		t.Fatal(files, skipped, err)
	}
	var reasons []string
	for _, s := range skipped {
		reasons = append(reasons, filepath.Base(s.Path)+": "+s.Reason)
	}
	if d := cmp.Diff([]string{"ses_broken.json: it is a damaged JSON document", "ses_empty.json: it is empty"}, reasons); d != "" {
		t.Error(d)
	}
	if got, want := summary(t, files[0]), `["Write it"], ["old.txt"], 10 tokens, 0 bad`; files[0].ID != "ses_1" || got != want {
		t.Errorf("%s: %s", files[0].ID, got)
	}
	if got, want := summary(t, files[1]), `["In the database"], ["new.txt"], 10 tokens, 0 bad`; files[1].ID != "ses_moved" || got != want {
		t.Errorf("%s: %s", files[1].ID, got)
	}
	subs, err := files[0].Subagents(t.Context())
	if err != nil || len(subs) != 1 || subs[0].ID != "ses_2" {
		t.Error(subs, err)
	}
	f, err := sessionfile.Open(t.Context(), files[0].Path, agent.Agent{})
	if err != nil {
		t.Fatal(err)
	}
	if subs, err = f.Subagents(t.Context()); err != nil || len(subs) != 1 || subs[0].ID != "ses_2" {
		t.Error(subs, err)
	}
	f, err = sessionfile.Open(t.Context(), filepath.Join(storage, "session", "project", "ses_other.json"), agent.Agent{})
	if err != nil || f.ID != "ses_other" || f.Dir != "/q" || len(linesOf(t, f)) != 2 {
		t.Error(f, err)
	}
}

// TestRecordedDatabase reads the rows of the genuine client's database.
func TestRecordedDatabase(t *testing.T) {
	t.Parallel()
	dir := samples(t)
	home := t.TempDir()
	db := newDatabase(t, filepath.Join(home, opencode, "opencode.db"))
	t.Cleanup(func() { _ = db.Close() })
	for _, example := range []string{"1-write-shell", "2-clear", "3-subagent"} {
		data, err := os.ReadFile(filepath.Join(dir, "opencode", example, "session", "opencode.db.jsonl"))
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			var r struct {
				Table   string          `json:"table"`
				ID      string          `json:"id"`
				Session string          `json:"session_id"`
				Message string          `json:"message_id"`
				Parent  string          `json:"parent_id"`
				Dir     string          `json:"directory"`
				Created int64           `json:"time_created"`
				Updated int64           `json:"time_updated"`
				Data    json.RawMessage `json:"data"`
			}
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			switch r.Table {
			case "session":
				execute(t, db, "INSERT INTO session VALUES (?, 'p', nullif(?, ''), 's', ?, 't', '1', ?, ?, NULL)", r.ID, r.Parent, r.Dir, r.Created, r.Updated)
			case "message":
				execute(t, db, "INSERT INTO message VALUES (?, ?, ?, ?, ?)", r.ID, r.Session, r.Created, r.Updated, string(r.Data))
			case "part":
				execute(t, db, "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", r.ID, r.Message, r.Session, r.Created, r.Updated, string(r.Data))
			}
		}
	}
	files, skipped, err := sessionfile.Find(t.Context(), query(home, "/home/dev/project"))
	if err != nil || len(skipped) > 0 {
		t.Fatal(skipped, err)
	}
	var got []string
	for _, f := range files {
		got = append(got, summary(t, f))
		subs, err := f.Subagents(t.Context())
		if err != nil {
			t.Error(err)
		}
		for _, s := range subs {
			got = append(got, "+"+s.ID+" "+summary(t, s))
		}
	}
	want := []string{
		`["Write two pages in docs and name them in the readme" "Add one more line to made.txt and commit"], ["start.md" "end.md" "README.md"], 8540 tokens, 0 bad`,
		`["Write the first page"], ["first.md"], 2440 tokens, 0 bad`,
		`["Write the second page"], ["second.md"], 2440 tokens, 0 bad`,
		`["Now delegate the page to a subagent"], [], 2440 tokens, 0 bad`,
		`+ses_dfc983c5affeL9J2FaaeK3fEfC [], ["sub.md"], 3660 tokens, 0 bad`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
