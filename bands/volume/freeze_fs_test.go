//go:build fs && faults && linux

package volume_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed-3aff656d/entire/bands"
	"github.com/seed-3aff656d/entire/bands/volume"
	"github.com/seed-3aff656d/entire/internal/loopfs"
	"github.com/seed-3aff656d/entire/internal/testkit"
)

// TestFSVolumeThawed kills a process while it has the volume frozen: writers block no longer
// than the guard needs to notice, without any command.
func TestFSVolumeThawed(t *testing.T) {
	w := newWorld(t, "image", testkit.Mount(t, testkit.XFS, 400), 1)
	mark := filepath.Join(w.dir, "mark")
	n := w.stepOf("take", "clone") // the volume is frozen at this step
	_ = w.child("take", "ENTIRE_FAULT=crash:"+n, "ENTIRE_FAULT_MARK="+mark).Run()
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

// child returns a command that runs this test binary to do the work in the world.
func (w *world) child(work string, env ...string) *exec.Cmd {
	w.t.Helper()
	exe, err := os.Executable()
	w.must(err)
	cmd := exec.Command(exe, "-test.run=^TestFSVolumeCrashChild$")
	cmd.Env = append(env, "PATH="+os.Getenv("PATH"), "HOME="+w.dir, workVar+"="+work, worldVar+"="+w.dir, kindVar+"="+w.driver.Name())
	return cmd
}

// stepOf does the work and returns the number of its last step with the name op.
func (w *world) stepOf(work, op string) string {
	w.t.Helper()
	log := filepath.Join(w.dir, "log")
	if out, err := w.child(work, "ENTIRE_FAULT_LOG="+log).CombinedOutput(); err != nil {
		w.t.Fatalf("%v: %s", err, out)
	}
	lines, err := os.ReadFile(log)
	w.must(err)
	n := ""
	for line := range strings.Lines(string(lines)) {
		if fields := strings.Fields(line); fields[2] == op {
			n = fields[1]
		}
	}
	if n == "" {
		w.t.Fatalf("no step %s: %s", op, lines)
	}
	return n
}

// TestFSVolumeSuspended stops a process while it has the volume frozen, as a suspended computer
// may. Others can write once the guard has thawed it, and no snapshot has some of these writes.
func TestFSVolumeSuspended(t *testing.T) {
	w := newWorld(t, "image", testkit.Mount(t, testkit.XFS, 400), 6)
	n := w.stepOf("take", "clone")
	w.holds[1] = w.tree.Read()
	mark := filepath.Join(w.dir, "mark")
	suspended := w.child("take", "ENTIRE_FAULT=stop:"+n, "ENTIRE_FAULT_MARK="+mark)
	w.must(suspended.Start())
	for _, err := os.Stat(mark); err != nil; _, err = os.Stat(mark) {
		time.Sleep(time.Millisecond)
	}
	w.must(os.WriteFile(filepath.Join(w.dir, "tree", "later"), []byte("x"), 0o644)) // blocks at first
	w.must(suspended.Process.Signal(syscall.SIGCONT))
	if err := suspended.Wait(); err == nil {
		t.Error("a snapshot was taken of what others could write to")
	}
	w.hold(func(h *bands.Held) error {
		_, err := w.driver.Thaw(filepath.Join(w.dir, "tree"))
		return errors.Join(err, h.Sweep())
	})
	w.checkSnapshots()
	w.checkNoLeftovers()
	w.take()
	w.checkSnapshots()
}

// TestFSVolumeGuardOfKilledProcess checks that the guard of a snapshot whose process was killed
// doesn't thaw a later snapshot.
func TestFSVolumeGuardOfKilledProcess(t *testing.T) {
	w := newWorld(t, "image", testkit.Mount(t, testkit.XFS, 400), 4)
	n := w.stepOf("take", "clone")
	w.holds[1] = w.tree.Read()
	w.holds[2] = w.holds[1]
	frozen := func(name string) *exec.Cmd {
		mark := filepath.Join(w.dir, name)
		cmd := w.child("take", "ENTIRE_FAULT=stop:"+n, "ENTIRE_FAULT_MARK="+mark)
		w.must(cmd.Start())
		for _, err := os.Stat(mark); err != nil; _, err = os.Stat(mark) {
			time.Sleep(time.Millisecond)
		}
		return cmd
	}
	killed := frozen("killed")
	var guard int // the only child
	threads, err := filepath.Glob("/proc/" + strconv.Itoa(killed.Process.Pid) + "/task/*/children")
	w.must(err)
	for _, file := range threads {
		if children, err := os.ReadFile(file); err == nil && len(children) > 0 {
			guard, err = strconv.Atoi(strings.TrimSpace(string(children)))
			w.must(err)
		}
	}
	if guard == 0 {
		t.Fatal("there is no guard")
	}
	w.must(syscall.Kill(guard, syscall.SIGSTOP), killed.Process.Kill())
	_ = killed.Wait()
	w.hold(func(h *bands.Held) error {
		_, err := w.driver.Thaw(filepath.Join(w.dir, "tree"))
		return errors.Join(err, h.Sweep())
	})

	later := frozen("later")
	w.must(syscall.Kill(guard, syscall.SIGCONT))
	for { // until the guard has ended
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(guard) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			break
		}
		time.Sleep(time.Millisecond)
	}
	w.must(later.Process.Signal(syscall.SIGCONT), later.Wait())
	w.checkSnapshots()
	w.checkNoLeftovers()
}

// TestFSVolumeImageManyFiles checks that a restore of a volume with many files leaves nothing
// mounted, although the former volume is removed later, and that the rescue has all files.
func TestFSVolumeImageManyFiles(t *testing.T) {
	const files, perFolder = 50_200, 502
	w := newWorld(t, "image", testkit.Mount(t, testkit.XFS, 1500), 8)
	root := filepath.Join(w.dir, "tree")
	w.must(w.driver.Close(root, false), os.Remove(w.store.Path("image")))
	w.driver = volume.Image{Store: w.store.Dir(), Size: 1 << 30}
	w.must(w.driver.Create(root))
	for i := range files {
		dir := filepath.Join(root, strconv.Itoa(i/perFolder))
		if i%perFolder == 0 {
			w.must(os.Mkdir(dir, 0o755))
		}
		w.must(os.WriteFile(filepath.Join(dir, strconv.Itoa(i)), nil, 0o644))
	}
	v := w.take()
	w.must(os.WriteFile(filepath.Join(root, "later"), []byte("x"), 0o644))
	w.restore(v)
	w.checkSnapshots()
	w.must(w.driver.Close(root, false))
	const most = 30 * time.Second
	for end := time.Now().Add(most); ; time.Sleep(100 * time.Millisecond) {
		if left, err := filepath.Glob("/sys/block/loop*/loop/backing_file"); err == nil && !slices.ContainsFunc(left, w.isOurs) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("a loop device is left")
		}
	}
	w.checkNoLeftovers()
}

// isOurs reports whether a loop device is backed by a file of the store. The file at path
// contains the name of the backing file.
func (w *world) isOurs(path string) bool {
	file, err := os.ReadFile(path)
	return err == nil && strings.HasPrefix(string(file), w.store.Dir())
}

// TestFSVolumeThawedByNextCommand checks that the next command thaws a volume that both the
// process and its guard left frozen.
func TestFSVolumeThawedByNextCommand(t *testing.T) {
	w := newWorld(t, "image", testkit.Mount(t, testkit.XFS, 400), 2)
	root := filepath.Join(w.dir, "tree")
	w.must(os.WriteFile(w.store.Path("freezing"), nil, 0o600), loopfs.Freeze(root))
	thawed, err := w.driver.Thaw(root)
	again := loopfs.Thaw(root)
	if !thawed || err != nil || !errors.Is(again, loopfs.ErrNotFrozen) {
		t.Fatalf("%v, %v, %v", thawed, err, again)
	}
	w.take()
	w.checkSnapshots()
}

// TestFSVolumeImageInUse checks that a restore of an image works while a process has a file
// open: its rescue has the data written until then.
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
	w.checkSnapshots()
	w.checkNoLeftovers()
}

// TestFSVolumeImageFull checks that a snapshot is refused if the disk has no room for the data
// that the volume may still get, and that a full image does no harm.
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
	w.checkSnapshots()
}

// TestFSVolumeImageRefuses checks which volumes can't be taken, restored, closed or opened.
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
	w.checkSnapshots()
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
