//go:build faults && (linux || darwin)

package bands_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/bands/verify"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// operations returns all operations that write to a store.
func operations() []operation {
	return []operation{
		{name: "first snapshot", prepare: planted, do: take, after: afterTake},
		{name: "snapshot", prepare: changed, do: take, after: afterTake},
		{name: "snapshot of large files", prepare: large, do: take, after: afterTake},
		{name: "restore", prepare: changed, do: restoreFirst, after: afterRestore},
		{name: "restore of large files", prepare: large, do: restoreFirst, after: afterRestore},
		{name: "undo", prepare: restored, do: undo, after: afterUndo},
		{name: "finish of what was stopped", prepare: interruptedRestore, do: finish, after: afterFinish, step: 3},
		{name: "delete", prepare: withAutomatic, do: deleteSecond, after: afterDelete},
		{name: "prune", prepare: withAutomatic, do: prune, after: afterPrune},
		{name: "compact", prepare: withDeadRecords, do: compact, after: afterTake},
		{name: "pair", prepare: changed, do: pair, after: afterTake},
		{name: "forget", prepare: withText, do: forgetText, after: afterForget, step: 2},
		{name: "sweep", prepare: withLeftovers, do: sweep, after: afterTake},
	}
}

func planted(w *world) { w.tree.Plant(25) }

func changed(w *world) {
	planted(w)
	w.take(capture.TakeOptions{})
	w.tree.Edit(15)
}

func large(w *world) {
	w.tree.Large = true
	changed(w)
}

// restored prepares a tree after a restore.
func restored(w *world) {
	changed(w)
	w.restore(1)
}

// withAutomatic prepares several automatic snapshots.
func withAutomatic(w *world) {
	planted(w)
	for i := range 4 {
		data := make([]byte, 200_000)
		for at := range data {
			data[at] = byte(at * at * (i + 3) >> (at % 7))
		}
		bulk := filepath.Join(w.tree.Root, "bulk")
		w.must(errors.Join(os.RemoveAll(bulk), os.WriteFile(bulk, data, 0o644)))
		w.take(capture.TakeOptions{Cause: bands.Auto})
		w.tree.Edit(8)
	}
}

// withDeadRecords prepares bands with many dead records.
func withDeadRecords(w *world) {
	withAutomatic(w)
	for v := range bands.Version(3) {
		w.delete(v + 1)
	}
}

// withLeftovers prepares the leftovers of killed runs.
func withLeftovers(w *world) {
	changed(w)
	for _, name := range []string{".tmp-v9", ".deleted-v7-0123456789"} {
		dir := filepath.Join(w.store.Dir(), name)
		w.must(errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(filepath.Join(dir, "0"), nil, 0o600)))
	}
}

func undo(w *world, h *bands.Held) error {
	_, err := w.undo(h)
	return incomplete(err)
}

func finish(w *world, h *bands.Held) error {
	if _, is := bands.InterruptedRestore(w.store, w.opts.Lineage); !is {
		return nil
	}
	_, err := restore.Finish(w.ctx.Context(), h, w.restoreOptions())
	return incomplete(err)
}

func deleteSecond(_ *world, h *bands.Held) error { return retention.Delete(h, 2) }

func prune(w *world, h *bands.Held) error {
	_, err := retention.Prune(w.ctx.Context(), h, policy())
	return err
}

func compact(w *world, h *bands.Held) error {
	_, err := retention.Compact(w.ctx.Context(), h)
	return err
}

func pair(_ *world, h *bands.Held) error {
	return h.AddPair(1, bands.Pair{Checkpoint: "0123456789ab", Commit: "0123456789012345678901234567890123456789"})
}

// withText prepares two snapshots of a file with the text.
func withText(w *world) {
	planted(w)
	secret := filepath.Join(w.tree.Root, "secret")
	for range 2 {
		w.must(os.WriteFile(secret, []byte("the key is walrus-4711"), 0o644))
		w.take(capture.TakeOptions{})
		w.must(os.Remove(secret))
		w.tree.Edit(15)
	}
}

func forgetText(w *world, h *bands.Held) error {
	return retention.Erase(w.ctx.Context(), h, textRequest("walrus-4711"))
}

// afterForget checks that every snapshot can be read, and that forgetting the text once more
// removes the rest of it.
func afterForget(_ *testing.T, w *world, _ int, present treetest.Model) {
	w.unchanged(present)
	damage, err := verify.Run(w.ctx.Context(), w.store, 0, nil)
	w.must(err)
	if !damage.OK() {
		w.tb.Fatalf("damaged: %+v", damage)
	}
	w.hold(func(h *bands.Held) error { return forgetText(w, h) })
	found, bad, err := retention.FindForgotten(w.ctx.Context(), w.store, textRequest("walrus-4711"))
	w.must(errors.Join(bad, err))
	if len(found) > 0 {
		w.tb.Fatalf("still there: %+v", found)
	}
	err = filepath.WalkDir(w.store.Dir(), func(path string, e os.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "walrus-4711") {
			w.tb.Fatalf("%s has the text", path)
		}
		return err
	})
	w.must(err)
	for v := range w.holds {
		delete(w.holds[v], "secret")
		w.export(v)
	}
	w.take(capture.TakeOptions{})
	w.export(w.last)
}

func sweep(_ *world, h *bands.Held) error { return h.Sweep() }

// afterTake checks that the tree, the former snapshots and a new one are intact.
func afterTake(_ *testing.T, w *world, _ int, present treetest.Model) {
	w.unchanged(present)
	w.checkSnapshots()
	if _, is := bands.InterruptedRestore(w.store, w.opts.Lineage); is {
		w.tb.Fatalf("a restore was interrupted, but there was none")
	}
	w.adopt(present)
	w.checkUsable()
}

// afterRestore checks that the tree is the old or the new one, or that the interrupted restore
// can be finished or undone.
func afterRestore(t *testing.T, w *world, n int, present treetest.Model) {
	t.Helper()
	w.checkSnapshots()
	w.adopt(present)
	w.checkOldOrNew(n, w.holds[1], present)
	w.checkUsable()
}

// afterUndo is afterRestore with the rescue snapshot as the target.
func afterUndo(t *testing.T, w *world, n int, present treetest.Model) {
	t.Helper()
	w.checkSnapshots()
	w.adopt(present)
	w.checkOldOrNew(n, w.holds[2], present)
	w.checkUsable()
}

// interruptedRestore prepares a tree with a restore that was killed in the middle.
func interruptedRestore(w *world) {
	t, ok := w.tb.(*testing.T)
	if !ok {
		w.tb.Fatalf("it needs a test")
	}
	changed(w)
	before := w.tree.Read()
	for n := 10; ; n += 7 {
		operation{name: "restore"}.child(t, w, "crash:"+strconv.Itoa(n), w.dir+"/mark"+strconv.Itoa(n))
		if _, is := bands.InterruptedRestore(w.store, w.opts.Lineage); is {
			break
		}
		if n > 2000 {
			t.Fatal("no restore was stopped when it had begun")
		}
	}
	w.adopt(before)
}

// afterFinish checks that a restore that was stopped twice can be finished or undone.
func afterFinish(t *testing.T, w *world, n int, _ treetest.Model) {
	t.Helper()
	w.checkSnapshots()
	before := w.holds[w.versions()[1]] // as in the first rescue
	w.checkOldOrNew(n, w.holds[1], before)
	w.checkUsable()
}

// afterDelete checks that v2 is intact or deleted, and that the others are intact.
func afterDelete(t *testing.T, w *world, _ int, present treetest.Model) {
	t.Helper()
	w.dropMissing(2)
	afterTake(t, w, 0, present)
}

// dropMissing removes those of the versions that no longer exist from w.holds.
func (w *world) dropMissing(versions ...bands.Version) {
	w.tb.Helper()
	for _, v := range versions {
		if _, err := w.store.Snapshot(v); errors.Is(err, bands.ErrNoSnapshot) {
			delete(w.holds, v)
		}
	}
}

// afterPrune is afterTake, but automatic snapshots except the last may be deleted.
func afterPrune(t *testing.T, w *world, _ int, present treetest.Model) {
	t.Helper()
	w.dropMissing(1, 2, 3)
	afterTake(t, w, 0, present)
}
