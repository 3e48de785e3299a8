//go:build linux || darwin

package bands_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// auto takes a snapshot if something changed, as a hook does.
func (r *rig) auto() capture.Taken {
	r.t.Helper()
	taken, err := r.tryTake(capture.TakeOptions{Options: r.opts, Cause: bands.Auto, SkipUnchanged: true})
	r.must(err)
	return taken
}

func (r *rig) tryTake(o capture.TakeOptions) (capture.Taken, error) {
	r.t.Helper()
	h := r.hold()
	taken, err := capture.Take(r.t.Context(), h, o)
	r.must(h.Release())
	return taken, err
}

// model returns the present tree.
func (r *rig) model() treetest.Model {
	r.t.Helper()
	return treetest.Read(r.t, r.root, ".git", ".entire")
}

// holds checks that the content of the version is want.
func (r *rig) holds(v bands.Version, want treetest.Model) {
	r.t.Helper()
	snapshot, err := r.store.Snapshot(v)
	r.must(err)
	out := filepath.Join(r.t.TempDir(), "out")
	done, err := restore.Export(r.t.Context(), r.store, snapshot, out, restore.ExportOptions{})
	r.must(err)
	if len(done.Failed) > 0 {
		r.t.Errorf("export %s: %v", v, done.Failed)
	}
	if diff := treetest.Diff(want, treetest.Read(r.t, out)); diff != "" {
		r.t.Errorf("%s is not the tree it was taken of:\n%s", v, diff)
	}
}

// takeAndCheck takes a snapshot and checks that it holds the tree.
func (r *rig) takeAndCheck() capture.Taken {
	r.t.Helper()
	want := r.model()
	taken := r.auto()
	r.holds(taken.Snapshot.Version, want)
	return taken
}

func (r *rig) stored(name string) string { return filepath.Join(r.store.Dir(), name) }

// plant makes a small tree of several directories.
func (r *rig) plant() {
	r.t.Helper()
	for _, name := range []string{"one", "two", "dir/three", "dir/four", "dir/deep/five", "other/six"} {
		r.write(name, "text of "+name)
	}
	r.must(errors.Join(os.Symlink("one", r.path("link")), os.Mkdir(r.path("empty"), 0o755)))
}

// rewrite changes a file's bytes with how.
func (r *rig) rewrite(path string, how func(data []byte) []byte) {
	r.t.Helper()
	data, err := os.ReadFile(path)
	r.must(err)
	r.must(os.WriteFile(path, how(data), 0o600))
}

// save reads a file or symlink and returns a function that restores it.
func (r *rig) save(path string) func() {
	r.t.Helper()
	info, err := os.Lstat(path)
	r.must(err)
	if info.Mode()&os.ModeSymlink != 0 {
		target, err := os.Readlink(path)
		r.must(err)
		return func() { r.must(errors.Join(os.RemoveAll(path), os.Symlink(target, path))) }
	}
	data, err := os.ReadFile(path)
	r.must(err)
	return func() { r.must(os.WriteFile(path, data, 0o600)) }
}

func rigWithFiles(t *testing.T) *rig {
	t.Helper()
	r := newRig(t)
	r.plant()
	return r
}
