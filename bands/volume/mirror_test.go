package volume_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// held returns the part of a model that is mirrored. The holes of small files aren't.
func held(m treetest.Model) treetest.Model {
	for path, node := range m {
		if !node.Kind.Held() {
			delete(m, path)
			continue
		}
		node.Data = ""
		m[path] = node
	}
	return m
}

// TestUpdate mirrors random trees, also onto others and after edits.
func TestUpdate(t *testing.T) {
	t.Parallel()
	testkit.Long(t, "random trees")
	all, n := t.TempDir(), 0
	rapid.Check(t, func(r *rapid.T) {
		n++
		dir := filepath.Join(all, strconv.Itoa(n))
		defer func() {
			treetest.Loosen(dir)
			_ = os.RemoveAll(dir)
		}()
		from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
		if err := os.MkdirAll(from, 0o755); err != nil {
			r.Fatal(err)
		}
		if err := os.MkdirAll(to, 0o755); err != nil {
			r.Fatal(err)
		}
		tree, other := treetest.New(r, from, treetest.Drawn(r)), treetest.New(r, to, treetest.Drawn(r))
		tree.Plant(12)
		other.Plant(6)
		for range 2 {
			if _, err := volume.Mirror(r.Context(), from, to, volume.MirrorOptions{Content: true}); err != nil {
				r.Fatal(err)
			}
			if diff := treetest.Diff(held(tree.Read()), held(treetest.Read(r, to))); diff != "" {
				r.Fatal(diff)
			}
			for _, dry := range []bool{true, false} {
				report, err := volume.Mirror(r.Context(), from, to, volume.MirrorOptions{Content: true, Dry: dry})
				if err != nil || len(report.Changed) > 0 {
					r.Fatalf("what is equal was changed: %q, %v", report.Changed, err)
				}
			}
			tree.Edit(6)
		}
	})
}

// TestUpdateReports changes one thing at a time.
func TestUpdateReports(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	fine := func(errs ...error) {
		t.Helper()
		for _, err := range errs {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	at := func(name string) string { return filepath.Join(from, name) }
	update := func(o volume.MirrorOptions) volume.MirrorReport {
		t.Helper()
		o.Skip = []string{"skipped"}
		report, err := volume.Mirror(t.Context(), from, to, o)
		fine(err)
		slices.Sort(report.Changed)
		// The time of the folder itself may be equal by chance.
		report.Changed = slices.DeleteFunc(report.Changed, func(path string) bool { return path == "." })
		if len(report.Changed) == 0 {
			report.Changed = nil
		}
		return report
	}
	fine(os.Mkdir(at("dir"), 0o755), os.WriteFile(at("dir/one"), []byte("1"), 0o644), os.Link(at("dir/one"), at("two")),
		os.Symlink("dir/one", at("link")), unix.Mkfifo(at("fifo"), 0o644), os.WriteFile(at("skipped"), nil, 0o644),
		os.WriteFile(filepath.Join(to, "skipped"), []byte("other"), 0o644))
	if diff := cmp.Diff(volume.MirrorReport{Files: 1, Bytes: 1, Changed: []string{"dir", "dir/one", "link", "two"}, LeftOut: []string{"fifo"}}, update(volume.MirrorOptions{})); diff != "" {
		t.Error(diff)
	}
	present, err := os.Stat(at("dir/one"))
	fine(err)
	for _, step := range []struct {
		name string
		do   func() error
		o    volume.MirrorOptions
		want []string
	}{
		{"nothing", func() error { return nil }, volume.MirrorOptions{Content: true}, nil},
		{"content of the same size and time, not read", func() error {
			return errors.Join(os.WriteFile(at("dir/one"), []byte("2"), 0o644), os.Chtimes(at("dir/one"), present.ModTime(), present.ModTime()))
		}, volume.MirrorOptions{}, nil},
		{"would change", func() error { return nil }, volume.MirrorOptions{Content: true, Dry: true}, []string{"dir/one", "two"}},
		{"content", func() error { return nil }, volume.MirrorOptions{Content: true}, []string{"dir/one", "two"}},
		{"a mode", func() error { return os.Chmod(at("dir"), 0o500) }, volume.MirrorOptions{}, []string{"dir"}},
		{"a link less", func() error { return os.Remove(at("two")) }, volume.MirrorOptions{}, []string{"two"}},
		{"another kind", func() error { return errors.Join(os.Remove(at("link")), os.Mkdir(at("link"), 0o755)) }, volume.MirrorOptions{}, []string{"link"}},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if diff := cmp.Diff(step.want, update(step.o).Changed); diff != "" {
			t.Errorf("%s: %s", step.name, diff)
		}
	}
	if data, err := os.ReadFile(filepath.Join(to, "skipped")); err != nil || string(data) != "other" {
		t.Errorf("skipped: %q, %v", data, err)
	}
	fine(os.Chmod(at("dir"), 0o700), os.Chmod(filepath.Join(to, "dir"), 0o700))
}
