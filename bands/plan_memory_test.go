//go:build linux || darwin

package bands_test

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestPlanMemory is not parallel: it measures the heap.
func TestPlanMemory(t *testing.T) {
	testkit.Long(t, "10,000 files")
	const files, most = 10_000, 100 // most is in bytes per path
	r := newRig(t)
	for i := range files {
		if i%1000 == 0 {
			r.must(os.Mkdir(r.path(fmt.Sprintf("folder%02d", i/1000)), 0o755))
		}
		r.must(os.WriteFile(r.path(fmt.Sprintf("folder%02d/file%05d.txt", i/1000, i)), nil, 0o644))
	}
	full := r.take()
	for i := range files / 1000 {
		r.remove(fmt.Sprintf("folder%02d", i))
	}
	empty := r.take()
	held := func() int64 {
		runtime.GC()
		runtime.GC() // the second run frees the contents of pools
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return int64(stats.HeapAlloc)
	}
	measure := func(what string, kind restore.StepKind, v bands.Version) {
		before := held()
		planned := r.plan(v, restore.Scope{})
		took := held() - before
		if n := planned.Count(kind); n != files+files/1000 {
			t.Fatalf("%s: %d steps", what, n)
		}
		if took > files*most {
			t.Errorf("%s: the plan holds %d bytes a path", what, took/files)
		}
	}
	measure("everything is made", restore.StepCreate, full)
	r.restore(full, restore.Scope{})
	measure("everything is removed", restore.StepDelete, empty)
	for i := range files {
		r.must(os.WriteFile(r.path(fmt.Sprintf("folder%02d/file%05d.txt", i/1000, i)), []byte("text"), 0o644))
	}
	before := held()
	planned := r.plan(full, restore.Scope{})
	if took := held() - before; planned.Count(restore.StepRewrite) != files || took > files*most {
		t.Errorf("everything is changed: %d steps, %d bytes a path", planned.Count(restore.StepRewrite), took/files)
	}
}
