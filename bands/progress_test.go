package bands_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/bands/restore"
)

// A snapshot, a restore and an export report the entries and bytes done, and the totals.
func TestProgressReportsEntriesAndBytes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	large := strings.Repeat("x", 1<<16)
	for _, name := range []string{"a/1", "a/2", "b/3", "4"} {
		r.write(name, large+name)
	}
	const size = 4<<16 + 3 + 3 + 3 + 1
	var last map[string]bands.Progress
	progress := func(p bands.Progress) {
		before := last[p.Stage]
		if p.Done < before.Done || p.Bytes < before.Bytes || before.Total != p.Total && before.Total > 0 {
			t.Errorf("%+v after %+v", p, before)
		}
		last[p.Stage] = p
	}
	check := func(stage string, want bands.Progress) {
		t.Helper()
		want.Stage = stage
		if diff := cmp.Diff(want, last[stage]); diff != "" {
			t.Errorf("last of %s (-want +got):\n%s", stage, diff)
		}
		last = map[string]bands.Progress{}
	}

	last = map[string]bands.Progress{}
	h := r.hold()
	taken, err := capture.Take(t.Context(), h, capture.TakeOptions{Options: r.opts, Cause: bands.Named, Force: true, Progress: progress})
	r.must(err)
	check("capture", bands.Progress{Done: 6, Total: 6, Bytes: size, Size: last["capture"].Size})

	for _, name := range []string{"a/1", "a/2", "b/3"} {
		r.remove(name)
	}
	r.write("new", "1")
	_, err = restore.Run(t.Context(), h, taken.Snapshot.Version, restore.Options{Options: r.opts, Scope: restore.Scope{}, Progress: progress})
	r.must(err)
	r.must(h.Release())
	check("restore", bands.Progress{Done: 4, Total: 4, Bytes: size - 1<<16 - 1, Size: size - 1<<16 - 1})

	_, err = restore.Export(t.Context(), h.Store, taken.Snapshot, t.TempDir(), restore.ExportOptions{Progress: progress})
	r.must(err)
	check("restore", bands.Progress{Done: 6, Total: 6, Bytes: size, Size: size})
}

// A comparison reports the files whose lines are compared, and their bytes on both sides.
func TestDiffProgress(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.write("a", "1\n")
	r.write("b", "12\n")
	r.write("same", "same\n")
	v := r.take()
	r.write("a", "1\n2\n3\n")
	r.remove("b")
	r.write("c", "1234\n")
	old, now := r.sides(v)
	var last bands.Progress
	calls := 0
	files, err := diff.Stat(t.Context(), old, now, diff.Options{Progress: func(p bands.Progress) {
		last = p
		calls++
	}})
	r.must(err)
	const size = 2 + 6 + 3 + 5
	if diff := cmp.Diff(bands.Progress{Done: 3, Total: 3, Bytes: size, Size: size}, last); diff != "" || calls != 3 || len(files) != 3 {
		t.Errorf("%d calls for %d files; last (-want +got):\n%s", calls, len(files), diff)
	}
}
