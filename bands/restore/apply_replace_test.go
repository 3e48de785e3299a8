//go:build linux || darwin

package restore_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
)

// A file that an editor saves between its check and its replacement is kept.
func TestRestoreKeepsConcurrentWrites(t *testing.T) { //nolint:paralleltest // it sets a hook of the package
	r := newRig(t)
	for _, name := range []string{"rewritten", "renamed", "plain"} {
		r.write(name, "one")
	}
	r.must(os.Symlink("one", r.path("link")))
	v := r.take()
	for _, name := range []string{"rewritten", "renamed", "plain", "deleted", "deleted-too"} {
		r.write(name, "two")
	}
	r.must(errors.Join(os.Remove(r.path("link")), os.Symlink("two", r.path("link"))))
	end := restore.SetBeforeReplace(func(dir, name string) {
		if dir != r.root || strings.HasPrefix(name, ".entire-tmp-") {
			return
		}
		switch name {
		case "rewritten", "deleted":
			r.write(name, "saved")
		case "renamed", "deleted-too":
			r.write("temp", "saved")
			r.must(os.Rename(r.path("temp"), r.path(name)))
		case "link":
			r.must(errors.Join(os.Remove(r.path(name)), os.Symlink("saved", r.path(name))))
		}
	})
	defer end()
	done, err := r.try(v, restore.Scope{})
	if !errors.Is(err, restore.ErrIncomplete) {
		t.Errorf("%v", err)
	}
	var failed []string
	for _, f := range done.Failed {
		failed = append(failed, f.Path)
	}
	if len(failed) != 5 {
		t.Errorf("failed: %q", failed)
	}
	for _, name := range []string{"rewritten", "deleted", "renamed", "deleted-too"} {
		r.is(name, "saved")
	}
	if to, err := os.Readlink(r.path("link")); err != nil || to != "saved" {
		t.Errorf("%q, %v", to, err)
	}
	r.is("plain", "one")
	if left, _ := filepath.Glob(r.path(".entire-tmp-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// A file with the same size and time as before, but other content, is detected as changed.
func TestRestoreDetectsChangeWithSameTime(t *testing.T) { //nolint:paralleltest // it sets a hook of the package
	r := newRig(t)
	r.write("file", "one")
	r.write("other", "one")
	v := r.take()
	r.write("file", "two")
	r.write("other", "two")
	end := restore.SetBeforeReplace(func(dir, name string) {
		if dir == r.root && name == "file" { // "other" is replaced after it
			info, err := os.Stat(r.path("other"))
			r.must(err)
			r.write("other", "own")
			r.must(os.Chtimes(r.path("other"), info.ModTime(), info.ModTime()))
		}
	})
	defer end()
	done, err := r.try(v, restore.Scope{})
	if !errors.Is(err, restore.ErrIncomplete) || len(done.Failed) != 1 {
		t.Errorf("%v: %v", err, done.Failed)
	}
	r.is("file", "one")
	r.is("other", "own")
}

// A database whose log a program creates after the rescue was taken stays as it is: a restored
// main file must not get that log, and the log must not be replaced.
func TestRestoreKeepsDatabaseWithNewLog(t *testing.T) { //nolint:paralleltest // it sets a hook of the package
	r := newRig(t)
	header := "SQLite format 3\x00"
	r.write("a", "one")
	r.write("x.db", header+"one")
	r.write("x.db-wal", "log")
	v := r.take()
	r.write("a", "two")
	r.write("x.db", header+"two")
	r.must(os.Remove(r.path("x.db-wal")))
	end := restore.SetBeforeReplace(func(_, name string) {
		if name == "a" {
			r.write("x.db-wal", "saved")
		}
	})
	defer end()
	done, err := r.try(v, restore.Scope{})
	if !errors.Is(err, restore.ErrIncomplete) || len(done.Failed) != 2 {
		t.Errorf("%v: %v", err, done.Failed)
	}
	r.is("a", "one")
	r.is("x.db", header+"two")
	r.is("x.db-wal", "saved")
	if left, _ := filepath.Glob(r.path(".entire-tmp-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// rig is a tree of a few files, and its store, held.
type rig struct {
	t    *testing.T
	root string
	held *bands.Held
	opts bands.Options
}

func newRig(t *testing.T) *rig {
	t.Helper()
	dir := t.TempDir()
	r := &rig{t: t, root: filepath.Join(dir, "tree")}
	r.must(os.Mkdir(r.root, 0o755))
	store, err := bands.Create(filepath.Join(dir, "store"))
	r.must(err)
	r.held, err = store.Hold(t.Context())
	r.must(err)
	t.Cleanup(func() { r.must(r.held.Release()) })
	r.opts = bands.Options{Root: r.root, Lineage: bands.PlainLineage, Cap: 1 << 40, Floor: 1, Now: time.Now, Home: dir}
	return r
}

func (r *rig) path(name string) string { return filepath.Join(r.root, name) }

func (r *rig) write(name, text string) {
	r.t.Helper()
	r.must(os.WriteFile(r.path(name), []byte(text), 0o644))
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) is(name, want string) {
	r.t.Helper()
	if got, err := os.ReadFile(r.path(name)); err != nil || string(got) != want {
		r.t.Errorf("%s is %q, %v; want %q", name, got, err, want)
	}
}

func (r *rig) take() bands.Version {
	r.t.Helper()
	taken, err := capture.Take(r.t.Context(), r.held, capture.TakeOptions{Options: r.opts, Cause: bands.Named, Force: true})
	r.must(err)
	return taken.Snapshot.Version
}

func (r *rig) try(v bands.Version, in restore.Scope) (restore.Result, error) {
	r.t.Helper()
	return restore.Run(r.t.Context(), r.held, v, restore.Options{Options: r.opts, Scope: in})
}
