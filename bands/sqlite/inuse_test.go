package sqlite_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/sqlite"
)

func TestInUse(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"WAL", "DELETE"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			w := start(t, job{Path: filepath.Join(dir, "x.db"), Pragmas: []string{"journal_mode(" + mode + ")"}})
			check(t, os.WriteFile(filepath.Join(dir, "y.db"), nil, 0o600))
			used := func() []sqlite.Place {
				places, err := sqlite.Used([]sqlite.Place{
					{Dir: dir, Main: "none.db"},
					{Dir: filepath.Join(dir, "none"), Main: "x.db"},
					{Dir: dir, Main: "x.db"},
					{Dir: dir, Main: "y.db"},
				})
				check(t, err)
				return places
			}
			if diff := cmp.Diff([]sqlite.Place{{Dir: dir, Main: "x.db"}}, used()); diff != "" {
				t.Errorf("while it is open: %s", diff)
			}
			w.crash(t)
			if got := used(); len(got) != 0 {
				t.Errorf("after the crash: %v", got)
			}
			if got, err := sqlite.InUse(dir, "x.db"); got || err != nil {
				t.Errorf("after the crash: %v, %v", got, err)
			}
		})
	}
}

func BenchmarkInUse(b *testing.B) {
	dir := b.TempDir()
	start(b, job{Path: filepath.Join(dir, "x.db")})
	for b.Loop() {
		if used, err := sqlite.InUse(dir, "x.db"); !used || err != nil {
			b.Fatal(used, err)
		}
	}
}
