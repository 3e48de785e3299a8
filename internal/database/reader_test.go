package database_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/internal/database"
	_ "github.com/seed-3aff656d/entire/internal/database/driver"
)

func TestReader(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "a database %20#1.db")
	write := func(query string) {
		t.Helper()
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = db.ExecContext(t.Context(), query)
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := database.OpenReader(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("a missing database:", err)
	}
	write("PRAGMA journal_mode = wal; CREATE TABLE n (i integer); INSERT INTO n VALUES (1), (2), (3)")
	read := func(r *database.Reader) (sum int, err error) {
		return sum, r.Rows(t.Context(), "SELECT i FROM n WHERE i > ?", []any{1}, func(scan func(...any) error) error {
			var i int
			err := scan(&i)
			sum += i
			return err
		})
	}
	r, err := database.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := read(r); sum != 5 || err != nil {
		t.Error(sum, err)
	}
	if err := r.Rows(t.Context(), "DELETE FROM n", nil, nil); err == nil {
		t.Error("a reader deleted rows")
	}
	stop := errors.New("stop")
	if err := r.Rows(t.Context(), "SELECT i FROM n", nil, func(func(...any) error) error { return stop }); !errors.Is(err, stop) {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Error("reading created files:", entries, err)
	}
	if r, err = database.OpenReader(path); err != nil {
		t.Fatal(err)
	}
	if _, err := read(r); err != nil {
		t.Error(err)
	}
	write("INSERT INTO n SELECT a.i FROM n a, n b, n c, n d, n e, n f, n g, n h")
	if err := r.Close(); !errors.Is(err, database.ErrWritten) {
		t.Error("the database was written meanwhile:", err)
	}
}
