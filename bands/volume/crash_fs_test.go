//go:build fs && faults && linux

package volume_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/retention"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/testkit"
	"github.com/seed-3aff656d/entire/internal/testkit/treetest"
)

// The environment variables that tell the child process what to do.
const (
	workVar  = "VOLUME_WORK"
	worldVar = "VOLUME_WORLD"
	kindVar  = "VOLUME_KIND"
)

// operations returns all operations that write to a store.
func operations() map[string]func(dir string, h *bands.Held) error {
	return map[string]func(dir string, h *bands.Held) error{
		"take": func(dir string, h *bands.Held) error {
			_, _, err := volume.Take(h, child(dir), volume.TakeOptions{Options: options(dir), Force: true})
			return err
		},
		"restore": func(dir string, h *bands.Held) error {
			_, err := volume.Restore(h, child(dir), 1, volume.RestoreOptions{Options: options(dir)})
			return err
		},
		"paths": func(dir string, h *bands.Held) error {
			_, err := volume.RestorePaths(context.Background(), h, child(dir), 1, []string{"some"}, volume.RestoreOptions{Options: options(dir)})
			return err
		},
		"delete": func(_ string, h *bands.Held) error { return retention.Delete(h, 1) },
	}
}

// child returns the driver of the child process.
func child(dir string) volume.Driver { return driverOf(os.Getenv(kindVar), dir) }

// TestFSVolumeCrashChild isn't a test: it is the process that is stopped.
func TestFSVolumeCrashChild(t *testing.T) {
	work, dir := operations()[os.Getenv(workVar)], os.Getenv(worldVar)
	if work == nil {
		t.Skip("there is nothing to do")
	}
	store, err := bands.Open(volume.StoreDir(dir, os.Getenv(kindVar), "store"))
	if err != nil {
		t.Fatal(err)
	}
	h, err := store.Hold(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(work(dir, h), h.Release()); err != nil {
		t.Fatal(err)
	}
}

// TestFSVolumeCrash kills the process at each of its steps in turn, then lets each of them and
// all later ones fail as on a full disk. After the next command the volume is the old or the new
// one, every snapshot is intact, and nothing else is left.
func TestFSVolumeCrash(t *testing.T) {
	for driver, kind := range kinds() {
		t.Run(driver, func(t *testing.T) {
			testkit.Hdiutil(t)
			crashes(t, driver, testkit.Mount(t, kind, 3000))
		})
	}
}

func crashes(t *testing.T, driver, dir string) {
	t.Helper()
	for name := range operations() {
		for _, fault := range []string{"crash", "fail"} {
			points := 0
			for n := 1; ; n++ {
				if !runWithFault(t, driver, filepath.Join(dir, fmt.Sprintf("%s-%s-%d", name, fault, n)), name, fmt.Sprintf("%s:%d", fault, n)) {
					break
				}
				points++
			}
			if points < 3 {
				t.Errorf("%s: only %d points", name, points)
			}
			t.Logf("%s %s: %d points", name, fault, points)
		}
	}
}

// runWithFault runs the operation with a fault, and reports whether the fault struck.
func runWithFault(t *testing.T, driver, dir, name, fault string) bool {
	t.Helper()
	w := newWorld(t, driver, dir, 7)
	some := filepath.Join(dir, "tree", "some")
	w.must(os.MkdirAll(filepath.Join(some, "below"), 0o755))
	for _, file := range []string{"gone", "below/changed"} {
		w.must(os.WriteFile(filepath.Join(some, file), []byte("then"), 0o644))
	}
	w.take()
	w.tree.Edit(10)
	w.must(os.Remove(filepath.Join(some, "gone")), os.WriteFile(filepath.Join(some, "below/changed"), []byte("now"), 0o644),
		os.WriteFile(filepath.Join(some, "new"), []byte("now"), 0o644))
	present := w.tree.Read()
	exe, err := os.Executable()
	w.must(err)
	mark := filepath.Join(dir, "mark")
	cmd := exec.Command(exe, "-test.run=^TestFSVolumeCrashChild$")
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, workVar + "=" + name, worldVar + "=" + dir, kindVar + "=" + driver,
		"ENTIRE_FAULT=" + fault, "ENTIRE_FAULT_MARK=" + mark,
	}
	said, runErr := cmd.CombinedOutput()
	line, err := os.ReadFile(mark)
	struck := err == nil
	if !struck && runErr != nil {
		t.Fatalf("nothing was stopped, but: %s", said)
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s, %s: %s\n%s", name, fault, line, said)
		}
	})
	restored := false
	w.hold(func(h *bands.Held) error {
		_, err := w.driver.Thaw(filepath.Join(dir, "tree"))
		w.must(err)
		done, was, err := volume.Recover(h, w.driver)
		restored = was && done.Rescue.Version != 0
		return errors.Join(err, h.Sweep())
	})
	want := present
	if name == "restore" && w.store.Has(2) {
		want = w.holds[1]
	} else if restored && name != "paths" {
		t.Fatal("it is restored, but there is no rescue")
	}
	if name == "paths" {
		w.checkSome(some, fault, want)
	} else {
		w.same("the tree", want, w.tree.Read())
	}
	if name == "delete" {
		if !w.store.Has(1) {
			delete(w.holds, 1)
		}
	} else if w.store.Has(2) {
		w.holds[2] = present
	}
	w.checkSnapshots()
	w.checkNoLeftovers()
	w.take()
	w.tree.Edit(3)
	w.restore(w.versions()[0])
	w.checkSnapshots()
	w.checkNoLeftovers()
	w.close()
	return struck
}

// checkSome checks that the files of the folder some are as before or restored, after a kill all
// of them the same, and that everything else is unchanged.
func (w *world) checkSome(some, fault string, present treetest.Model) {
	w.t.Helper()
	restored := 0
	for file, now := range map[string]string{"gone": "", "below/changed": "now", "new": "now"} {
		data, err := os.ReadFile(filepath.Join(some, file))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			w.t.Fatal(err)
		}
		switch then := map[string]string{"gone": "then", "below/changed": "then"}[file]; string(data) {
		case then:
			restored++
		case now:
		default:
			w.t.Fatalf("%s is %q", file, data)
		}
	}
	if strings.HasPrefix(fault, "crash") && restored > 0 && restored < 3 {
		w.t.Fatalf("%d of 3 are restored", restored)
	}
	others := func(m treetest.Model) treetest.Model {
		m = maps.Clone(m)
		maps.DeleteFunc(m, func(path string, _ treetest.Node) bool {
			return path == "" || path == "some" || strings.HasPrefix(path, "some/")
		})
		return m
	}
	w.same("the rest", others(present), others(w.tree.Read()))
}

// checkNoLeftovers checks that there are no leftovers in the store's folder and no loop devices.
func (w *world) checkNoLeftovers() {
	w.t.Helper()
	entries, err := os.ReadDir(w.store.Dir())
	w.must(err)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || strings.HasPrefix(e.Name(), "restoring") || strings.HasPrefix(e.Name(), "view-") || e.Name() == "freezing" {
			w.t.Fatalf("%s is left", e.Name())
		}
	}
	devices, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	w.must(err)
	for _, path := range devices {
		file, err := os.ReadFile(path)
		ours := func(name string) bool { return strings.HasPrefix(string(file), w.store.Path(name)) }
		if err == nil && ours("") && !ours("image") && !ours("store.sparsebundle") && !ours("restoring") {
			w.t.Fatalf("a loop device is left: %s: %s", path, file)
		}
	}
}
