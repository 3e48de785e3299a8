//go:build linux || darwin

package bands_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/retention"
)

// TestPropStore does all operations of a store in random order. Versions only grow, and the
// existing ones hold the expected content.
func TestPropStore(t *testing.T) {
	t.Parallel()
	create := worlds(t)
	rapid.Check(t, func(r *rapid.T) {
		w := create(r)
		w.tree.Plant(12)
		w.take(capture.TakeOptions{})
		choices := []func(){
			func() { w.tree.Edit(1 + rapid.IntRange(0, 5).Draw(r, "edits")) },
			func() { w.take(capture.TakeOptions{}) },
			func() { w.take(capture.TakeOptions{Cause: bands.Auto, SkipUnchanged: true}) },
			func() { w.restore(rapid.SampledFrom(w.versions()).Draw(r, "version")) },
			func() { w.delete(rapid.SampledFrom(w.versions()).Draw(r, "version")) },
			func() { w.prune(rapid.IntRange(0, 3).Draw(r, "keep")) },
			func() {
				w.hold(func(h *bands.Held) error { _, err := retention.Compact(r.Context(), h); return err })
			},
			func() { w.hold((*bands.Held).DropCaches) },
			func() { w.hold((*bands.Held).Sweep) },
			func() { w.reopen() },
			func() { w.du() },
		}
		for range rapid.IntRange(1, 15).Draw(r, "doings") {
			if len(w.holds) == 0 {
				w.take(capture.TakeOptions{})
			}
			rapid.SampledFrom(choices).Draw(r, "doing")()
			w.check()
			w.checkNoLeftovers()
		}
	})
}

func (w *world) delete(v bands.Version) {
	w.tb.Helper()
	w.hold(func(h *bands.Held) error { return retention.Delete(h, v) })
	delete(w.holds, v)
}

// prune prunes the store and checks that named snapshots, rescues of today and the latest
// snapshot are kept.
func (w *world) prune(keep int) {
	w.tb.Helper()
	before, err := w.store.Snapshots()
	w.must(err)
	var pruned retention.Pruned
	w.hold(func(h *bands.Held) error {
		var err error
		pruned, err = retention.Prune(w.ctx.Context(), h, retention.Policy{Now: time.Now(), Keep: keep})
		return err
	})
	for i, s := range before {
		if !slices.Contains(pruned.Versions, s.Version) {
			continue
		}
		if s.Cause == bands.Named || s.Cause == bands.Rescue || i == len(before)-1 {
			w.tb.Fatalf("%v was pruned, a %s one, %d of %d", s.Version, s.Cause, i+1, len(before))
		}
		delete(w.holds, s.Version)
	}
}

func (w *world) reopen() {
	w.tb.Helper()
	var err error
	w.store, err = bands.Open(w.store.Dir())
	w.must(err)
}

// du checks that the snapshots' own sizes are not more than the size of all live records.
func (w *world) du() {
	w.tb.Helper()
	usage, err := retention.Measure(w.ctx.Context(), w.store, nil)
	w.must(err)
	own := int64(0)
	for _, s := range usage.Snapshots {
		own += s.Own
	}
	if own > usage.Live || len(usage.Snapshots) != len(w.holds) {
		w.tb.Fatalf("usage: %+v of %d snapshots", usage, len(w.holds))
	}
}
