package catalog_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/internal/catalog"
)

// at returns a time in whole seconds, as the catalog stores it.
func at(second int64) time.Time { return time.Unix(1_700_000_000+second, 0).UTC() }

func open(t *testing.T, path string) *catalog.Catalog {
	t.Helper()
	c, err := catalog.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func app() catalog.Store {
	mounted := at(1)
	return catalog.Store{ID: "a1", Name: "app", Dir: "/stores/app", Root: "/projects/app", Size: 50 << 30, Created: at(0), Mounted: &mounted}
}

func full(version int) catalog.Checkpoint {
	return catalog.Checkpoint{
		Version: version, Message: "before 'risky' refactor", Kind: "auto", Created: at(int64(version)), Parent: version - 1, Lineage: "e3b0c4",
		Root: "/projects/app", Agent: "claude-code", Session: "s", Turn: "t", Action: "Edit", Prompt: "do it\x00 \xff", Commit: "c0ffee", Branch: "main", Metadata: `{"ticket":"A-1"}`, Tree: "aa:1:2",
		Late: true, Files: 7, Bytes: 8, Bands: 9, Stamp: 1_700_000_000_123_456_789,
		Pairs: []catalog.Pair{{Checkpoint: "aabbccddeeff", Commit: "c0ffee", Created: at(3)}, {Checkpoint: "bb", Commit: "d", Created: at(4), Late: true}},
	}
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "made", "agentfs.db")
	c := open(t, path)
	must(t, c.AddStore(t.Context(), app()))
	bare := catalog.Checkpoint{Version: 2, Kind: "named", Created: at(9)}
	must(t, c.AddCheckpoints(t.Context(), "a1", full(1), bare, full(3)))

	again := open(t, path)
	list, err := again.Checkpoints(t.Context(), "a1", 0)
	must(t, err)
	if diff := cmp.Diff([]catalog.Checkpoint{full(3), bare, full(1)}, list); diff != "" {
		t.Error(diff)
	}
	list, err = again.Checkpoints(t.Context(), "a1", 2)
	must(t, err)
	if diff := cmp.Diff([]catalog.Checkpoint{full(3), bare}, list); diff != "" {
		t.Error(diff)
	}
	want := app()
	want.Last, want.Checkpoints = 3, 3
	stores, err := again.Stores(t.Context())
	must(t, err)
	if diff := cmp.Diff([]catalog.Store{want}, stores); diff != "" {
		t.Error(diff)
	}
	if got, err := again.StoreByID(t.Context(), "a1"); err != nil || !cmp.Equal(got, want) {
		t.Errorf("by id: %v, %v", got, err)
	}
	must(t, again.Check(t.Context()))
}

func TestRowsAreReplaced(t *testing.T) {
	t.Parallel()
	c := open(t, filepath.Join(t.TempDir(), "db"))
	must(t, c.AddStore(t.Context(), app()))
	must(t, c.AddCheckpoints(t.Context(), "a1", full(1)))
	changed := full(1)
	changed.Message, changed.Pairs = "other", changed.Pairs[:1]
	must(t, c.AddCheckpoints(t.Context(), "a1", changed))
	list, err := c.Checkpoints(t.Context(), "a1", 0)
	must(t, err)
	if diff := cmp.Diff([]catalog.Checkpoint{changed}, list); diff != "" {
		t.Error(diff)
	}
	moved := app()
	moved.Name, moved.Root, moved.Mounted = "renamed", "/elsewhere", nil
	must(t, c.AddStore(t.Context(), moved))
	got, err := c.StoreByName(t.Context(), "renamed")
	must(t, err)
	if got.Mounted != nil || got.Root != "/elsewhere" || got.Checkpoints != 1 {
		t.Errorf("the store is %+v", got)
	}
}

func TestHighestVersionIsKept(t *testing.T) {
	t.Parallel()
	c := open(t, filepath.Join(t.TempDir(), "db"))
	last := func() int {
		t.Helper()
		s, err := c.StoreByName(t.Context(), "app")
		must(t, err)
		return s.Last
	}
	must(t, c.AddStore(t.Context(), app()))
	must(t, c.AddCheckpoints(t.Context(), "a1", full(1), full(7)))
	must(t, c.DeleteCheckpoints(t.Context(), "a1", 7, 99))
	if last() != 7 {
		t.Errorf("after a delete it is %d", last())
	}
	must(t, c.ReplaceCheckpoints(t.Context(), app(), []catalog.Checkpoint{full(2)}))
	if last() != 7 {
		t.Errorf("after a rebuild it is %d", last())
	}
	raised := app()
	raised.Last = 12
	must(t, c.AddStore(t.Context(), raised))
	must(t, c.AddStore(t.Context(), app()))
	if last() != 12 {
		t.Errorf("after a row that knows less it is %d", last())
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	c := open(t, filepath.Join(t.TempDir(), "db"))
	must(t, c.AddStore(t.Context(), app()))
	other := app()
	other.ID = "b2"
	_, byName := c.StoreByName(t.Context(), "nobody")
	for name, row := range map[string]struct{ got, want error }{
		"a store that isn't there":     {byName, catalog.ErrNotFound},
		"a name that is taken":         {c.AddStore(t.Context(), other), catalog.ErrNameTaken},
		"a snapshot of no store":       {c.AddCheckpoints(t.Context(), "b2", full(1)), catalog.ErrNotFound},
		"a store that is deleted":      {c.DeleteStore(t.Context(), "b2"), nil},
		"snapshots that aren't there":  {c.DeleteCheckpoints(t.Context(), "b2", 1), nil},
		"replacing under a taken name": {c.ReplaceCheckpoints(t.Context(), other, nil), catalog.ErrNameTaken},
	} {
		if !errors.Is(row.got, row.want) {
			t.Errorf("%s: %v", name, row.got)
		}
	}
}

func TestDeleteStoreDeletesRows(t *testing.T) {
	t.Parallel()
	c := open(t, filepath.Join(t.TempDir(), "db"))
	must(t, c.AddStore(t.Context(), app()))
	must(t, c.AddCheckpoints(t.Context(), "a1", full(1)))
	must(t, c.DeleteStore(t.Context(), "a1"))
	must(t, c.AddStore(t.Context(), app()))
	list, err := c.Checkpoints(t.Context(), "a1", 0)
	if err != nil || len(list) > 0 {
		t.Errorf("left: %v, %v", list, err)
	}
}

func TestFilesArePrivate(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "home")
	c := open(t, filepath.Join(dir, "agentfs.db"))
	must(t, c.AddStore(t.Context(), app()))
	for name, want := range map[string]os.FileMode{"": 0o700, "agentfs.db": 0o600, "agentfs.db-wal": 0o600, "agentfs.db-shm": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: %v, %v", name, info, err)
		}
	}
}

func TestPathWithAnyBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"a?b", "a#b", "a%20b", "a b", "a&mode=memory", "ä'\";\n"} {
		c, err := catalog.Open(t.Context(), filepath.Join(dir, name))
		must(t, err)
		must(t, errors.Join(c.AddStore(t.Context(), app()), c.Close()))
	}
	entries, err := os.ReadDir(dir)
	must(t, err)
	if len(entries) != 6 {
		t.Errorf("there are %v", entries)
	}
}

func TestCanceledContext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "db")
	c := open(t, path)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.AddStore(ended, app()); !errors.Is(err, context.Canceled) {
		t.Errorf("writing: %v", err)
	}
	if other, err := catalog.Open(ended, path); !errors.Is(err, context.Canceled) {
		t.Errorf("opening: %v, %v", other, err)
	}
}
