package main

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
)

// cmdOpenCodeDB creates the database of OpenCode: opencode-db <database> <rows>. Each row is a line of JSON
// with its table. Paths are relative to the script's folder.
func cmdOpenCodeDB(s *story, args []string) {
	if len(args) != 2 { //nolint:mnd // the database and the rows
		s.ts.Fatalf("usage: opencode-db <database> <rows>")
	}
	work := s.ts.Getenv("WORK")
	path := filepath.Join(work, args[0])
	rows, err := os.ReadFile(filepath.Join(work, args[1]))
	s.ts.Check(err)
	s.ts.Check(os.MkdirAll(filepath.Dir(path), 0o700))
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)")
	s.ts.Check(err)
	defer func() { s.ts.Check(db.Close()) }()
	execute := func(query string, args ...any) {
		_, err := db.Exec(query, args...)
		s.ts.Check(err)
	}
	execute(`CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL);
		CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer, data text NOT NULL);
		CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, data text NOT NULL)`)
	for line := range bytes.Lines(rows) {
		var r struct {
			Table   string          `json:"table"`
			ID      string          `json:"id"`
			Session string          `json:"session_id"`
			Message string          `json:"message_id"`
			Parent  *string         `json:"parent_id"`
			Dir     string          `json:"directory"`
			Created int64           `json:"time_created"`
			Updated int64           `json:"time_updated"`
			Data    json.RawMessage `json:"data"`
		}
		s.ts.Check(json.Unmarshal(line, &r))
		switch r.Table {
		case "session":
			execute("INSERT INTO session VALUES (?, ?, ?, ?, ?)", r.ID, r.Parent, r.Dir, r.Created, r.Updated)
		case "message":
			execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", r.ID, r.Session, r.Created, r.Updated, string(r.Data))
		case "part":
			execute("INSERT INTO part VALUES (?, ?, ?, ?)", r.ID, r.Message, r.Session, string(r.Data))
		default:
			s.ts.Fatalf("no such table: %s", r.Table)
		}
	}
}
