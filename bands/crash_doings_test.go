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
	"github.com/seed-3aff656d/entire/bands/erase"
	"github.com/seed-3aff656d/entire/bands/history"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/bands/verify"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// doings are all that writes.
func doings() []doing {
	return []doing{
		{name: "first snapshot", prepare: planted, do: take, after: afterTake},
		{name: "snapshot", prepare: changed, do: take, after: afterTake},
		{name: "snapshot of large files", prepare: large, do: take, after: afterTake},
		{name: "restore", prepare: changed, do: restoreFirst, after: afterRestore},
		{name: "restore of large files", prepare: large, do: restoreFirst, after: afterRestore},
		{name: "undo", prepare: restored, do: undo, after: afterUndo},
		{name: "finish of what was stopped", prepare: stoppedRestore, do: finish, after: afterFinish, step: 3},
		{name: "delete", prepare: several, do: deleteSecond, after: afterDelete},
		{name: "prune", prepare: several, do: prune, after: afterPrune},
		{name: "compact", prepare: deleted, do: compact, after: afterTake},
		{name: "pair", prepare: changed, do: pair, after: afterTake},
		{name: "forget", prepare: forgettable, do: forgetText, after: afterForget, step: 2},
		{name: "sweep", prepare: littered, do: sweep, after: afterTake},
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

// restored checks a tree after a restore.
func restored(w *world) {
	changed(w)
	w.restore(1)
}

// several has automatic snapshots.
func several(w *world) {
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

// deleted has bands of which much is dead.
func deleted(w *world) {
	several(w)
	for v := range bands.Version(3) {
		w.delete(v + 1)
	}
}

// littered has what killed runs leave.
func littered(w *world) {
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
	if _, is := history.Interrupted(w.store, w.opts.Lineage); !is {
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

// forgettable has a text in a file of two snapshots.
func forgettable(w *world) {
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
	return erase.Run(w.ctx.Context(), h, textual("walrus-4711"))
}

// afterForget: every snapshot can be read, and forgetting once more takes out what
// is left.
func afterForget(_ *testing.T, w *world, _ int, present treetest.Model) {
	w.unchanged(present)
	damage, err := verify.Run(w.ctx.Context(), w.store, 0, nil)
	w.must(err)
	if !damage.OK() {
		w.tb.Fatalf("damaged: %+v", damage)
	}
	w.hold(func(h *bands.Held) error { return forgetText(w, h) })
	found, bad, err := erase.Find(w.ctx.Context(), w.store, textual("walrus-4711"))
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

// afterTake: a snapshot that wasn't completed is none; nothing else is touched.
func afterTake(_ *testing.T, w *world, _ int, present treetest.Model) {
	w.unchanged(present)
	w.whole()
	if _, is := history.Interrupted(w.store, w.opts.Lineage); is {
		w.tb.Fatalf("a restore was interrupted, but there was none")
	}
	w.adopt(present)
	w.goesOn()
}

// afterRestore: the tree is the old or the new one, or the store knows the way
// to either.
func afterRestore(t *testing.T, w *world, n int, present treetest.Model) {
	t.Helper()
	w.whole()
	w.adopt(present)
	w.eitherWay(n, w.holds[1], present)
	w.goesOn()
}

// afterUndo is afterRestore where the target is the rescue.
func afterUndo(t *testing.T, w *world, n int, present treetest.Model) {
	t.Helper()
	w.whole()
	w.adopt(present)
	w.eitherWay(n, w.holds[2], present)
	w.goesOn()
}

// stoppedRestore checks a tree after a restore that was killed when it had begun.
func stoppedRestore(w *world) {
	t, ok := w.tb.(*testing.T)
	if !ok {
		w.tb.Fatalf("it needs a test")
	}
	changed(w)
	before := w.tree.Read()
	for n := 10; ; n += 7 {
		doing{name: "restore"}.child(t, w, "crash:"+strconv.Itoa(n), w.dir+"/mark"+strconv.Itoa(n))
		if _, is := history.Interrupted(w.store, w.opts.Lineage); is {
			break
		}
		if n > 2000 {
			t.Fatal("no restore was stopped when it had begun")
		}
	}
	w.adopt(before)
}

// afterFinish: a restore that was stopped twice can be finished or taken back.
func afterFinish(t *testing.T, w *world, n int, _ treetest.Model) {
	t.Helper()
	w.whole()
	before := w.holds[w.versions()[1]] // as the first rescue has it
	w.eitherWay(n, w.holds[1], before)
	w.goesOn()
}

// afterDelete: the snapshot is there and whole, or gone; the others are.
func afterDelete(t *testing.T, w *world, _ int, present treetest.Model) {
	t.Helper()
	w.gone(2)
	afterTake(t, w, 0, present)
}

// gone forgets those of the versions that aren't there any more.
func (w *world) gone(versions ...bands.Version) {
	w.tb.Helper()
	for _, v := range versions {
		if _, err := w.store.Snapshot(v); errors.Is(err, bands.ErrNoSnapshot) {
			delete(w.holds, v)
		}
	}
}

// afterPrune: automatic ones but the last may be gone.
func afterPrune(t *testing.T, w *world, _ int, present treetest.Model) {
	t.Helper()
	w.gone(1, 2, 3)
	afterTake(t, w, 0, present)
}
