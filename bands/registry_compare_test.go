package bands_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/registry"
	"github.com/seed-3aff656d/entire/internal/catalog"
)

func TestCompareReportsRowsWithoutSnapshots(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	store := filled(t, m, "a", 3).Store
	_, err := m.Rows().Checkpoints(t.Context(), store, 0)
	fine(t, err)
	compare := func(want ...string) {
		t.Helper()
		got, err := m.Rows().Compare(t.Context(), store)
		fine(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	compare()
	fine(t, os.RemoveAll(store.SnapshotDir(2)))
	compare("snapshot v2 is listed but missing")
	fine(t, os.Rename(store.SnapshotDir(3), store.SnapshotDir(4)))
	compare("snapshot v3 is listed but missing", "snapshot v2 is listed but missing")
	bad, err := registry.Describe(store)
	fine(t, err)
	if len(bad) != 1 || bad[0].Version != 4 {
		t.Errorf("%+v", bad)
	}
	putFile(t, m.CatalogPath(), strings.Repeat("x", 9999))
	before := names(t, m.Home)
	if _, err := m.Rows().Compare(t.Context(), store); !errors.Is(err, catalog.ErrDamaged) {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff(before, names(t, m.Home)); diff != "" {
		t.Error(diff)
	}
	fine(t, os.Remove(m.CatalogPath()))
	compare()
}

// names returns the paths of the files in a folder.
func names(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*"))
	fine(t, err)
	return paths
}
