package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/sqlite"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// spill changes more pages than the cache holds.
const spill = "UPDATE pages SET body=randomblob(3000)"

// commitOf returns the statements of the commit n that verify expects.
func commitOf(n string) []string {
	return []string{
		"BEGIN IMMEDIATE", "UPDATE counter SET n=" + n, "UPDATE mirror SET n=" + n,
		"INSERT OR REPLACE INTO pages VALUES(" + n + "," + n + ",randomblob(3000))", "COMMIT",
	}
}

// TestCaptureOfChangingDatabase changes the database while one of its files is half read. If
// that makes the capture inconsistent, another attempt follows.
func TestCaptureOfChangingDatabase(t *testing.T) {
	t.Parallel()
	const rollback, wal = "journal_mode(DELETE)", "journal_mode(WAL)"
	alone := []string{"locking_mode(EXCLUSIVE)", wal}
	one, two, three := commitOf("1"), commitOf("2"), commitOf("3")
	tests := []struct {
		name      string
		pragmas   []string
		first     []string // statements before the capture
		at        string   // the file that is half read
		meanwhile []string // statements at that point
		closed    bool     // the writer also closes the database
		names     []string // the files taken, in all attempts
		commit    int64
	}{
		{"nothing", []string{rollback}, one, "x.db", nil, false, []string{"x.db"}, 1},
		{"commit", []string{rollback}, one, "x.db", two, false, []string{"x.db", "x.db"}, 2},
		{"spilled and taken back", []string{rollback}, one, "x.db", []string{"BEGIN", spill, "ROLLBACK"}, false, []string{"x.db", "x.db"}, 1},
		{"journal begun", []string{rollback}, one, "x.db", two[:3], false, []string{"x.db", "x.db", "x.db-journal"}, 1},
		{"log grows", []string{wal}, one, "x.db", append(two, three...), false, []string{"x.db", "x.db-wal"}, 3},
		{"checkpoint refused", []string{wal}, one, "x.db", append(two, "PRAGMA wal_checkpoint(TRUNCATE)"), false, []string{"x.db", "x.db-wal"}, 2},
		{"last one closes", []string{wal}, one, "x.db", two, true, []string{"x.db", "x.db"}, 2},
		{"log begun anew", alone, one, "x.db", append(append(two, "PRAGMA wal_checkpoint(RESTART)"), three...), false, []string{"x.db", "x.db-wal", "x.db", "x.db-wal"}, 3},
		{
			"log begun anew while it is read", alone, append(append(one, spill), "PRAGMA wal_checkpoint(PASSIVE)"),
			"x.db-wal", append(two, spill), false,
			[]string{"x.db", "x.db-wal", "x.db", "x.db-wal"},
			2,
		},
		{
			"log not begun anew while it is read",
			[]string{wal},
			append(append(one, spill), "PRAGMA wal_checkpoint(PASSIVE)"),
			"x.db-wal", append(two, spill), false,
			[]string{"x.db", "x.db-wal"},
			1,
		},
		{"log emptied", alone, one, "x.db", append(two, "PRAGMA wal_checkpoint(TRUNCATE)"), false, []string{"x.db", "x.db", "x.db-wal"}, 2},
		{"log grows without index", alone, one, "x.db", two, false, []string{"x.db", "x.db-wal"}, 2},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir, copies := t.TempDir(), filepath.Join(t.TempDir(), "copy")
			w := start(t, job{
				Path: filepath.Join(dir, "x.db"), Pragmas: append(test.pragmas, "cache_size(5)", "cache_spill(5)"),
				Setup: []string{"WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM c WHERE i<299) INSERT INTO pages SELECT i,0,zeroblob(3000) FROM c"},
			})
			w.do(t, test.first...)
			awaitSettled(t, dir)
			var names []string
			done := false
			take := into(t, copies)
			check(t, sqlite.CaptureInPlace(t.Context(), dir, "x.db", time.Minute, func(name string, f *os.File, st dirfd.Stat) error {
				names = append(names, name)
				if done || name != test.at {
					return take(name, f, st)
				}
				done = true
				half, rest := st.Size/2, make([]byte, st.Size-st.Size/2)
				st.Size = half
				check(t, take(name, f, st))
				w.do(t, test.meanwhile...)
				if test.closed {
					w.stop(t)
				}
				if n, err := f.ReadAt(rest, half); err != nil {
					rest = rest[:n] // the file was truncated
				}
				out, err := os.OpenFile(filepath.Join(copies, name), os.O_WRONLY|os.O_APPEND, 0)
				check(t, err)
				_, err = out.Write(rest)
				check(t, errors.Join(err, out.Close()))
				return nil
			}))
			if diff := cmp.Diff(test.names, names); diff != "" {
				t.Error(diff)
			}
			if got := verify(t, copies); got != test.commit {
				t.Errorf("captured commit %d, want %d", got, test.commit)
			}
		})
	}
}

// awaitSettled waits until the file system's clock has advanced since the main file was written.
// Before that, a capture doesn't take the file.
func awaitSettled(t testing.TB, dir string) {
	t.Helper()
	check(t, sqlite.CaptureInPlace(t.Context(), dir, "x.db", time.Minute, func(string, *os.File, dirfd.Stat) error { return nil }))
}

// TestCaptureWithNewLock has a writer that gets the exclusive lock while the main file is read.
func TestCaptureWithNewLock(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	w := start(t, job{Path: filepath.Join(dir, "x.db"), Pragmas: []string{"journal_mode(MEMORY)"}})
	awaitSettled(t, dir)
	taken := 0
	err := sqlite.CaptureInPlace(t.Context(), dir, "x.db", patience, func(string, *os.File, dirfd.Stat) error {
		if taken++; taken == 1 {
			w.do(t, "BEGIN EXCLUSIVE")
		}
		return nil
	})
	if !errors.Is(err, sqlite.ErrBusy) || taken != 1 {
		t.Errorf("taken %d times, %v", taken, err)
	}
}

func TestCaptureWithNewConnection(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j := job{Path: filepath.Join(dir, "x.db"), Pragmas: []string{"journal_mode(WAL)"}}
	start(t, j).stop(t)
	awaitSettled(t, dir)
	var names []string
	check(t, sqlite.CaptureInPlace(t.Context(), dir, "x.db", time.Minute, func(name string, _ *os.File, _ dirfd.Stat) error {
		if names = append(names, name); len(names) == 1 {
			start(t, j)
		}
		return nil
	}))
	if diff := cmp.Diff([]string{"x.db", "x.db", "x.db-wal"}, names); diff != "" {
		t.Error(diff)
	}
}
