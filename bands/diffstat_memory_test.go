//go:build linux || darwin

package bands_test

import (
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/bands/diff"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestDiffReadsOnlyStartOfLargeFiles is not parallel: it measures allocations.
func TestDiffReadsOnlyStartOfLargeFiles(t *testing.T) {
	testkit.Long(t, "files of gigabytes")
	const huge = 4 << 30
	r := newRig(t)
	sparse := func(name string) {
		r.write(name, "text\n")
		r.must(os.Truncate(r.path(name), huge))
	}
	r.write("log", strings.Repeat("a line of a log\n", 2<<20))
	sparse("deleted")
	sparse("changed")
	v := r.take()
	r.remove("deleted")
	r.write("log", strings.Repeat("a line of a log\n", 2<<20)+"one more\n")
	f, err := os.OpenFile(r.path("changed"), os.O_WRONLY, 0)
	r.must(err)
	_, err = f.WriteAt([]byte("x"), huge-1)
	r.must(err)
	r.must(f.Close())
	sparse("added")

	old, now := r.sides(v)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	list, err := diff.Stat(t.Context(), old, now, diff.Options{})
	r.must(err)
	_, err = diff.Unified(t.Context(), &strings.Builder{}, old, now, diff.Options{})
	r.must(err)
	runtime.ReadMemStats(&after)
	if len(list) != 4 {
		t.Errorf("%+v", list)
	}
	if took := after.TotalAlloc - before.TotalAlloc; took > 40<<20 {
		t.Errorf("allocated %d MB", took>>20)
	}
}
