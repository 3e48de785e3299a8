package catalog_test

import (
	"bytes"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/catalog"
)

// stored writes a valid database of several pages and closes it.
func stored(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agentfs.db")
	c, err := catalog.Open(t.Context(), path)
	must(t, err)
	must(t, c.AddStore(t.Context(), app()))
	for v := 1; v <= 200; v++ {
		must(t, c.AddCheckpoints(t.Context(), "a1", full(v)))
	}
	must(t, c.Close())
	return path
}

func TestDamagedDatabaseIsSetAside(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(data []byte) []byte{
		"text":           func([]byte) []byte { return []byte("this is no database, but a note of some length") },
		"zeros":          func(data []byte) []byte { return make([]byte, len(data)) },
		"cut off":        func(data []byte) []byte { return data[:len(data)/2] },
		"garbage inside": func(data []byte) []byte { return append(data[:4096], bytes.Repeat([]byte{0xa5}, len(data)-4096)...) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := stored(t)
			data, err := os.ReadFile(path)
			must(t, err)
			must(t, os.WriteFile(path, damage(data), 0o600))
			if err := look(t, path); !errors.Is(err, catalog.ErrDamaged) {
				t.Errorf("it is called %v", err)
			}
			to, err := catalog.SetAside(path, "1")
			must(t, err)
			if _, err := os.Stat(to); err != nil {
				t.Error(err)
			}
			c := open(t, path)
			must(t, c.Check(t.Context()))
			if stores, err := c.Stores(t.Context()); err != nil || len(stores) > 0 {
				t.Errorf("the new one has %v, %v", stores, err)
			}
		})
	}
}

func look(t *testing.T, path string) error {
	t.Helper()
	c, err := catalog.Open(t.Context(), path)
	if err != nil {
		return err
	}
	return errors.Join(c.Check(t.Context()), c.Close())
}

func TestEmptyFileIsEmptyDatabase(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	must(t, os.WriteFile(path, nil, 0o600))
	must(t, look(t, path))
}

func TestOtherTablesAreDamage(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	run(t, path, `CREATE TABLE stores (x); CREATE TABLE checkpoints (y)`)
	if err := look(t, path); !errors.Is(err, catalog.ErrDamaged) {
		t.Errorf("it is called %v", err)
	}
}

func TestNewerDatabaseIsNotChanged(t *testing.T) {
	t.Parallel()
	path := stored(t)
	run(t, path, `PRAGMA user_version = 99`)
	err := look(t, path)
	if !errors.Is(err, catalog.ErrNewer) || errors.Is(err, catalog.ErrDamaged) {
		t.Errorf("it is called %v", err)
	}
}

func TestFirstSchemaKeepsRows(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	run(t, path, `CREATE TABLE stores (
    id TEXT PRIMARY KEY, name TEXT UNIQUE NOT NULL, bundle_path TEXT NOT NULL, mount_path TEXT NOT NULL,
    size_bytes INTEGER NOT NULL, created_at INTEGER NOT NULL, mounted_at INTEGER);
CREATE TABLE checkpoints (
    id INTEGER PRIMARY KEY AUTOINCREMENT, store_id TEXT NOT NULL REFERENCES stores(id), version INTEGER NOT NULL,
    message TEXT, created_at INTEGER NOT NULL, UNIQUE(store_id, version));
CREATE INDEX idx_checkpoints_store ON checkpoints(store_id, version DESC);
INSERT INTO stores VALUES ('old', 'old', '/b', '/m', 5, 1700000000, NULL);
INSERT INTO checkpoints (store_id, version, message, created_at) VALUES ('old', 4, 'as it was', 1700000001);`)
	c := open(t, path)
	stores, err := c.Stores(t.Context())
	must(t, err)
	want := []catalog.Store{{ID: "old", Name: "old", Dir: "/b", Root: "/m", Size: 5, Created: at(0), Checkpoints: 1}}
	if diff := cmp.Diff(want, stores); diff != "" {
		t.Error(diff)
	}
	list, err := c.Checkpoints(t.Context(), "old", 0)
	must(t, err)
	if diff := cmp.Diff([]catalog.Checkpoint{{Version: 4, Message: "as it was", Kind: "named", Created: at(1)}}, list); diff != "" {
		t.Error(diff)
	}
}

func run(t *testing.T, path, text string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	must(t, err)
	_, err = db.ExecContext(t.Context(), text)
	must(t, errors.Join(err, db.Close()))
}

func BenchmarkOneRow(b *testing.B) {
	path := filepath.Join(b.TempDir(), "db")
	c, err := catalog.Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	if err := errors.Join(c.AddStore(b.Context(), app()), c.Close()); err != nil {
		b.Fatal(err)
	}
	v := 0
	for b.Loop() {
		v++
		c, err := catalog.Open(b.Context(), path)
		if err != nil {
			b.Fatal(err)
		}
		if err := errors.Join(c.AddCheckpoints(b.Context(), "a1", full(v)), c.Close()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkManyRows(b *testing.B) {
	path := filepath.Join(b.TempDir(), "db")
	c, err := catalog.Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	rows := make([]catalog.Checkpoint, 1000)
	for i := range rows {
		rows[i] = full(i + 1)
		rows[i].Pairs = nil
	}
	for b.Loop() {
		if err := c.ReplaceCheckpoints(b.Context(), app(), rows); err != nil {
			b.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		b.Fatal(err)
	}
}
