//go:build fs && faults && linux

package volume_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/loopfs"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestFSVolumeThawed kills a process while it has the volume frozen: who writes waits no
// longer than the guard needs to notice, without any command.
func TestFSVolumeThawed(t *testing.T) {
	w := newWorld(t, "image", testkit.Mount(t, testkit.XFS, 400), 1)
	exe, err := os.Executable()
	w.must(err)
	mark := filepath.Join(w.dir, "mark")
	n := ""
	for _, step := range []string{"log", "kill"} {
		cmd := exec.Command(exe, "-test.run=^TestFSVolumeCrashChild$")
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), workVar + "=take", worldVar + "=" + w.dir, kindVar + "=image"}
		log := filepath.Join(w.dir, "log")
		if step == "log" {
			cmd.Env = append(cmd.Env, "ENTIRE_FAULT_LOG="+log)
		} else {
			cmd.Env = append(cmd.Env, "ENTIRE_FAULT=crash:"+n, "ENTIRE_FAULT_MARK="+mark)
		}
		out, err := cmd.CombinedOutput()
		if step == "kill" {
			break
		}
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		lines, err := os.ReadFile(log)
		w.must(err)
		for line := range strings.Lines(string(lines)) {
			if fields := strings.Fields(line); fields[2] == "clone" { // frozen then
				n = fields[1]
			}
		}
		if n == "" {
			t.Fatalf("nothing was cloned: %s", lines)
		}
	}
	if line, err := os.ReadFile(mark); !strings.Contains(string(line), " clone ") {
		t.Fatalf("killed at %q, %v", line, err)
	}
	wrote := make(chan error, 1)
	go func() { wrote <- os.WriteFile(filepath.Join(w.dir, "tree", "later"), []byte("x"), 0o644) }()
	select {
	case err := <-wrote:
		w.must(err)
	case <-time.After(time.Minute):
		w.must(loopfs.Thaw(filepath.Join(w.dir, "tree")))
		t.Fatal("it stayed frozen")
	}
	if !volume.Interrupted(w.store) {
		t.Error("the next command wouldn't notice")
	}
	thawed, err := w.driver.Thaw(filepath.Join(w.dir, "tree"))
	if !thawed || err != nil || volume.Interrupted(w.store) {
		t.Errorf("thawed %v, %v", thawed, err)
	}
	w.hold(func(h *bands.Held) error { return h.Sweep() })
}

// TestFSVolumeThawedByTheNext checks that the next command thaws what both the process and
// its guard left frozen.
func TestFSVolumeThawedByTheNext(t *testing.T) {
	w := newWorld(t, "image", testkit.Mount(t, testkit.XFS, 400), 2)
	root := filepath.Join(w.dir, "tree")
	w.must(os.WriteFile(w.store.Path("freezing"), nil, 0o600), loopfs.Freeze(root))
	thawed, err := w.driver.Thaw(root)
	again := loopfs.Thaw(root)
	if !thawed || err != nil || !errors.Is(again, loopfs.ErrNotFrozen) {
		t.Fatalf("%v, %v, %v", thawed, err, again)
	}
	w.take()
	w.whole()
}

// TestFSVolumeImageInUse checks that a restore of an image goes on while a process has a
// file open: its snapshot of before has what was written until then.
func TestFSVolumeImageInUse(t *testing.T) {
	w := newWorld(t, "image", testkit.Mount(t, testkit.XFS, 500), 3)
	v := w.take()
	open, err := os.Create(filepath.Join(w.dir, "tree", "open"))
	w.must(err)
	_, err = open.WriteString("until then")
	w.must(err)
	w.restore(v)
	if _, err := os.Lstat(open.Name()); err == nil {
		t.Error("a later file is still there")
	}
	_, err = open.WriteString(", later")
	w.must(err, open.Close())
	w.whole()
	w.clean()
}

// TestFSVolumeImageFull checks that a snapshot is refused while the disk has no room for what
// the volume may still take, and that a full image is no harm.
func TestFSVolumeImageFull(t *testing.T) {
	w := newWorld(t, "image", testkit.Mount(t, testkit.XFS, 400), 4)
	o := options(w.dir)
	o.Floor = 1 << 40
	w.hold(func(h *bands.Held) error {
		_, _, err := volume.Take(h, w.driver, volume.TakeOptions{Options: o})
		if !errors.Is(err, bands.ErrNoRoom) {
			t.Errorf("below the floor: %v", err)
		}
		room, err := w.driver.Room()
		if err != nil || room.Unwritten() < 32<<20 {
			t.Errorf("room: %v, %v", room, err)
		}
		return nil
	})
	v := w.take()
	full := filepath.Join(w.dir, "tree", "full")
	if err := exec.Command("dd", "if=/dev/zero", "of="+full, "bs=1M").Run(); err == nil {
		t.Fatal("it isn't full")
	}
	w.take()
	w.restore(v)
	w.whole()
}

// TestFSVolumeImageRefuses checks what can't be made, opened or replaced.
func TestFSVolumeImageRefuses(t *testing.T) {
	w := newWorld(t, "image", testkit.Mount(t, testkit.XFS, 400), 5)
	v := w.take()
	root := filepath.Join(w.dir, "tree")
	refused := func(what string, want error) {
		t.Helper()
		w.hold(func(h *bands.Held) error {
			_, _, err := volume.Take(h, w.driver, volume.TakeOptions{Options: options(w.dir), Force: true})
			_, err2 := volume.Restore(h, w.driver, v, volume.RestoreOptions{Options: options(w.dir)})
			if !errors.Is(err, want) || !errors.Is(err2, want) {
				t.Errorf("%s: %v, %v", what, err, err2)
			}
			return nil
		})
	}
	busy, err := os.Open(root)
	w.must(err)
	if err := w.driver.Close(root, false); !errors.Is(err, volume.ErrInUse) {
		t.Errorf("closed while it is in use: %v", err)
	}
	w.must(busy.Close(), w.driver.Close(root, false))
	refused("closed", volume.ErrNotOpen)
	testkit.Bind(t, t.TempDir(), root)
	refused("a foreign mount", volume.ErrNotVolume)
	if err := w.driver.Open(root); !errors.Is(err, volume.ErrInUse) {
		t.Errorf("opened over a foreign mount: %v", err)
	}
	w.must(exec.Command("umount", root).Run(), w.driver.Open(root), w.driver.Open(root))
	w.whole()
	mounted := filepath.Join(root, "mnt")
	w.must(os.Mkdir(mounted, 0o755))
	testkit.Bind(t, t.TempDir(), mounted)
	refused("something mounted in it", volume.ErrInUse)
	w.must(exec.Command("umount", mounted).Run())
	other := testkit.Mount(t, testkit.Ext4, 64)
	if err := w.driver.Missing(filepath.Join(other, "a"), filepath.Join(other, "c")); err == nil {
		t.Error("it works without reflinks")
	}
	if err := w.driver.Missing(filepath.Join(other, "a"), w.dir); err != nil {
		t.Errorf("a folder on another file system: %v", err)
	}
}
