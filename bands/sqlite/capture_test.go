package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands/sqlite"
	"github.com/seed-3aff656d/entire/internal/dirfd"
	"github.com/seed-3aff656d/entire/internal/disk"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

const (
	patience = 50 * time.Millisecond
	// rhythm is the interval of a writer that pauses between commits.
	rhythm = 20 * time.Millisecond
)

type capture = func(ctx context.Context, dir, main string, patience time.Duration, take sqlite.Take) error

// into returns a Take that copies captured files to dir, which is made again for each attempt.
func into(t testing.TB, dir string) sqlite.Take {
	return func(name string, f *os.File, st dirfd.Stat) error {
		if name == "x.db" {
			check(t, os.RemoveAll(dir))
			check(t, os.Mkdir(dir, 0o700))
		}
		data := make([]byte, st.Size)
		if _, err := f.ReadAt(data, 0); err != nil && (st.Size > 0 || !errors.Is(err, io.EOF)) {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name), data, 0o600)
	}
}

func TestCaptureUnderLoad(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		pragmas []string
		capture capture
		rhythm  time.Duration
	}{
		{"wal", []string{"journal_mode(WAL)", "synchronous(NORMAL)"}, sqlite.Capture, 0},
		{"wal in place", []string{"journal_mode(WAL)", "synchronous(OFF)"}, sqlite.CaptureInPlace, 0},
		{"wal, many checkpoints", []string{"journal_mode(WAL)", "synchronous(OFF)", "wal_autocheckpoint(20)"}, sqlite.Capture, 0},
		{"wal, short log", []string{"journal_mode(WAL)", "synchronous(OFF)", "wal_autocheckpoint(50)", "journal_size_limit(0)"}, sqlite.CaptureInPlace, 0},
		{"wal without index", []string{"locking_mode(EXCLUSIVE)", "journal_mode(WAL)", "synchronous(OFF)", "wal_autocheckpoint(50)"}, sqlite.Capture, 0},
		{"delete", []string{"journal_mode(DELETE)", "synchronous(FULL)"}, sqlite.Capture, rhythm},
		{"delete in place", []string{"journal_mode(DELETE)", "synchronous(OFF)"}, sqlite.CaptureInPlace, rhythm},
		{"truncate", []string{"journal_mode(TRUNCATE)", "synchronous(NORMAL)"}, sqlite.Capture, rhythm},
		{"persist", []string{"journal_mode(PERSIST)", "synchronous(FULL)"}, sqlite.Capture, rhythm},
		{"memory", []string{"journal_mode(MEMORY)", "synchronous(OFF)"}, sqlite.Capture, rhythm},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			wanted := testkit.Rounds(5, 25)
			underLoad(t, test.capture, wanted, job{
				Path:    filepath.Join(t.TempDir(), "x.db"),
				Pragmas: append(test.pragmas, "cache_size(10)", "cache_spill(10)"),
				Loop:    true, Rhythm: test.rhythm,
			})
		})
	}
}

// TestCaptureWithoutPause has a writer that commits without a pause. A capture may fail then,
// but must not be wrong.
func TestCaptureWithoutPause(t *testing.T) {
	t.Parallel()
	for _, pragmas := range [][]string{
		{"journal_mode(DELETE)", "synchronous(FULL)"},
		{"journal_mode(TRUNCATE)", "synchronous(OFF)"},
		{"journal_mode(PERSIST)", "synchronous(FULL)"},
		{"journal_mode(PERSIST)", "synchronous(OFF)"},
		{"journal_mode(MEMORY)", "synchronous(FULL)"},
	} {
		t.Run(strings.Join(pragmas, " "), func(t *testing.T) {
			t.Parallel()
			l := begin(t, sqlite.Capture, job{
				Path:    filepath.Join(t.TempDir(), "x.db"),
				Pragmas: append(pragmas, "cache_size(10)", "cache_spill(10)"),
				Loop:    true,
			})
			for range 20 {
				l.capture(t)
			}
			l.end(t)
		})
	}
}

// load is a running writer whose database is captured repeatedly.
type load struct {
	w           *writer
	by          capture
	dir, copies string
	held, busy  int
	last        int64 // the commit in the last capture
	began       time.Time
}

func begin(t *testing.T, by capture, j job) *load {
	t.Helper()
	l := &load{
		w: start(t, j), by: by, dir: filepath.Dir(j.Path), copies: filepath.Join(t.TempDir(), "copy"), began: time.Now(),
	}
	l.w.wait(t, 20)
	return l
}

// capture tries to capture the database and checks the copy: it has all commits from before the
// start, and no fewer than the last capture.
func (l *load) capture(t *testing.T) {
	t.Helper()
	before := l.w.commits.Load()
	err := l.by(t.Context(), l.dir, "x.db", patience, into(t, l.copies))
	if errors.Is(err, sqlite.ErrBusy) {
		l.busy++
		return
	}
	check(t, err)
	got := verify(t, l.copies)
	if got < before || got < l.last {
		t.Fatalf("capture of commit %d, %d was there before it, the last one had %d", got, before, l.last)
	}
	l.last = got
	l.held++
}

func (l *load) end(t *testing.T) {
	t.Helper()
	t.Logf("%d captures and %d times busy in %v, %d commits, %s", l.held, l.busy,
		time.Since(l.began).Round(time.Millisecond), l.w.commits.Load(), l.w.stop(t))
}

// underLoad captures the database of the job wanted times.
func underLoad(t *testing.T, by capture, wanted int, j job) {
	t.Helper()
	l := begin(t, by, j)
	for l.held < wanted {
		if l.capture(t); l.busy > 100*wanted { // on a loaded machine it is busy often
			t.Fatalf("%d captures, %d times busy", l.held, l.busy)
		}
	}
	l.end(t)
}

func BenchmarkCapture(b *testing.B) {
	for _, test := range []struct {
		name    string
		capture capture
		bytes   int
	}{
		{"small", sqlite.Capture, 1},
		{"10 MB", sqlite.Capture, 10 << 20},
		{"10 MB in place", sqlite.CaptureInPlace, 10 << 20},
	} {
		b.Run(test.name, func(b *testing.B) {
			dir := b.TempDir()
			w := start(b, job{Path: filepath.Join(dir, "x.db"), Setup: []string{fmt.Sprintf("CREATE TABLE large AS SELECT zeroblob(%d)", test.bytes)}})
			w.stop(b)
			for b.Loop() {
				check(b, test.capture(b.Context(), dir, "x.db", time.Second, func(string, *os.File, dirfd.Stat) error { return nil }))
			}
		})
	}
}

// TestCaptureDoesNotBlockWriter holds a capture open while the writer works.
func TestCaptureDoesNotBlockWriter(t *testing.T) {
	t.Parallel()
	dir, copies := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	w := start(t, job{Path: filepath.Join(dir, "x.db"), Loop: true, Pragmas: []string{
		"journal_mode(WAL)", "synchronous(OFF)", "wal_autocheckpoint(10)",
	}})
	w.wait(t, 50)
	var begun, held int64
	take := into(t, copies)
	check(t, sqlite.CaptureInPlace(t.Context(), dir, "x.db", time.Minute, func(name string, f *os.File, st dirfd.Stat) error {
		if name == "x.db" {
			begun = w.commits.Load()
			w.wait(t, 500)
			held = w.commits.Load()
		}
		return take(name, f, st)
	}))
	if got := verify(t, copies); got < held {
		t.Errorf("captured commit %d; the log was copied after commit %d", got, held)
	}
	// No lock is left: the log is restarted and doesn't keep growing.
	size := func() int64 {
		info, err := os.Stat(filepath.Join(dir, "x.db-wal"))
		check(t, err)
		return info.Size()
	}
	before := size()
	w.wait(t, held-begun)
	if after := size(); after > before*5/4 {
		t.Errorf("the log grew from %d to %d after the capture", before, after)
	}
	t.Log(w.stop(t))
}

func TestCaptureQuiet(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		job    job
		end    func(*writer, testing.TB)
		names  []string
		commit int64
	}{
		{
			"closed",
			job{Pragmas: []string{"journal_mode(WAL)"}, Setup: []string{"UPDATE counter SET n=3", "UPDATE mirror SET n=3", "INSERT INTO pages VALUES(3,3,'')"}},
			func(w *writer, t testing.TB) { w.stop(t) },
			[]string{"x.db"},
			3,
		},
		{
			"log of a crash",
			job{Pragmas: []string{"journal_mode(WAL)"}, Setup: []string{"UPDATE counter SET n=3", "UPDATE mirror SET n=3", "INSERT INTO pages VALUES(3,3,'')"}},
			(*writer).crash,
			[]string{"x.db", "x.db-wal"},
			3,
		},
		{
			"idle",
			job{Pragmas: []string{"journal_mode(WAL)"}, Setup: []string{"UPDATE counter SET n=3", "UPDATE mirror SET n=3", "INSERT INTO pages VALUES(3,3,'')"}},
			func(*writer, testing.TB) {},
			[]string{"x.db", "x.db-wal"},
			3,
		},
		{
			"in a transaction",
			job{Pragmas: []string{"journal_mode(DELETE)"}, Setup: []string{"BEGIN IMMEDIATE", "UPDATE counter SET n=5"}},
			func(*writer, testing.TB) {},
			[]string{"x.db", "x.db-journal"},
			0,
		},
		{
			"journal of a crash",
			job{
				Pragmas: []string{"journal_mode(DELETE)", "cache_size(2)", "cache_spill(1)"},
				Setup: []string{"BEGIN IMMEDIATE", "UPDATE counter SET n=5", `WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<200)
					INSERT INTO pages SELECT i,i,zeroblob(3000) FROM c`},
			},
			(*writer).crash,
			[]string{"x.db", "x.db-journal"},
			0,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir, copies := t.TempDir(), filepath.Join(t.TempDir(), "copy")
			test.job.Path = filepath.Join(dir, "x.db")
			test.end(start(t, test.job), t)
			before := listing(t, dir)
			var names []string
			take := into(t, copies)
			check(t, sqlite.Capture(t.Context(), dir, "x.db", time.Second, func(name string, f *os.File, st dirfd.Stat) error {
				if name == "x.db" {
					names = nil
				}
				names = append(names, name)
				return take(name, f, st)
			}))
			if diff := cmp.Diff(test.names, names); diff != "" {
				t.Error(diff)
			}
			if got := verify(t, copies); got != test.commit {
				t.Errorf("captured commit %d, want %d", got, test.commit)
			}
			if diff := cmp.Diff(before, listing(t, dir)); diff != "" {
				t.Errorf("the capture changed the directory: %s", diff)
			}
		})
	}
}

// listing returns the modification and change times of the files in the directory.
func listing(t testing.TB, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	entries, err := os.ReadDir(dir)
	check(t, err)
	for _, e := range entries {
		info, err := e.Info()
		check(t, err)
		found[e.Name()] = info.ModTime().String() + disk.Changed(info).String()
	}
	return found
}

// TestReadOnly captures files without write permission, which only root can write to.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	dir, copies := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	w := start(t, job{Path: filepath.Join(dir, "x.db"), Pragmas: []string{"journal_mode(WAL)"}})
	w.do(t, commitOf("1")...)
	for _, name := range []string{"x.db", "x.db-wal", "x.db-shm"} {
		check(t, os.Chmod(filepath.Join(dir, name), 0o400))
	}
	w.do(t, commitOf("2")...)
	check(t, sqlite.Capture(t.Context(), dir, "x.db", time.Second, into(t, copies)))
	if got := verify(t, copies); got != 2 {
		t.Errorf("captured commit %d", got)
	}
	w.do(t, append(commitOf("3"), "PRAGMA wal_checkpoint(TRUNCATE)")...)
}

// TestBusy has a database that is never quiet: an exclusive transaction doesn't end.
func TestBusy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	start(t, job{
		Path: filepath.Join(dir, "x.db"), Pragmas: []string{"journal_mode(DELETE)"},
		Setup: []string{"BEGIN EXCLUSIVE", "UPDATE counter SET n=5"},
	})
	err := sqlite.Capture(t.Context(), dir, "x.db", patience, func(string, *os.File, dirfd.Stat) error {
		t.Error("taken")
		return nil
	})
	if !errors.Is(err, sqlite.ErrBusy) {
		t.Errorf("got %v", err)
	}
}

func TestCaptureErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	none := func(string, *os.File, dirfd.Stat) error { return nil }
	if err := sqlite.Capture(t.Context(), dir, "x.db", patience, none); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	check(t, os.Mkdir(filepath.Join(dir, "x.db"), 0o700))
	if err := sqlite.Capture(t.Context(), dir, "x.db", patience, none); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a directory: %v", err)
	}
	check(t, os.WriteFile(filepath.Join(dir, "y.db"), nil, 0o600))
	failed := errors.New("failed")
	err := sqlite.Capture(t.Context(), dir, "y.db", patience, func(string, *os.File, dirfd.Stat) error { return failed })
	if !errors.Is(err, failed) {
		t.Errorf("take's error: %v", err)
	}
	check(t, os.Symlink("y.db", filepath.Join(dir, "y.db-wal")))
	check(t, sqlite.Capture(t.Context(), dir, "y.db", time.Second, func(name string, _ *os.File, st dirfd.Stat) error {
		if name != "y.db" || st.Size != 0 {
			t.Errorf("took %s, %d bytes", name, st.Size)
		}
		return nil
	}))
}
