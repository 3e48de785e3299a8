//go:build linux || darwin

package bands_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/verify"
)

// open opens a database and runs statements.
func (r *rig) open(name string, statements ...string) *sql.DB {
	r.t.Helper()
	db, err := sql.Open("sqlite", r.path(name))
	r.must(err)
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		if _, err := db.ExecContext(r.t.Context(), s); err != nil {
			r.t.Fatalf("%s: %v", s, err)
		}
	}
	return db
}

// rows checks that the database is intact and has want rows.
func (r *rig) rows(name string, want int) {
	r.t.Helper()
	db := r.open(name)
	defer func() { _ = db.Close() }()
	var check string
	var got int
	err := errors.Join(
		db.QueryRowContext(r.t.Context(), "PRAGMA integrity_check").Scan(&check),
		db.QueryRowContext(r.t.Context(), "SELECT count(*) FROM t").Scan(&got))
	if err != nil || check != "ok" || got != want {
		r.t.Errorf("%s: %s, %d rows, want %d: %v", name, check, got, want, err)
	}
}

const manyRows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<500) INSERT INTO t SELECT hex(randomblob(50)) FROM n"

// A database is restored with its log, and a log that appeared later is removed: an old main
// file beside a newer log is a corrupt database.
func TestRestoreOfDatabaseWithLog(t *testing.T) {
	t.Parallel()
	all := restore.Scope{}
	keep := restore.Scope{Delete: func(string, band.Entry) bool { return false }}
	for name, in := range map[string]restore.Scope{
		"all": all, "kept": keep, "main by path": {Paths: []string{"db/x.db"}}, "log by path": {Paths: []string{"db/x.db-wal"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.must(os.Mkdir(r.path("db"), 0o755))
			r.must(r.open("db/x.db", "CREATE TABLE t(v)", manyRows).Close())
			v := r.take()
			// Close writes the log into the main file. Undo that, as a crash leaves the log.
			db := r.open("db/x.db", "PRAGMA journal_mode=wal", "PRAGMA wal_autocheckpoint=0", manyRows, "UPDATE t SET v='changed'")
			wal, err := os.ReadFile(r.path("db/x.db-wal"))
			r.must(err)
			shm, err := os.ReadFile(r.path("db/x.db-shm"))
			r.must(err)
			main, err := os.ReadFile(r.path("db/x.db"))
			r.must(err)
			r.must(db.Close())
			r.must(errors.Join(os.WriteFile(r.path("db/x.db"), main, 0o644), os.WriteFile(r.path("db/x.db-wal"), wal, 0o644), os.WriteFile(r.path("db/x.db-shm"), shm, 0o644)))
			r.restore(v, in)
			for _, gone := range []string{"db/x.db-wal", "db/x.db-shm"} {
				if _, err := os.Lstat(r.path(gone)); err == nil {
					t.Errorf("%s is still there", gone)
				}
			}
			r.rows("db/x.db", 500)
			r.remove("db/x.db-wal")
			r.remove("db/x.db-shm")
			r.run(restore.Undo)
			r.rows("db/x.db", 1000)
		})
	}
}

func TestRestoreSkipsOpenDatabase(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a", "1")
	r.must(r.open("x.db", "CREATE TABLE t(v)", manyRows).Close())
	v := r.take()
	r.write("a", "2")
	r.must(r.open("x.db", manyRows).Close())
	release := r.openElsewhere("x.db")
	planned := r.plan(v, restore.Scope{})
	if diff := cmp.Diff([]string{"x.db"}, planned.Busy); diff != "" {
		t.Error(diff)
	}
	r.restore(v, restore.Scope{})
	r.is("a", "1")
	r.restore(v, restore.Scope{Force: true})
	release()
	r.rows("x.db", 500)
}

func TestRestoreDeletesDatabaseWithLog(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a", "1")
	v := r.take()
	r.must(os.Mkdir(r.path("d"), 0o755))
	r.must(r.open("d/x.db", "CREATE TABLE t(v)", manyRows).Close())
	r.write("d/x.db-shm", "left")
	r.restore(v, restore.Scope{})
	if _, err := os.Lstat(r.path("d")); err == nil {
		t.Error("the directory is still there")
	}
	r.run(restore.Undo)
	r.rows("d/x.db", 500)
}

// A damaged band affects only the files in it.
func TestRestoreReportsLostContent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("good", "1")
	v := r.take()
	r.write("bad", strings.Repeat("a lost content ", 10))
	v2 := r.take()
	r.write("good", "2")
	r.write("bad", "3")
	r.damage(v2, "bad")
	damage, err := verify.Run(t.Context(), r.store, 0, nil)
	r.must(err)
	if diff := cmp.Diff([]string{"bad"}, lost(damage)); diff != "" || damage.OK() {
		t.Error(diff)
	}
	if one, err := verify.Run(t.Context(), r.store, v, nil); err != nil || !one.OK() {
		t.Errorf("%v is whole: %+v, %v", v, one, err)
	}
	done, err := r.try(v2, restore.Scope{})
	if !errors.Is(err, restore.ErrIncomplete) || len(done.Failed) != 1 || done.Failed[0].Path != "bad" {
		t.Errorf("%v: %+v", err, done.Failed)
	}
	r.is("good", "1")
	r.is("bad", "3")
	var out bytes.Buffer
	snapshot, err := r.store.Snapshot(v2)
	r.must(err)
	if err := restore.ReadFile(r.store, snapshot, "bad", &out); err == nil {
		t.Error("a damaged file was read")
	}
}

// damage flips a bit of the file's record in each copy of its band.
func (r *rig) damage(v bands.Version, name string) {
	r.t.Helper()
	records, reader := r.store.Loader(r.snapshot(v))
	defer func() { _ = reader.Close() }()
	root, _ := r.snapshot(v).Tree.Ref()
	e, err := band.LookupPath(records, root, name)
	r.must(err)
	done := map[string]bool{}
	err = filepath.WalkDir(r.store.Dir(), func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(path) != bandName(e.Content.Band) {
			return err
		}
		info, err := os.Stat(path)
		r.must(err)
		key := inodeOf(info)
		if done[key] {
			return nil
		}
		done[key] = true
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		r.must(err)
		at := int64(e.Content.Offset) + 60
		b := make([]byte, 1)
		_, err = f.ReadAt(b, at)
		r.must(err)
		b[0] ^= 1
		_, err = f.WriteAt(b, at)
		return errors.Join(err, f.Close())
	})
	r.must(err)
}

func (r *rig) snapshot(v bands.Version) bands.Snapshot {
	r.t.Helper()
	s, err := r.store.Snapshot(v)
	r.must(err)
	return s
}

// A restore that was stopped halfway can be finished or undone.
func TestInterruptedRestoreIsFinishedOrUndone(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]struct {
		do   func(context.Context, *bands.Held, restore.Options) (restore.Result, error)
		want string
	}{
		"finish": {restore.Finish, "1"},
		"again": {func(ctx context.Context, h *bands.Held, o restore.Options) (restore.Result, error) {
			return restore.Run(ctx, h, 1, o)
		}, "1"},
		"undo": {restore.Undo, "2"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			names := []string{"a", "b/c", "d/e/f", "g", "h", "i"}
			for _, n := range names {
				r.write(n, "1")
			}
			v := r.take()
			for _, n := range names {
				r.write(n, "2")
			}
			r.write("later", "2")
			r.interrupt(v)
			journal, is := bands.InterruptedRestore(r.store, bands.PlainLineage)
			if !is || journal.Target != v || journal.Op != bands.OpRestore {
				t.Fatalf("%+v, %v", journal, is)
			}
			r.run(end.do)
			for _, n := range names {
				r.is(n, end.want)
			}
			if _, is := bands.InterruptedRestore(r.store, bands.PlainLineage); is {
				t.Error("it counts as interrupted still")
			}
			if end.want == "1" {
				r.run(restore.Undo)
				for _, n := range names {
					r.is(n, "2")
				}
				r.is("later", "2")
			}
		})
	}
}

// interrupt starts a restore and cancels it after some steps.
func (r *rig) interrupt(v bands.Version) {
	r.t.Helper()
	ctx, stop := context.WithCancel(r.t.Context())
	h := r.hold()
	_, err := restore.Run(ctx, h, v, restore.Options{Options: r.opts, Progress: func(p bands.Progress) {
		if p.Stage == "restore" && p.Done > 0 {
			stop()
		}
	}})
	r.must(h.Release())
	if !errors.Is(err, context.Canceled) {
		r.t.Fatalf("it was not stopped: %v", err)
	}
}

// A change between the rescue and the restore is in no snapshot: it is kept.
func TestRestoreKeepsChangesAfterRescue(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, n := range []string{"a", "b", "c"} {
		r.write(n, "1")
	}
	v := r.take()
	for _, n := range []string{"a", "b", "c", "later"} {
		r.write(n, "22")
	}
	h := r.hold()
	defer func() { r.must(h.Release()) }()
	moved := false
	done, err := restore.Run(t.Context(), h, v, restore.Options{Options: r.opts, Scope: restore.Scope{Keep: func(string, *band.Entry, *band.Entry) bool {
		if !moved { // the plan is made after the rescue was taken
			moved = true
			for _, n := range []string{"b", "later"} {
				r.write(n, "by somebody else")
			}
		}
		return false
	}}})
	if !errors.Is(err, restore.ErrIncomplete) || len(done.Failed) != 2 {
		t.Errorf("%v, %+v", err, done.Failed)
	}
	r.is("a", "1")
	r.is("b", "by somebody else")
	r.is("c", "1")
	r.is("later", "by somebody else")
}

// A database with the name of another database's journal is restored once.
func TestRestoreOfDatabaseNamedAsJournal(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const head = "SQLite format 3\x00"
	database := func(last string) string { return head + strings.Repeat("\x00", 1024-len(head)-len(last)) + last }
	names := []string{"data.db", "data.db-journal", "data.db-journal-journal"}
	for _, name := range names {
		r.write(name, database("one"))
	}
	v := r.take()
	for _, name := range names {
		r.write(name, database("two")+database("more"))
	}
	r.restore(v, restore.Scope{})
	for _, name := range names {
		r.is(name, database("one"))
	}
}
