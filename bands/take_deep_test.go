//go:build linux || darwin

package bands_test

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/internal/dirfd"
)

// deep calls visit with nested directories, to a depth beyond the maximum path length of the
// system. It creates missing ones.
func (r *rig) deep(visit func(dir *dirfd.Dir, depth int)) {
	r.t.Helper()
	name := strings.Repeat("d", 200)
	dir, err := dirfd.OpenRoot(r.root)
	r.must(err)
	for depth := range 30 {
		next, err := dir.Open(name)
		if os.IsNotExist(err) {
			r.must(dir.Mkdir(name, 0o755))
			next, err = dir.Open(name)
		}
		r.must(err)
		r.must(dir.Close())
		dir = next
		visit(dir, depth)
	}
	r.must(dir.Close())
}

// Entries below the maximum path length are held like others, with symbolic links, extended
// attributes and databases.
func TestTakeOfLongPaths(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the system has no paths that lead through a descriptor")
	}
	r := rigWithFiles(t)
	const head = "SQLite format 3\x00"
	put := func(text string) {
		r.deep(func(dir *dirfd.Dir, _ int) {
			for name, text := range map[string]string{"file": text, "db": head + text} {
				_ = dir.Unlink(name)
				f, err := dir.Create(name, 0o644)
				r.must(err)
				_, err = io.WriteString(f, text)
				r.must(err)
				_ = dirfd.FileXattrs(f).Set("user.mine", []byte(text))
				r.must(f.Close())
			}
			_ = dir.Unlink("link")
			r.must(dir.Symlink(text, "link"))
		})
	}
	put("one")
	first := r.auto()
	put("two")
	if second := r.auto(); first.Snapshot.Totals.Unknown+second.Snapshot.Totals.Unknown != 0 || len(second.Unreadable) > 0 {
		t.Errorf("not held: %+v, %+v", first.Snapshot.Totals, second.Snapshot.Totals)
	}
	r.restore(first.Snapshot.Version, restore.Scope{})
	buf := make([]byte, 100)
	r.deep(func(dir *dirfd.Dir, depth int) {
		var st dirfd.Stat
		for name, want := range map[string]string{"file": "one", "db": head + "one"} {
			n, xattrs, err := dir.ReadSettled(name, buf, &st, &st)
			if err != nil || string(buf[:n]) != want || len(xattrs) > 0 && string(xattrs[0].Value) != want {
				t.Errorf("%d deep, %s is %q with %q, %v", depth, name, buf[:n], xattrs, err)
			}
		}
		if got, err := dir.Readlink("link"); err != nil || got != "one" {
			t.Errorf("%d deep, the link is %q, %v", depth, got, err)
		}
	})
	out := filepath.Join(t.TempDir(), "out")
	done, err := restore.Export(t.Context(), r.store, first.Snapshot, out, restore.ExportOptions{})
	if err == nil && len(done.Failed) > 0 {
		t.Errorf("%d failed and there is no error", len(done.Failed))
	}
}
