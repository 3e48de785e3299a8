//go:build fs && linux

package bands_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/capture"
	"github.com/seed-3aff656d/entire/bands/restore"
	"github.com/seed-3aff656d/entire/bands/verify"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// TestFSPowerLoss checks that all of an acknowledged snapshot is on the disk, including data
// that an earlier, failed snapshot appended but didn't sync.
func TestFSPowerLoss(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{testkit.Ext4, testkit.XFS, testkit.Btrfs} {
		for name, before := range map[string]func(w *world){
			"ordinary": func(*world) {},
			"after one that failed": func(w *world) {
				for i := range 6 {
					w.must(os.WriteFile(filepath.Join(w.tree.Root, string(rune('a'+i))), []byte(noise(3<<20 + i)[i:]), 0o644))
				}
				err := w.try(func(h *bands.Held) error {
					_, err := capture.Take(w.ctx.Context(), h, capture.TakeOptions{Options: w.opts, Cause: bands.Auto, MostBytes: 16 << 20})
					return err
				})
				if !errors.Is(err, bands.ErrTooMuch) {
					w.tb.Fatalf("it did not fail: %v", err)
				}
			},
		} {
			t.Run(kind+" "+name, func(t *testing.T) {
				t.Parallel()
				powerLoss(t, kind, before)
			})
		}
	}
}

// powerLoss copies the disk right after a snapshot, as a power loss would leave
// it, and reads the snapshot from the copy.
func powerLoss(t *testing.T, kind string, before func(w *world)) {
	t.Helper()
	dir := t.TempDir()
	image, mounted := filepath.Join(dir, "image"), filepath.Join(dir, "mounted")
	testkit.MakeImage(t, kind, 300, image)
	testkit.MountImage(t, kind, image, mounted)
	w := newWorld(t, t, filepath.Join(mounted, "w"), treetest.Seeded(4))
	w.tree.Plain = true
	w.tree.Plant(30)
	w.take(capture.TakeOptions{})
	w.must(os.WriteFile(filepath.Join(w.tree.Root, "large"), []byte(noise(9<<20)), 0o644))
	before(w)
	w.must(os.WriteFile(filepath.Join(w.tree.Root, "small"), []byte("small"), 0o644))
	want := w.tree.Read()
	w.take(capture.TakeOptions{})

	lost := filepath.Join(dir, "lost")
	w.must(exec.Command("cp", "--sparse=always", image, lost).Run())
	// Two file systems with the same UUID can't be mounted at the same time.
	w.must(exec.Command("umount", mounted).Run())
	testkit.MountImage(t, kind, lost, mounted)
	w.reopen()
	damage, err := verify.Run(t.Context(), w.store, 0, nil)
	if err != nil || !damage.OK() {
		t.Errorf("%+v, %v", damage, err)
	}
	snapshot, err := w.store.Snapshot(2)
	w.must(err)
	out := filepath.Join(dir, "out")
	done, err := restore.Export(t.Context(), w.store, snapshot, out, restore.ExportOptions{})
	if err != nil || len(done.Failed) > 0 {
		t.Errorf("%v, %v", done.Failed, err)
	}
	if diff := treetest.Diff(want, treetest.Read(t, out)); diff != "" {
		t.Error(diff)
	}
}
