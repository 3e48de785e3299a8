//go:build fs && linux

package bands_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/band"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/verify"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// fill leaves about free bytes of a file system free.
func fill(t *testing.T, dir string, free int64) {
	t.Helper()
	script := fmt.Sprintf(`
dd if=/dev/zero of=fill bs=64k 2>/dev/null
sync fill
dd if=/dev/zero of=fill.rest bs=512 2>/dev/null
sync fill.rest
truncate -s -%d fill
sync fill
true`, free)
	cmd := exec.Command("/bin/sh", "-c", script)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("fill: %v\n%s", err, out)
	}
}

func drain(t *testing.T, dir string) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(filepath.Join(dir, "fill")), os.RemoveAll(filepath.Join(dir, "fill.rest"))); err != nil {
		t.Fatal(err)
	}
	_ = exec.Command("sync", dir).Run()
}

// TestFSFull leaves so little space that a snapshot or a restore may fail at some point. Nothing
// is lost, and with space again everything works.
func TestFSFull(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{testkit.Ext4, testkit.XFS, testkit.Btrfs} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := testkit.Mount(t, kind, 64)
			for i, free := range []int64{0, 64 << 10, 256 << 10, 512 << 10, 1 << 20, 2 << 20} {
				w := newWorld(t, t, filepath.Join(dir, strconv.Itoa(i)), treetest.Seeded(uint64(i)))
				w.out = t.TempDir()
				w.fullStory(t, dir, free)
				w.remove()
			}
		})
	}
}

func (w *world) fullStory(t *testing.T, dir string, free int64) {
	t.Helper()
	w.tree.Plant(40)
	w.take(capture.TakeOptions{})
	w.tree.Edit(30)
	for i := range 40 { // for the restore to remove
		w.must(os.WriteFile(filepath.Join(w.tree.Root, fmt.Sprintf("more-%d", i)), []byte(strconv.Itoa(i)), 0o644))
	}
	w.take(capture.TakeOptions{})
	w.tree.Edit(10)
	present := w.tree.Read()

	fill(t, dir, free)
	errTake := w.try(func(h *bands.Held) error { return take(w, h) })
	w.reopen()
	w.unchanged(present)
	w.checkSnapshots()
	w.adopt(present)
	errRestore := w.try(func(h *bands.Held) error { return restoreFirst(w, h) })
	if free == 0 && (errTake == nil || errRestore == nil) {
		t.Errorf("nothing is free, but: %v, %v", errTake, errRestore)
	}
	drain(t, dir)

	w.reopen()
	w.checkSnapshots()
	w.adopt(present)
	w.checkOldOrNew(int(free>>16), w.holds[1], present)
	w.checkUsable()
}

// TestFSFullRewind checks that without space for a rescue of everything, the files that the
// restore overwrites are rescued, and the others are left out.
func TestFSFullRewind(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{testkit.Ext4, testkit.XFS, testkit.Btrfs} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			dir := testkit.Mount(t, kind, 128)
			w := newWorld(t, t, filepath.Join(dir, "w"), treetest.Seeded(2))
			work, log := filepath.Join(w.tree.Root, "work"), filepath.Join(w.tree.Root, "log")
			w.must(os.WriteFile(work, []byte("one"), 0o644))
			v := w.take(capture.TakeOptions{}).Snapshot.Version
			w.must(os.WriteFile(work, []byte("two"), 0o644))
			for i := range 8 { // each a record: no file system clones them
				w.must(os.WriteFile(log+strconv.Itoa(i), []byte(noise(2<<20 + i)[i:]), 0o644))
			}
			fill(t, dir, 4<<20)
			o := w.restoreOptions()
			o.Delete = func(string, band.Entry) bool { return false }
			var done restore.Result
			w.hold(func(h *bands.Held) (err error) {
				done, err = restore.Run(t.Context(), h, v, o)
				return err
			})
			if data, err := os.ReadFile(work); err != nil || string(data) != "one" {
				t.Errorf("%q, %v", data, err)
			}
			w.hold(func(h *bands.Held) error {
				_, err := restore.Run(t.Context(), h, done.Rescue.Version, o)
				return err
			})
			if data, err := os.ReadFile(work); err != nil || string(data) != "two" {
				t.Errorf("back: %q, %v", data, err)
			}
			if info, err := os.Stat(log + "7"); err != nil || info.Size() != 2<<20 {
				t.Errorf("the log: %v, %v", info, err)
			}
		})
	}
}

// try runs an operation that may fail for lack of space.
func (w *world) try(do func(h *bands.Held) error) error {
	w.tb.Helper()
	h, err := w.store.Hold(w.ctx.Context())
	if err != nil {
		return err
	}
	return errors.Join(do(h), h.Release())
}

// TestFSReadOnlyStore checks that a store on a read-only file system can be read.
func TestFSReadOnlyStore(t *testing.T) {
	t.Parallel()
	dir := testkit.Mount(t, testkit.Ext4, 64)
	w := newWorld(t, t, filepath.Join(dir, "w"), treetest.Seeded(9))
	w.tree.Plain = true
	w.tree.Plant(20)
	v := w.take(capture.TakeOptions{}).Snapshot
	if out, err := exec.Command("mount", "-o", "remount,ro", dir).CombinedOutput(); err != nil {
		t.Skipf("can't be mounted read-only: %s", out)
	}
	w.reopen()
	snapshots, err := w.store.Snapshots()
	if err != nil || len(snapshots) != 1 {
		t.Fatalf("%v, %v", snapshots, err)
	}
	damage, err := verify.Run(t.Context(), w.store, 0, nil)
	if err != nil || !damage.OK() {
		t.Errorf("%+v, %v", damage, err)
	}
	present, err := capture.Scan(t.Context(), w.store, w.opts)
	if err != nil {
		t.Fatal(err)
	}
	planned, err := restore.NewPlan(t.Context(), w.store, present, v, restore.Scope{})
	if err := errors.Join(err, present.Close()); err != nil || !planned.Empty() {
		t.Errorf("%q, %v", steps(planned), err)
	}
	if err := w.try(func(h *bands.Held) error { return take(w, h) }); err == nil {
		t.Error("a snapshot was taken")
	}
}
