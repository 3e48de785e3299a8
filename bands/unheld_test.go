//go:build linux || darwin

package bands_test

import (
	"context"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/bands/restore"
)

// rigWithoutRoom returns a tree whose ignored directories don't fit into the store.
func rigWithoutRoom(t *testing.T) *rig {
	t.Helper()
	r := rigWithFiles(t)
	r.write("cache/file", noise(3<<20))
	r.write("dir/cache/file", noise(3<<20))
	r.write("tmp/file", "excluded")
	r.opts.Exclude = []string{"tmp/"}
	r.opts.Cap = 1 << 20
	r.opts.Ignored = func(_ context.Context, dirs []string) ([]string, error) {
		return slices.DeleteFunc(dirs, func(d string) bool { return d != "cache" && d != "dir/cache" }), nil
	}
	return r
}

// Paths that neither side holds are reported, also in directories that didn't change.
func TestUnheldPathsAreReported(t *testing.T) {
	t.Parallel()
	r := rigWithoutRoom(t)
	v := r.auto()
	want := []string{"cache", "dir/cache"}
	if diff := cmp.Diff(want, v.Unheld()); diff != "" {
		t.Errorf("of the snapshot: %s", diff)
	}
	r.write("cache/file", noise(3 << 20)[1:])
	r.write("dir/cache/file", noise(3 << 20)[1:])
	planned := r.plan(v.Snapshot.Version, restore.Scope{})
	if diff := cmp.Diff(want, planned.Unknown); diff != "" || !planned.Empty() {
		t.Errorf("of a restore: %s %v", diff, steps(planned))
	}
	r.write("one", "changed")
	planned = r.plan(v.Snapshot.Version, restore.Scope{})
	if diff := cmp.Diff(want, planned.Unknown); diff != "" {
		t.Errorf("of one that changes something: %s", diff)
	}
	planned = r.plan(v.Snapshot.Version, restore.Scope{Paths: []string{"dir"}})
	if diff := cmp.Diff(want[1:], planned.Unknown); diff != "" {
		t.Errorf("of one path: %s", diff)
	}
}

// Paths that one of two snapshots doesn't hold can't be compared.
func TestUncomparedPathsAreReported(t *testing.T) {
	t.Parallel()
	r := rigWithoutRoom(t)
	first := r.auto().Snapshot
	r.write("one", "changed")
	r.remove("cache")
	second := r.auto().Snapshot
	for _, test := range []struct {
		sides []bands.Snapshot
		paths []string
		want  []string
	}{
		{[]bands.Snapshot{first, second}, nil, []string{"cache", "dir/cache"}},
		{[]bands.Snapshot{second, first}, nil, []string{"cache", "dir/cache"}},
		{[]bands.Snapshot{second, second}, nil, []string{"dir/cache"}},
		{[]bands.Snapshot{first, second}, []string{"dir"}, []string{"dir/cache"}},
		{[]bands.Snapshot{first, second}, []string{"one"}, nil},
	} {
		var sides []diff.Side
		for _, v := range test.sides {
			side, err := diff.SnapshotSide(r.store, v)
			r.must(err)
			defer func() { r.must(side.Close()) }()
			sides = append(sides, side)
		}
		got, err := diff.Uncompared(t.Context(), diff.Options{Paths: test.paths}, sides...)
		r.must(err)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%v: %s", test.paths, diff)
		}
	}
}

// The same for files that can't be read.
func TestUnreadablePathsAreReported(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root can read everything")
	}
	r := rigWithFiles(t)
	r.write("dir/secret", "x")
	r.must(os.Chmod(r.path("dir/secret"), 0))
	r.must(os.Chmod(r.path("dir/deep"), 0))
	t.Cleanup(func() { _ = os.Chmod(r.path("dir/deep"), 0o700) })
	want := []string{"dir/deep", "dir/secret"}
	v := r.auto()
	if diff := cmp.Diff(want, v.Unheld()); diff != "" {
		t.Errorf("of the snapshot: %s", diff)
	}
	r.write("one", "changed")
	done := r.restore(v.Snapshot.Version, restore.Scope{})
	if diff := cmp.Diff(want, done.Plan.Unknown); diff != "" {
		t.Errorf("of a restore: %s", diff)
	}
}
