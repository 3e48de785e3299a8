package sqlite_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/sqlite"
)

func TestIsDatabase(t *testing.T) {
	t.Parallel()
	for head, want := range map[string]bool{
		"":                     false,
		"SQLite format 3":      false,
		"SQLite format 3\x00":  true,
		"SQLite format 3\x00.": true,
		"SQLite format 4\x00.": false,
	} {
		if got := sqlite.IsDatabase([]byte(head)); got != want {
			t.Errorf("%q: %v", head, got)
		}
	}
}

func TestUnit(t *testing.T) {
	t.Parallel()
	there := map[string]bool{"x.db": true, "x.db-wal": true, "\xff": true}
	tests := []struct {
		name, main string
		ok         bool
	}{
		{"x.db", "", false},
		{"x.db-wal", "x.db", true},
		{"x.db-journal", "x.db", true},
		{"x.db-shm", "x.db", true},
		{"x.db-wal-shm", "x.db-wal", true},
		{"\xff-wal", "\xff", true},
		{"x.db-wal2", "", false},
		{"y.db-wal", "y.db", false},
		{"-wal", "", false},
		{"", "", false},
	}
	for _, test := range tests {
		main, ok := sqlite.Unit(func(name string) bool { return there[name] }, test.name)
		if main != test.main || ok != test.ok {
			t.Errorf("Unit(%q) = %q, %v", test.name, main, ok)
		}
	}
	want := [3]string{"x.db-journal", "x.db-wal", "x.db-shm"}
	if diff := cmp.Diff(want, sqlite.Companions("x.db")); diff != "" {
		t.Error(diff)
	}
}
