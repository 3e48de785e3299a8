//go:build linux || darwin

package bands_test

import (
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// contexter is implemented by tests and by runs of properties.
type contexter interface{ Context() context.Context }

// worlds returns a function that makes a world for a run of a property.
func worlds(t *testing.T) func(r *rapid.T) *world {
	t.Helper()
	all, n := t.TempDir(), 0
	return func(r *rapid.T) *world {
		n++
		w := newWorld(r, r, filepath.Join(all, strconv.Itoa(n)), treetest.Drawn(r))
		r.Cleanup(w.remove)
		return w
	}
}

// TestPropRestore checks that each snapshot is restored exactly, whatever was changed since, and
// that Undo reverts the restore.
func TestPropRestore(t *testing.T) {
	t.Parallel()
	create := worlds(t)
	rapid.Check(t, func(r *rapid.T) {
		w := create(r)
		w.story(!testing.Short() && rapid.Bool().Draw(r, "large"))
	})
}

// story takes two snapshots of a changing tree, restores both, and undoes and redoes that.
func (w *world) story(large bool) {
	w.tb.Helper()
	w.tree.Large = large
	w.tree.Plant(25)
	one := w.take(capture.TakeOptions{}).Snapshot.Version
	w.tree.Edit(12)
	two := w.take(capture.TakeOptions{}).Snapshot.Version
	w.tree.Edit(12)
	before := w.tree.Read()
	w.restore(one)
	between := w.tree.Read()
	w.restore(two)
	w.change("undo", between, w.tree.Read(), w.undo)
	w.change("undo again", before, w.tree.Read(), w.undo)
	w.change("redo", between, w.tree.Read(), w.redo)
	w.check()
}

func (w *world) undo(h *bands.Held) (restore.Result, error) {
	return restore.Undo(w.ctx.Context(), h, w.restoreOptions())
}

func (w *world) redo(h *bands.Held) (restore.Result, error) {
	return restore.Redo(w.ctx.Context(), h, w.restoreOptions())
}

// TestPropUnchanged checks that nothing has changed right after a snapshot, and that a change is
// detected, however soon it is made and whatever its times are.
func TestPropUnchanged(t *testing.T) {
	t.Parallel()
	create := worlds(t)
	rapid.Check(t, func(r *rapid.T) {
		w := create(r)
		w.tree.Plain = true
		w.tree.Plant(15)
		w.take(capture.TakeOptions{})
		for range 4 {
			if taken := w.take(capture.TakeOptions{SkipUnchanged: true}); !taken.Unchanged {
				r.Fatalf("nothing was done, but %v was taken with %d changes", taken.Snapshot.Version, taken.Changes)
			}
			before := w.tree.Read()
			w.tree.Edit(2)
			diff := treetest.Diff(before, w.tree.Read())
			if taken := w.take(capture.TakeOptions{SkipUnchanged: true}); taken.Unchanged != (diff == "") {
				r.Fatalf("unchanged: %v, but there was done:\n%s", taken.Unchanged, diff)
			}
		}
		w.check()
	})
}

// TestPropPlanChangesNothing checks that a preview changes nothing, and that it is empty only if
// a restore would change nothing.
func TestPropPlanChangesNothing(t *testing.T) {
	t.Parallel()
	create := worlds(t)
	rapid.Check(t, func(r *rapid.T) {
		w := create(r)
		w.tree.Plain = true
		w.tree.Plant(20)
		target := w.take(capture.TakeOptions{}).Snapshot
		w.tree.Edit(rapid.IntRange(0, 5).Draw(r, "edits"))
		before, stored := w.tree.Read(), treetest.Read(r, w.store.Dir())
		present, err := capture.Scan(r.Context(), w.store, w.opts)
		w.must(err)
		planned, err := restore.NewPlan(r.Context(), w.store, present, target, restore.Scope{Nested: true})
		w.must(errors.Join(err, present.Close()))
		if diff := treetest.Diff(before, w.tree.Read()); diff != "" {
			r.Fatalf("the tree was changed:\n%s", diff)
		}
		if diff := treetest.Diff(stored, treetest.Read(r, w.store.Dir())); diff != "" {
			r.Fatalf("the store was changed:\n%s", diff)
		}
		paths := map[string]bool{}
		for step := range planned.Steps() {
			paths[step.Path] = true
		}
		for path, node := range before {
			was, ok := w.holds[target.Version][path]
			if ok && was.Kind == treetest.Dir && node.Kind == treetest.Dir {
				continue // its time is set without a step
			}
			if diff := treetest.Diff(alone(w.holds[target.Version], path), alone(before, path)); diff != "" && !paths[path] {
				r.Fatalf("the plan says nothing of %s", diff)
			}
		}
		for path := range w.holds[target.Version] {
			if _, ok := before[path]; !ok && !paths[path] {
				r.Fatalf("the plan says nothing of %q, which has gone", path)
			}
		}
		if treetest.Diff(w.holds[target.Version], before) == "" && !planned.Empty() {
			r.Fatalf("nothing differs, but there are steps: %q", steps(planned))
		}
	})
}

// alone returns the model of one path without its hard links.
func alone(m treetest.Model, path string) treetest.Model {
	node, ok := m[path]
	if !ok {
		return treetest.Model{}
	}
	node.Link = ""
	return treetest.Model{path: node}
}
