//go:build linux || darwin

package bands_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
)

// partial takes a partial snapshot of files outside the tree.
func (r *rig) partial(files map[string]string, only ...string) bands.Version {
	r.t.Helper()
	o := r.opts
	o.Root, o.Lineage, o.Only = r.t.TempDir(), "aaaaaa", only
	for name, text := range files {
		path := filepath.Join(o.Root, name)
		r.must(errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)))
	}
	h := r.hold()
	taken, err := capture.Take(r.t.Context(), h, capture.TakeOptions{Options: o, Cause: bands.Rescue, Force: true})
	r.must(errors.Join(err, h.Release()))
	return taken.Snapshot.Version
}

// isMissing fails the test if the path exists.
func (r *rig) isMissing(name string) {
	r.t.Helper()
	if _, err := os.Lstat(r.path(name)); err == nil {
		r.t.Errorf("%s is there", name)
	}
}

// A restore of a partial snapshot, its undo and its redo change only its paths, and the rescues
// hold only these.
func TestPartialSnapshot(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a", "one")
	r.write("dir/b", "one")
	r.write("dir/other", "one")
	r.write("other", "one")
	whole := r.take()
	v := r.partial(map[string]string{"a": "two", "new/c": "two"}, "a", "dir/b", "new/c", "\xff")
	changed := func() {
		r.is("a", "two")
		r.isMissing("dir/b")
		r.is("new/c", "two")
	}

	done := r.restore(v, restore.Scope{})
	changed()
	want := bands.Paths{"a", "dir/b", "new/c", "\xff"}
	if diff := cmp.Diff(want, done.Rescue.Only); diff != "" || done.Rescue.Totals.Files != 2 || done.Rescue.Lineage != "aaaaaa" {
		t.Errorf("the rescue has %d files of the lineage %s: %s", done.Rescue.Totals.Files, done.Rescue.Lineage, diff)
	}
	if last, _, err := r.store.Lineage(bands.PlainLineage).Latest(); err != nil || last.Version != whole {
		t.Errorf("the last snapshot of the tree is %v, %v", last.Version, err)
	}

	r.write("new/mine", "later")
	r.write("other", "later")
	done = r.undo(restore.Scope{})
	r.is("a", "one")
	r.is("dir/b", "one")
	r.isMissing("new/c")
	r.is("new/mine", "later")
	if left := len(done.Plan.Unknown) + len(done.Plan.Untouched) + len(done.Plan.ChangedSince) + len(done.Plan.Kept); left > 0 || len(done.Failed) > 0 {
		t.Errorf("%d paths are named, failed: %v", left, done.Failed)
	}
	r.redo(restore.Scope{})
	changed()
	r.is("new/mine", "later")
	r.is("other", "later")
	r.is("dir/other", "one")

	r.write("a", "mine")
	done = r.undo(restore.Scope{Paths: []string{"a", "dir"}})
	r.is("a", "mine")
	r.is("dir/b", "one")
	r.is("new/c", "two")
	if diff := cmp.Diff([]string{"a"}, done.Plan.ChangedSince); diff != "" {
		t.Error(diff)
	}
}

func TestPathsInJSON(t *testing.T) {
	t.Parallel()
	want := bands.Paths{"a", "\xff\n", `"quoted"`, "ü"}
	data, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got bands.Paths
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
