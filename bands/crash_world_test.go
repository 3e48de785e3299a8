//go:build (faults || fs) && (linux || darwin)

package bands_test

import (
	"errors"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/verify"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

func take(w *world, h *bands.Held) error {
	_, err := capture.Take(w.ctx.Context(), h, capture.TakeOptions{Options: w.opts, Cause: bands.Named, Force: true})
	return err
}

func restoreFirst(w *world, h *bands.Held) error {
	_, err := restore.Run(w.ctx.Context(), h, 1, w.restoreOptions())
	return incomplete(err)
}

// incomplete ignores that obstacles left a restore incomplete: the trees are compared.
func incomplete(err error) error {
	if errors.Is(err, restore.ErrIncomplete) {
		return nil
	}
	return err
}

// checkSnapshots checks that every expected snapshot exists with its content, and that the store
// is not damaged.
func (w *world) checkSnapshots() {
	w.tb.Helper()
	snapshots, err := w.store.Snapshots()
	w.must(err)
	there := map[bands.Version]bool{}
	for _, s := range snapshots {
		there[s.Version] = true
		w.last = max(w.last, s.Version)
	}
	for v := range w.holds {
		if !there[v] {
			w.tb.Fatalf("%v has gone", v)
		}
		w.export(v)
	}
	damage, err := verify.Run(w.ctx.Context(), w.store, 0, nil)
	w.must(err)
	if !damage.OK() {
		w.tb.Fatalf("damaged: %+v", damage)
	}
}

// unchanged checks that the tree equals present.
func (w *world) unchanged(present treetest.Model) {
	w.tb.Helper()
	if diff := treetest.Diff(present, w.tree.Read()); diff != "" {
		w.tb.Fatalf("the tree was changed:\n%s", diff)
	}
}

// checkUsable checks that a sweep, a new snapshot and a restore of an old one work.
func (w *world) checkUsable() {
	w.tb.Helper()
	w.hold((*bands.Held).Sweep)
	w.checkNoLeftovers()
	w.take(capture.TakeOptions{})
	w.export(w.last)
	w.tree.Edit(3)
	w.restore(w.versions()[0])
	damage, err := verify.Run(w.ctx.Context(), w.store, 0, nil)
	w.must(err)
	if !damage.OK() {
		w.tb.Fatalf("damaged in the end: %+v", damage)
	}
}

// adopt adds snapshots that were taken meanwhile to the expected ones.
func (w *world) adopt(present treetest.Model) {
	w.tb.Helper()
	versions, err := w.store.Versions()
	w.must(err)
	for _, v := range versions {
		if _, known := w.holds[v]; !known {
			w.holds[v] = present
			w.export(v)
		}
	}
}

// checkOldOrNew checks that the tree is the old or the new one, or that the interrupted restore
// can be finished or undone.
func (w *world) checkOldOrNew(n int, target, present treetest.Model) {
	w.tb.Helper()
	if _, is := bands.InterruptedRestore(w.store, w.opts.Lineage); !is {
		want, loose := treetest.Restored(target, present)
		got := w.tree.Read()
		diff := treetest.Diff(want, got, loose...)
		if old := treetest.Diff(present, got); old != "" && diff != "" {
			w.tb.Fatalf("no restore was interrupted, but the tree is not as it was:\n%s\nand not restored:\n%s", old, diff)
		}
		return
	}
	if n%2 == 0 {
		w.change("finish", target, present, func(h *bands.Held) (restore.Result, error) {
			return restore.Finish(w.ctx.Context(), h, w.restoreOptions())
		})
	} else {
		w.change("undo of what was stopped", present, present, w.undo)
	}
	if journal, is := bands.InterruptedRestore(w.store, w.opts.Lineage); is {
		w.tb.Fatalf("it is completed, but still: %+v", journal)
	}
}
