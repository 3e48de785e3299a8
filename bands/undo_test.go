//go:build linux || darwin

package bands_test

import (
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/restore"
)

// undo undoes the last restore in a scope, and checks that its steps are those of the preview.
func (r *rig) undo(in restore.Scope) restore.Result {
	r.t.Helper()
	return r.runAsPlanned(in, restore.PlanUndo, restore.Undo)
}

func (r *rig) redo(in restore.Scope) restore.Result {
	r.t.Helper()
	return r.runAsPlanned(in, restore.PlanRedo, restore.Redo)
}

// An undo reverts only the changes of the restore; a preview lists the same.
func TestUndoRevertsOnlyTheRestore(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a", "one")
	r.write("b", "one")
	r.write("dir/c", "one")
	r.write("log", "first\n")
	v := r.take()
	r.write("a", "two")
	r.write("made/by/agent", "x")
	r.write("log", "first\nsecond\n")
	r.restore(v, restore.Scope{Keep: func(path string, _, _ *band.Entry) bool { return path == "log" }})
	r.write("b", "mine")
	r.write("dir/c", "mine")
	r.write("new/file", "mine")
	r.write("log", "first\nsecond\nthird\n")

	done := r.undo(restore.Scope{})
	r.is("a", "two")
	r.is("made/by/agent", "x")
	r.is("b", "mine")
	r.is("dir/c", "mine")
	r.is("new/file", "mine")
	r.is("log", "first\nsecond\nthird\n")
	if diff := cmp.Diff([]string{"b", "dir/c", "log", "new"}, done.Plan.Untouched); diff != "" {
		t.Error(diff)
	}
	if len(done.Plan.ChangedSince) > 0 {
		t.Errorf("changed since: %q", done.Plan.ChangedSince)
	}
	r.redo(restore.Scope{})
	r.is("a", "one")
	r.is("made/by/agent", "")
	r.is("made", "")
	r.is("b", "mine")
	r.is("new/file", "mine")
}

// A path that was changed again after the restore is kept.
func TestUndoKeepsLaterChanges(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("edited", "one")
	r.write("deleted", "one")
	r.write("moded", "one")
	r.write("touched", "one")
	r.write("came/back", "one")
	v := r.take()
	for _, name := range []string{"edited", "deleted", "moded", "touched"} {
		r.write(name, "two")
	}
	r.remove("came")
	r.write("gone/file", "two")
	r.restore(v, restore.Scope{})
	r.write("edited", "mine")
	r.remove("deleted")
	r.must(os.Chmod(r.path("moded"), 0o755))
	r.must(os.Chtimes(r.path("touched"), r.opts.Now(), r.opts.Now()))
	r.write("came/more", "mine")
	r.write("gone/file", "mine")

	done := r.undo(restore.Scope{})
	if diff := cmp.Diff([]string{"deleted", "edited", "gone/file", "moded"}, done.Plan.ChangedSince); diff != "" {
		t.Error(diff)
	}
	r.is("edited", "mine")
	r.is("deleted", "")
	r.is("moded", "one")
	r.is("touched", "two")
	r.is("came/back", "")
	r.is("came/more", "mine")
	r.is("gone/file", "mine")

	// A redo doesn't overwrite new work either.
	r.write("touched", "mine")
	done = r.redo(restore.Scope{})
	if diff := cmp.Diff([]string{"touched"}, done.Plan.ChangedSince); diff != "" {
		t.Error(diff)
	}
	r.is("touched", "mine")
	r.is("came/back", "one")
}

// An undo of some paths leaves the others to the next undo.
func TestUndoOfPaths(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, name := range []string{"a", "b", "dir/c", "dir/d"} {
		r.write(name, "one")
	}
	v := r.take()
	for _, name := range []string{"a", "b", "dir/c", "dir/d"} {
		r.write(name, "two")
	}
	r.restore(v, restore.Scope{})
	r.undo(restore.Scope{Paths: []string{"a", "dir/c"}})
	r.is("a", "two")
	r.is("b", "one")
	r.is("dir/c", "two")
	r.is("dir/d", "one")
	r.redo(restore.Scope{Paths: []string{"dir"}})
	r.is("a", "two")
	r.is("dir/c", "one")
	r.undo(restore.Scope{})
	r.is("dir/c", "two")
	r.undo(restore.Scope{})
	for _, name := range []string{"a", "b", "dir/c", "dir/d"} {
		r.is(name, "two")
	}
	if _, err := r.tryUndo(restore.Scope{}); !errors.Is(err, bands.ErrNoHistory) {
		t.Errorf("one undo too many: %v", err)
	}
}

func (r *rig) tryUndo(in restore.Scope) (restore.Result, error) {
	r.t.Helper()
	h := r.hold()
	done, err := restore.Undo(r.t.Context(), h, restore.Options{Options: r.opts, Scope: in})
	r.must(h.Release())
	return done, err
}

// A history from before there were lists of changed paths is still valid.
func TestUndoWithoutChangedList(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a", "one")
	r.write("b", "one")
	v := r.take()
	r.write("a", "two")
	r.write("b", "two")
	r.write("c", "two")
	done := r.restore(v, restore.Scope{Paths: []string{"a", "c"}})
	r.must(os.Remove(r.store.SnapshotDir(done.Rescue.Version) + "/changed"))
	r.write("d", "mine")
	r.undo(restore.Scope{})
	r.is("a", "two")
	r.is("b", "two")
	r.is("c", "two")
	r.is("d", "mine")
}

// With a damaged list of changed paths, an undo fails and changes nothing.
func TestUndoWithDamagedChangedList(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a", "one")
	v := r.take()
	r.write("a", "two")
	done := r.restore(v, restore.Scope{})
	path := r.store.SnapshotDir(done.Rescue.Version) + "/changed"
	data, err := os.ReadFile(path)
	r.must(err)
	for i := 8; i < len(data); i++ { // a decoder may ignore a change before that
		bad := append([]byte(nil), data...)
		bad[i] ^= 0x40
		r.must(os.WriteFile(path, bad, 0o600))
		if _, err := r.tryUndo(restore.Scope{}); err == nil {
			t.Fatalf("byte %d: no error", i)
		}
		r.is("a", "one")
	}
}
