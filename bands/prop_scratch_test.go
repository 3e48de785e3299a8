//go:build linux || darwin

package bands_test

import (
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// TestPropScratch checks that a scratch tree, whatever was changed in it, has exactly the files
// of the snapshot that it is updated to.
func TestPropScratch(t *testing.T) {
	t.Parallel()
	create := worlds(t)
	rapid.Check(t, func(r *rapid.T) {
		w := create(r)
		w.tree.Plant(15)
		w.take(capture.TakeOptions{})
		for range 2 {
			w.tree.Edit(6)
			w.take(capture.TakeOptions{})
		}
		w.scratch(treetest.Drawn(r), func(n int) int { return rapid.IntRange(0, n-1).Draw(r, "version") })
	})
}

// scratch updates a scratch tree to several versions, with edits in between.
func (w *world) scratch(src treetest.Source, choose func(n int) int) {
	w.tb.Helper()
	ctx, versions := w.ctx.Context(), w.versions()
	base := filepath.Join(w.dir, "base")
	w.must(os.Mkdir(base, 0o700))
	s := &restore.ScratchTree{Store: w.store, Base: base, Now: w.opts.Now}
	at := w.snapshot(versions[choose(len(versions))])
	state, err := s.Make(ctx, at, nil)
	w.must(err)
	for range 3 {
		w.checkScratch(s.Dir(), at.Version)
		treetest.New(w.tb, s.Dir(), src).Edit(5)
		next := w.snapshot(versions[choose(len(versions))])
		state, err = s.Update(ctx, state, at, next)
		w.must(err)
		at = next
	}
	w.checkScratch(s.Dir(), at.Version)
	w.must(s.Remove())
}

func (w *world) snapshot(v bands.Version) bands.Snapshot {
	w.tb.Helper()
	s, err := w.store.Snapshot(v)
	w.must(err)
	return s
}

// checkScratch compares a scratch tree with the expected content of a version.
func (w *world) checkScratch(dir string, v bands.Version) {
	w.tb.Helper()
	want := treetest.Model{}
	for path, node := range w.holds[v] {
		if node.Kind.Held() && (filepath.Base(path) != ".git" || node.Kind == treetest.Dir) {
			want[path] = node
		}
	}
	want.Relink()
	if diff := treetest.Diff(want, treetest.Read(w.tb, dir)); diff != "" {
		w.tb.Fatalf("scratch tree of %v:\n%s", v, diff)
	}
}
