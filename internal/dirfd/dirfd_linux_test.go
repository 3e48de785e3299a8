package dirfd_test

import (
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// TestChmodFallback checks the fallback for systems without the newer call.
func TestChmodFallback(t *testing.T) {
	t.Parallel()
	d := root(t, t.TempDir())
	write(t, d, "file", "")
	must(t, d.Symlink("file", "link"), d.Entry("file").Chmod(0), dirfd.ChmodByPath(d.Fd(), "file", 0o2640))
	if err := dirfd.ChmodByPath(d.Fd(), "link", 0o777); err == nil {
		t.Error("a link's mode was set")
	}
	var st dirfd.Stat
	if must(t, d.Stat("file", &st)); st.Mode != dirfd.ModeRegular|0o2640 {
		t.Errorf("mode %o", st.Mode)
	}
}

func TestStatDoesNotAllocate(t *testing.T) {
	d := root(t, t.TempDir())
	name := strings.Repeat("long", 20)
	write(t, d, name, "text")
	var st dirfd.Stat
	if n := testing.AllocsPerRun(100, func() { _ = d.Stat(name, &st) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	buf := make([]byte, 8<<10)
	look := func([]byte, byte) error { return d.Stat(name, &st) }
	if n := testing.AllocsPerRun(100, func() { _ = d.Names(buf, look) }); n != 0 {
		t.Errorf("%v allocations for a directory", n)
	}
}
